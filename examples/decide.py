"""A case decided by a running service, and why: who said what, and how far from the anchor."""

# %%
import crosspath

client = crosspath.Client()  # CROSSPATH_URL, or http://127.0.0.1:8000
for domain in client.domains():
    print(f"{domain.name}: {domain.title} ({domain.labels} labels, {domain.findings} findings)")

# %% A domain says what can be stated of a case. Findings it knows go by their id, others bring their text.
outages = client.domain("it_incident")
print([finding.text for finding in outages.findings if finding.kind == "context"][:3])

case = {
    "context": [{"id": "deploy_hour"}],
    "evidence": [
        {"id": "errors_5xx"},
        {"id": "starts_with_change"},
        {"id": "cpu_high", "present": False},  # stated absent; silence would be no evidence
        {"id": "own_1", "text": "Requests wait for a free database connection"},
    ],
}

# %% Five agents and the reverse elicitor are asked; other rules decide on the very same answers.
decision = client.decide(case, domain="it_incident", compare=["plurality", "minjs"])
print(f"{decision.label}, margin {decision.confidence.margin:.2f}; degraded: {decision.degraded or 'nothing'}")
for agent in sorted(decision.agents, key=lambda agent: agent.rank or 0):
    print(f"  {agent.agent:12} {agent.top}  JS {agent.js:.3f}  weight {agent.weight:.2f}")
print({rule: other.label for rule, other in decision.compare.items()})

# %% The same, told while it is made: each agent as it answers, the anchor, and last the decision.
for event in client.stream(case, domain="it_incident"):
    print(" ", type(event).__name__)

# %% What it cost, and who answered. The stand-in is no language model, and says so.
print(decision.usage, decision.model, "stand-in" if decision.stand_in else "")

# %% A refusal names what is wrong, field by field.
try:
    client.decide({"evidence": [{"id": "no_such_finding"}]}, domain="it_incident")
except crosspath.Refusal as refusal:
    print(refusal.status, *refusal.faults, sep="\n  ")
