"""Replies as models send them, spoilt at random, and checks of what was read that know nothing of the reader.

`Stated` looks for the numbers in the text itself: whatever a reader makes of it, each value must stand there, whole.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.personas import PERSONAS, forward_question
from anchor.elicitor import rank_question
from anchor.network import MISSING
from anchor.ranks import Ranks
from domains.case import KINDS, Domain
from domains.catalogue import Catalogue, load_cases
from domains.posterior import Posterior
from domains.question import Question
from domains.simplex import Array
from simulator.stand_in import MODEL, Ask, StandIn, knowing_packs

TOKENS = (
    '{"', "{", "}", "[", "]", '"', ":", ",", "\\", "\\u00", "```", "```json\n", "<think>", "</think>", "\n", "\u200b",
    "NaN", "Infinity", "-", "1e999", "1e-320", "0.4", "%", "null", "true", '"posterior"', '"ratings"', '"C1": 7',
    '{"a":', "“", "é", "\x00",
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CODED = re.compile(r'"\W*(C\d+)[^"]*"\s*:\s*"?\s*([^\s,}\]"]*)', re.IGNORECASE)
_STRING = r'"((?:[^"\\]|\\.)*)"'
_VALUE = rf'"?\s*({_NUMBER.pattern})\s*%?\s*"?'
_MASS = r'"\s*(?:probability|p)\s*"\s*:'
_WITHIN = r'(?:[^{}\[\]"]|"(?:[^"\\]|\\.)*")*'
_NAMED = re.compile(rf"(?={_STRING}\s*(?:,{_WITHIN}?{_MASS}|:|,)\s*{_VALUE}\s*[,}}\]])", re.IGNORECASE)
_NAMED_BEHIND = re.compile(rf'(?={_MASS}\s*{_VALUE}\s*,{_WITHIN}?"\s*label\s*"\s*:\s*{_STRING})', re.IGNORECASE)
_TOLERANCE = 1e-9
_MOST_STATED = 12


def read_questions(domains: int = 2, cases: int = 6) -> list[tuple[Question[Any], Domain, list[str]]]:
    """Questions of the packs that ship, and replies of the stand-in to each in all its shapes."""
    catalogue = Catalogue()
    stand_in = StandIn(knowing_packs(catalogue), shapes="all")
    asked: list[tuple[Question[Any], Domain, list[str]]] = []
    for name in catalogue.names()[:domains]:
        domain = catalogue.get(name)
        labels = list(range(len(domain.labels)))
        for case in list(load_cases(catalogue.path(name) / "cases.ndjson", domain))[:cases]:
            questions: list[Question[Any]] = [forward_question(domain, case, PERSONAS["cot"])]
            for kind in KINDS:
                findings = [o.finding for o in case.observations(kind) if o.present or kind == "evidence"]
                if findings:
                    questions.append(rank_question(kind, domain, labels, findings, domain.case_seed(case)))
            for question in questions:
                asked.append((question, domain, _replies(stand_in, question)))
    return asked


def _replies(stand_in: StandIn, question: Question[Any], samples: int = 12) -> list[str]:
    replies = [stand_in.reply(Ask(MODEL, question.messages, sample)) for sample in range(samples)]
    return [reply.content for reply in replies if reply.finish_reason == "stop" and not reply.refused]


def mutate(text: str, other: str, generator: np.random.Generator) -> str:
    """The text with one to four faults: spans lost, doubled, moved or taken from another reply, tokens put in, digits
    and characters changed, the end cut off."""
    for _ in range(1 + int(generator.integers(4))):
        begin, end = sorted(int(place) for place in generator.integers(0, len(text) + 1, size=2))
        end = min(end, begin + int(generator.integers(1, 40)))
        token = TOKENS[int(generator.integers(len(TOKENS)))]
        match int(generator.integers(8)):
            case 0:
                text = text[:begin] + text[end:]
            case 1:
                text = text[:end] + text[begin:]
            case 2:
                text = text[:begin] + token + text[begin:]
            case 3:
                text = text[:begin] + token * int(generator.integers(2, 2_000)) + text[end:]
            case 4:
                place = int(generator.integers(0, len(other) + 1))
                text = text[:begin] + other[place:]
            case 5:
                text = text[:begin] + _respelt(text[begin:end], generator) + text[end:]
            case 6:
                text = text[:end] + text[begin:end] + other + text[end:]
            case _:
                text = text[:begin]
    return text


def _respelt(span: str, generator: np.random.Generator) -> str:
    digits = "".join(str(generator.integers(10)) if character.isdecimal() else character for character in span)
    return (digits, span.upper(), span.lower(), span[::-1], span.replace('"', "'"))[int(generator.integers(5))]


def bombs(size: int = 1_000_000) -> list[str]:
    """Texts made to cost much, of this size and of sizes just below what is read at all."""
    units = (
        *TOKENS,
        '{"":0}',
        '{"":0,',
        '["',
        "[[]]",
        "[1,",
        '{"a":1}',
        '{"a"}',
        "{a:",
        '{"F1":{"C1":3}}',
        '["a",1],',
        " ",
        "\\\\",
        "9",
        "<",
        "`",
    )
    whole = [unit * (size // len(unit)) for unit in units]
    near = [
        unit * (length // len(unit)) for unit in units for length in (1_000, 4_000, 8_000, 20_000, 100_000, 159_000)
    ]
    spread = [
        (unit + filler * gap) * count for unit in units for filler in " \n" for gap, count in ((40, 3_000), (500, 290))
    ]
    inside = [
        f'{{"{key}":{{' + '"",'.join(unit * 1_000 for _ in range(3))
        for key in ("posterior", "ratings")
        for unit in units
    ]
    return [*whole, *near, *spread, *inside]


class Stated:
    """What numbers stand in a text, whole, and behind which names; found by patterns, not by reading JSON."""

    def __init__(self, text: str) -> None:
        self._text = text

    def posterior(self, posterior: Posterior, domain: Domain) -> bool:
        """Whether each label's mass is a number stated of that label, or a sum of such (a label stated more than once),
        all of them on one scale."""
        stated: dict[int, list[float]] = {}
        for pattern, name, value in ((_NAMED, 1, 2), (_NAMED_BEHIND, 2, 1)):
            for found in pattern.finditer(self._text):
                label = domain.resolve(_unescaped(found[name]))
                if label is not None:
                    stated.setdefault(label, []).append(float(found[value]))
        if any(label not in stated for label in posterior.label_M):
            return False
        sums = [_sums(stated[label]) for label in posterior.label_M]
        scales = sums[0] / posterior.mass_M[0]
        return any(
            all(
                np.any(np.abs(sums_of - scale * mass) <= _TOLERANCE * scale * mass)
                for sums_of, mass in zip(sums, posterior.mass_M, strict=True)
            )
            for scale in scales
        )

    def ranks(self, ranks: Ranks, columns: Sequence[int]) -> bool:
        """Whether each rank is stated behind its candidate's code, or the text has ranks in another form (a list, names
        for codes) and the rank is at least a number in it."""
        stated: dict[str, set[float]] = {}
        for code, value in _CODED.findall(self._text):
            if _NUMBER.fullmatch(value):
                stated.setdefault(code.upper(), set()).add(float(value))
        code_of = {column: f"C{place}" for place, column in enumerate(columns, 1)}
        for _, column in np.argwhere(ranks.rank_JM != MISSING):
            found = ranks.rank_JM[:, column][ranks.rank_JM[:, column] != MISSING]
            allowed = stated.get(code_of[int(column)]) or set(map(float, _NUMBER.findall(self._text)))
            if not {float(rank) for rank in found} <= allowed:
                return False
        return True


def _unescaped(written: str) -> str:
    try:
        return str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        return written


def _sums(values: Sequence[float]) -> Array:
    """The sums of all subsets but the empty one; of the first few where there are many."""
    sums: Array = np.zeros(1)
    for value in values[:_MOST_STATED]:
        sums = np.unique(np.concatenate([sums, sums + value]))
    return sums[(sums > 0) & np.isfinite(sums)]
