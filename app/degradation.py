"""What becomes of a decision of which something was lost: one table.

The council follows it, the tests hold every subset of failures against it over HTTP, and docs/operations.md prints it.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from aggregators import ANCHORED, JUDGES
from anchor.anchors import Partiality
from domains.case import Kind

Attendance = Literal["all", "enough", "few"]
"""How many agents gave a usable answer: all that were asked, at least the quorum, or fewer."""
Basis = Literal["whole", "likelihood_only", "prior_only", "missing"]
"""What the anchor is made of. One that nobody asked for is whole: nothing of it was lost."""
Status = Literal["complete", "degraded", "failed"]
Require = Literal["any", "complete"]

AS_ASKED = "as asked"
NOBODY = "nobody"
"""What stands for the method where there is no decision."""
JUDGE_FALLBACK = "plurality"
"""What decides in place of a judge that gave no usable verdict, whatever else was lost."""
AGENT_LOST = "agent_failed:{agent}"


class Fate(NamedTuple):
    """A row of the table: the status, who decides where a head or anything else was asked for, and the entries of
    `degraded`; `{agent}` stands for each agent that was lost. A method that is not as asked adds `fallback:METHOD`."""

    status: Status
    head: str
    other: str
    degraded: tuple[str, ...]


_FAILED = Fate("failed", NOBODY, NOBODY, (AGENT_LOST,))

TABLE: Mapping[tuple[Attendance, Basis], Fate] = MappingProxyType(
    {
        ("all", "whole"): Fate("complete", AS_ASKED, AS_ASKED, ()),
        ("all", "likelihood_only"): Fate("degraded", AS_ASKED, AS_ASKED, ("anchor_partial:likelihood_only",)),
        ("all", "prior_only"): Fate("degraded", AS_ASKED, AS_ASKED, ("anchor_partial:prior_only",)),
        ("all", "missing"): Fate("degraded", "range", AS_ASKED, ("anchor_missing",)),
        ("enough", "whole"): Fate("degraded", AS_ASKED, AS_ASKED, (AGENT_LOST,)),
        ("enough", "likelihood_only"): Fate(
            "degraded", AS_ASKED, AS_ASKED, (AGENT_LOST, "anchor_partial:likelihood_only")
        ),
        ("enough", "prior_only"): Fate("degraded", AS_ASKED, AS_ASKED, (AGENT_LOST, "anchor_partial:prior_only")),
        ("enough", "missing"): Fate("degraded", "range", AS_ASKED, (AGENT_LOST, "anchor_missing")),
        ("few", "whole"): _FAILED,
        ("few", "likelihood_only"): _FAILED,
        ("few", "prior_only"): _FAILED,
        ("few", "missing"): _FAILED,
    }
)

HTTP: Mapping[Require, Mapping[Status, int]] = MappingProxyType(
    {
        "any": {"complete": 200, "degraded": 200, "failed": 503},
        "complete": {"complete": 200, "degraded": 503, "failed": 503},
    }
)
"""The code of the answer, by what the caller requires."""

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "no_evidence": "The case states context only: nothing that was observed speaks for or against a label.",
        "agent_failed": "An agent gave no usable answer and has no voice; its `cause` says why.",
        "survivors_biased": "An agent was lost to the deadline. The agents that answered in time are a biased sample: "
        "cases and ways of thinking that take long are missing from it.",
        "anchor_partial": "One of the two reverse steps failed; the anchor is the factor that is left.",
        "anchor_missing": "There is no anchor: agents were compared with nothing, and a head cannot decide.",
        "fallback": "Another method decided than was asked for.",
        "no_exemplars": "There are no worked examples for these labels; the agent was asked without.",
        "missing_pairs": "The elicitor left out pairs of a label and a finding; these have no factor in the anchor.",
        "judge_failed": "A judge gave no usable verdict.",
        "matrix_missing": "A judge gave its verdict without a sound matrix of hypotheses against evidence.",
        "sampling": "The model does not take this sampling parameter; its own default was used.",
        "cache_unavailable": "The reply store could not be used; replies were fetched that may have been known.",
        "table_unavailable": "The elicitation table could not be read or written; the elicitor was asked instead.",
        "deadline": "The deadline ended a question before its answer came.",
    }
)
"""What each entry of `degraded` means, by the word before its colon."""


def attendance(usable: int, asked: int, quorum: int) -> Attendance:
    """How many of the agents asked have a voice."""
    if usable < quorum:
        return "few"
    return "all" if usable == asked else "enough"


def basis(there: bool, partial: Partiality) -> Basis:
    """What the anchor is made of, where there is one or nobody asked for one."""
    return (partial or "whole") if there else "missing"


def method(aggregator: str, fate: Fate, verdict_lost: bool) -> str:
    """Who decides where that aggregator was asked for."""
    if aggregator in JUDGES:
        return JUDGE_FALLBACK if verdict_lost else aggregator
    named = fate.head if aggregator in ANCHORED else fate.other
    return aggregator if named == AS_ASKED else named


def entries(fate: Fate, lost: Sequence[str]) -> list[str]:
    """The row's entries of `degraded`, for these lost agents."""
    return [
        written
        for entry in fate.degraded
        for written in ([entry.format(agent=agent) for agent in lost] if entry == AGENT_LOST else [entry])
    ]


def notes(degraded: Iterable[str]) -> list[str]:
    """What the entries mean, each meaning once."""
    words = (entry.partition(":")[0] for entry in degraded)
    return list(dict.fromkeys(WORDS[word] for word in words if word in WORDS))


_STEPS_LOST: Mapping[Basis, str] = {
    "whole": "none",
    "likelihood_only": "context",
    "prior_only": "evidence",
    "missing": "both",
}
_AGENTS_LOST: Mapping[Attendance, str] = {
    "all": "none",
    "enough": "some, the quorum is left",
    "few": "fewer than the quorum are left",
}


def basis_without(steps: Iterable[Kind]) -> Basis:
    """What is left of the reverse anchor, of which both steps were needed, without these."""
    lost = set(steps)
    if len(lost) == 2:
        return "missing"
    if "context" in lost:
        return "likelihood_only"
    return "prior_only" if lost else "whole"


def as_markdown() -> str:
    """The table as docs/operations.md prints it; rows that differ in nothing but the reverse steps are one."""
    lines = [
        "| agents lost | reverse steps lost | `status` | HTTP | with `require: complete` | a head (`minjs`, `fwdjs`, "
        "`loglin`) | any other rule | `degraded` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (agents, anchor), fate in TABLE.items():
        if agents == "few" and anchor != "whole":
            continue
        steps = "any" if agents == "few" else _STEPS_LOST[anchor]
        codes = " | ".join(str(HTTP[require][fate.status]) for require in HTTP)
        lines.append(
            f"| {_AGENTS_LOST[agents]} | {steps} | `{fate.status}` | {codes} | {_shown(fate.head)} | "
            f"{_shown(fate.other)} | {_entries_shown(fate)} |"
        )
    return "\n".join(lines)


def words_as_markdown() -> str:
    """What the entries of `degraded` mean, as docs/operations.md prints it."""
    rows = [f"| `{word}` | {meaning} |" for word, meaning in WORDS.items()]
    return "\n".join(["| `degraded` | meaning |", "|---|---|", *rows])


def _shown(name: str) -> str:
    return name if name in (AS_ASKED, NOBODY) else f"`{name}`"


def _entries_shown(fate: Fate) -> str:
    shown = [f"`{entry.format(agent='NAME')}`" for entry in fate.degraded]
    if fate.head not in (AS_ASKED, NOBODY):
        shown.append(f"a head also `fallback:{fate.head}`")
    return ", ".join(shown) or "—"
