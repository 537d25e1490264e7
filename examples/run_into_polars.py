"""A run as a table and as arrays. `crosspath evaluate --dataset it_incident --out run1` makes one."""

# %%
import sys

import polars

import crosspath

run = crosspath.load_run(sys.argv[1] if len(sys.argv) > 1 else "run1")
print(run.manifest.domain.name, len(run), "cases by", ", ".join(run.manifest.asked.agents))

# %% One row a case: gold label, decisions, posteriors, ranks, anchors, tokens.
table = run.frame()
print(table.select("id", "gold", "decision.loglin", "margin.loglin", "posterior.cot").head())

# %% Who is right, rule by rule.
rules = [name for name in table.columns if name.startswith("decision.")]
print(table.select((polars.col(rule) == polars.col("gold")).mean() for rule in rules))

# %% The same as arrays, cases first and labels last: a run is scored again without asking anyone.
batch = run.whole()
labels = run.manifest.domain.labels
again = crosspath.aggregate(labels, batch.panel.forward_NKL, usable_NK=batch.panel.usable_NK, ids=batch.id_N)
right_N = again.decisions["borda"].label_N == batch.gold_N
print("borda:", int(right_N.sum()), "of", len(run))
