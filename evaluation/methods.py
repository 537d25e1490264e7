"""What the methods of an evaluation are called: one flat set of names for every number of a report.

An aggregator goes by its own name (`range`, `loglin`); the heads among them, beside the evaluation's main anchor.
"""

HEADS = ("minjs", "fwdjs", "loglin")
FORWARD_RULES = ("plurality", "range", "borda", "bucklin", "irv", "minimax", "ranked_pairs")
"""The electoral rules, which know the forward ballots and nothing else: the best of them is what a head must beat."""
PAPER_JUDGES = ("informed_dictator", "ach")

MAIN_ANCHOR = "reverse"
CALIBRATED = "calibrated"
CLASS_BIAS = "calibrated_class_bias"
"""Names for the two capacities of calibration among the anchors of an evaluation."""

RANDOM = "random"
"""Pooled over the seeds 0, 1 and 2."""
RANDOM_EXPECTED = "random_expected"
"""Its exact expectation: the mean of the agents."""
EVERY_AGENT = "agents"
"""The agents pooled, as something that `plurality` is compared with."""


def alone(anchor: str) -> str:
    """An anchor as a decision of its own."""
    return f"alone@{anchor}"


def headed(head: str, anchor: str) -> str:
    """A head beside an anchor."""
    return f"{head}@{anchor}"


def ranked(anchor: str, place: int) -> str:
    """The agent with the `place`-th lowest divergence from an anchor; the nearest is 1."""
    return f"rank{place}@{anchor}"


def swept(head: str, parameter: str, value: float) -> str:
    """A head beside the main anchor with one parameter set."""
    return f"{head}[{parameter}={value:g}]"


def agent(name: str) -> str:
    """One agent's top-1."""
    return f"agent:{name}"
