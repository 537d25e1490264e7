"""Your own agents, no model asked: posteriors and an anchor in, the decisions of every aggregator out."""

# %%
import numpy as np

import crosspath

labels = ["bug", "feature request", "question"]

# %% Three agents about two issues, as [cases, agents, labels]; what they were prompted with is your business.
forward_NKL = np.array(
    [
        [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.3, 0.6, 0.1]],
        [[0.1, 0.8, 0.1], [0.2, 0.7, 0.1], [0.0, 0.0, 0.0]],  # the third agent gave no answer here
    ]
)
usable_NK = forward_NKL.any(axis=-1)

# %% An anchor is any distribution that was reached another way. A row of zeros: there is none for that case.
anchor_NL = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])

result = crosspath.aggregate(labels, forward_NKL, anchor_NL=anchor_NL, usable_NK=usable_NK, ids=["#17", "#18"])

# %% How far each agent lies from the anchor (Jensen-Shannon divergence, nats), and the weight FwdJS gives it.
print(result.js_NK.round(3))
print(result.weight_NK.round(3))

# %% The majority says one thing about the first issue, and the agent nearest to the anchor another.
for name, decisions in result.decisions.items():
    print(f"{name:14}", [labels[place] for place in decisions.label_N])
