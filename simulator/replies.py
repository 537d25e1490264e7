"""Puts answers into words, in the shapes in which real models send them.

`plain` is the bare JSON asked for. `usual` is what most models do when nothing constrains them: prose before, fences,
labels in other case, now and then a label outside the list. `all` adds what is seldom: thinking blocks, drafts, words
after the answer, percentages, objects for lists, pairs left out, refusals, replies that are cut off. Asked for
structured output, the reply is the bare JSON, in the very form asked for.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from domains.case import Domain
from simulator import draws

T = TypeVar("T")

Shapes = Literal["plain", "usual", "all"]
FinishReason = Literal["stop", "length"]

DISCLAIMER = "This is the arithmetic of Crosspath's stand-in, not a language model's reasoning."
OUTSIDER = "Other (not listed)"
_REFUSAL = "I'm sorry, but I can't help with that."
_OTHER_CASE, _OUTSIDE, _SELDOM, _ODD_FORM, _LEFT_OUT = 0.12, 0.03, 0.25, 0.3, 0.1
"""How often: labels in other case, an outsider among them, a seldom layout, a seldom form, a pair left out."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One finished reply."""

    content: str
    finish_reason: FinishReason = "stop"
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A matrix of competing hypotheses in words: labels, items of evidence, a row of marks for each item."""

    labels: tuple[int, ...]
    evidence: tuple[str, ...]
    marks: tuple[tuple[str, ...], ...]
    sensitivity: str


@dataclass(frozen=True, slots=True)
class Dice:
    """Choices that belong to one reply: the same key makes the same choices."""

    key: int

    def chance(self, what: str, share: float) -> bool:
        """True in this share of all replies."""
        return self._roll(what) < share

    def pick(self, what: str, options: Sequence[T]) -> T:
        """One of the options, each as likely."""
        return options[int(self._roll(what) * len(options))]

    def _roll(self, what: str) -> float:
        return float(draws.uniform(np.array([self.key], np.uint64), draws.keys("dice", [what]))[0])


@dataclass(frozen=True, slots=True)
class Style:
    """How a reply is to be written."""

    shapes: Shapes
    structured: bool
    dice: Dice

    def may(self, shapes: Shapes, what: str, share: float) -> bool:
        """Whether this reply has a peculiarity, which replies in `shapes` have in this share."""
        allowed = self.shapes == "all" or self.shapes == shapes
        return allowed and not self.structured and self.dice.chance(what, share)


def write_posterior(ballot: Sequence[tuple[int, float]], reasons: Sequence[str], domain: Domain, style: Style) -> Reply:
    """The reply to a forward question: a ballot of (label, probability) pairs, the most probable first."""
    named = _named(ballot, domain, style)
    payload = {"reasoning": " ".join((DISCLAIMER, *reasons)), "posterior": _posterior(named, style)}
    return _lay_out(payload, _prose(reasons, named), style)


def write_analysis(
    ballot: Sequence[tuple[int, float]], table: Table, reasons: Sequence[str], domain: Domain, style: Style
) -> Reply:
    """The reply to a judge's question that wants a matrix of competing hypotheses."""
    named = _named(ballot, domain, style)
    rows = [{"evidence": item, "marks": list(marks)} for item, marks in zip(table.evidence, table.marks, strict=True)]
    if style.may("all", "leaves out", _LEFT_OUT) and rows:
        rows[-1]["marks"] = rows[-1]["marks"][1:]
    payload = {
        "hypotheses": [domain.label_names[label] for label in table.labels],
        "matrix": rows,
        "reasoning": " ".join((DISCLAIMER, *reasons)),
        "sensitivity": table.sensitivity,
        "posterior": _posterior(named, style),
    }
    return _lay_out(payload, _prose(reasons, named), style)


def _named(ballot: Sequence[tuple[int, float]], domain: Domain, style: Style) -> list[tuple[str, float]]:
    named = [(domain.label_names[label], mass) for label, mass in ballot]
    if style.may("usual", "other case", _OTHER_CASE):
        change = style.dice.pick("which case", (str.lower, str.upper, str.capitalize))
        named = [(_respelt(name, change, domain), mass) for name, mass in named]
    if len(named) > 2 and style.may("usual", "outside", _OUTSIDE):
        named[-1] = (OUTSIDER, named[-1][1])
    return named


def write_ratings(ratings: Mapping[str, Mapping[str, int]], style: Style) -> Reply:
    """The reply to a backward question: finding code → candidate code → rank."""
    kept = {
        finding: {code: rank for code, rank in ranks.items() if not _left_out(finding, code, style)}
        for finding, ranks in ratings.items()
    }
    form = _form(style, ("objects", "by finding", "strings"))
    if form == "by finding":
        stated: Any = kept
    else:
        say: Callable[[int], Any] = str if form == "strings" else int
        stated = [
            {"finding": finding, "ranks": {code: say(rank) for code, rank in ranks.items()}}
            for finding, ranks in kept.items()
        ]
    return _lay_out({"ratings": stated}, f"{DISCLAIMER} Every pair is rated by itself.", style)


def _respelt(name: str, change: Callable[[str], str], domain: Domain) -> str:
    """The name in other case, unless that would name another label or none."""
    respelt = change(name)
    return respelt if domain.resolve(respelt) == domain.resolve(name) else name


def _posterior(named: Sequence[tuple[str, float]], style: Style) -> Any:
    form = _form(style, ("objects", "percent", "mapping", "pairs"))
    if form == "percent":
        return [{"label": name, "probability": f"{100 * mass:.0f}%"} for name, mass in named]
    if form == "mapping":
        return dict(named)
    if form == "pairs":
        return [list(pair) for pair in named]
    return [{"label": name, "probability": mass} for name, mass in named]


def _form(style: Style, forms: Sequence[str]) -> str:
    return style.dice.pick("form", forms[1:]) if style.may("all", "odd form", _ODD_FORM) else forms[0]


def _left_out(finding: str, code: str, style: Style) -> bool:
    return style.may("all", "leaves out", _LEFT_OUT) and style.dice.chance(f"{finding} {code}", _LEFT_OUT)


def _prose(reasons: Sequence[str], named: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f"- {name}: {mass:.2f}" for name, mass in named)
    return "\n\n".join((DISCLAIMER, *reasons, f"So my estimate is:\n{listed}"))


def _lay_out(payload: Mapping[str, Any], prose: str, style: Style) -> Reply:
    """The payload as JSON, bare or with what models put around it."""
    if style.structured or style.shapes == "plain":
        return Reply(_dump(payload, None))
    answer = _dump(payload, style.dice.pick("indent", (None, 2)))
    fenced = f"```json\n{answer}\n```"
    if style.may("all", "seldom", _SELDOM):
        return _seldom(answer, prose, style.dice)
    usual = (answer, fenced, f"{prose}\n\n{answer}", f"{prose}\n\n{fenced}", f"**Answer**\n\n{fenced}")
    return Reply(style.dice.pick("layout", usual))


def _seldom(answer: str, prose: str, dice: Dice) -> Reply:
    whole = f"{prose}\n\n{answer}"
    return dice.pick(
        "seldom layout",
        (
            Reply(f"<think>\n{prose}\n</think>\n\n{answer}"),
            Reply(f"{prose}\n\nA first draft:\n```json\n{answer}\n```\n\nChecked, the final answer:\n{answer}"),
            Reply(f"{answer}\n\nLet me know if you would like more detail on any of these."),
            Reply(whole[: len(whole) - len(answer) // 2], "length"),
            Reply(_REFUSAL, refused=True),
        ),
    )


def _dump(payload: Mapping[str, Any], indent: int | None) -> str:
    return json.dumps(payload, ensure_ascii=False, indent=indent)
