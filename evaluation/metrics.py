"""How often decisions are right."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from domains.simplex import Index
from evaluation.records import Record


@dataclass(frozen=True, slots=True)
class Accuracy:
    """GTPA@1: `correct` of `n` decisions name the gold label (method.md, Evaluation)."""

    correct: int
    n: int

    @property
    def share(self) -> float | None:
        """The accuracy; None of no cases."""
        return self.correct / self.n if self.n else None


def accuracy(label_N: Index, gold_N: Index) -> Accuracy:
    """How many of the cases with a gold label (≥ 0) were decided for it."""
    return Accuracy(int(((label_N == gold_N) & (gold_N >= 0)).sum()), int((gold_N >= 0).sum()))


@dataclass(frozen=True)
class Summary:
    """A run at a glance: accuracy by aggregator on the pool's labelled cases, and who is not in the pool and why.

    `cases` are all of the run, `labelled` those with a gold label, `pooled` those of them that are in the pool;
    `stand_in`: a simulated model answered some of them.
    """

    cases: int
    labelled: int
    pooled: int
    accuracies: dict[str, Accuracy] = field(default_factory=dict)
    exclusions: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    stand_in: bool = False

    @property
    def coverage(self) -> float | None:
        """The pool's share of the labelled cases; None without any."""
        return self.pooled / self.labelled if self.labelled else None


def summarise(records: Iterable[Record]) -> Summary:
    """The summary of the records, read one by one."""
    tally: Counter[str] = Counter()
    correct: Counter[str] = Counter()
    exclusions: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    names: dict[str, None] = {}
    for record in records:
        tally["cases"] += 1
        outcomes[record.outcome] += 1
        tally["stand_in"] += record.stand_in
        exclusions.update(record.exclusions)
        names |= dict.fromkeys(record.decisions)
        if record.gold is None:
            continue
        tally["labelled"] += 1
        if not record.exclusions:
            tally["pooled"] += 1
            correct.update(name for name, decided in record.decisions.items() if decided.label == record.gold)
    return Summary(
        cases=tally["cases"],
        labelled=tally["labelled"],
        pooled=tally["pooled"],
        accuracies={name: Accuracy(correct[name], tally["pooled"]) for name in names} if tally["pooled"] else {},
        exclusions=dict(exclusions.most_common()),
        outcomes=dict(outcomes),
        stand_in=tally["stand_in"] > 0,
    )
