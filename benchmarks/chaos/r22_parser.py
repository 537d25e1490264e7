"""R22: 100,000 spoilt replies through the readers of posteriors and ranks: nothing escapes but Unreadable, no number
comes out that was not stated, and each is read in a few milliseconds, whatever it is."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anchor.ranks import Ids, Ranks, Sheet
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.mutations import Stated, bombs, mutate, read_questions
from domains.case import Domain
from domains.errors import Unreadable
from domains.posterior import Posterior
from domains.question import Question

REPLIES = int(os.environ.get("CHAOS_R22_REPLIES", "100000"))
SLOWEST_MS = 5.0
SEED = 22
FULL = (500, 16)


@dataclass
class Tally:
    """What came of all replies."""

    read: int = 0
    refused: int = 0
    escaped: list[str] = field(default_factory=list)
    unstated: list[str] = field(default_factory=list)
    slowest_ms: float = 0.0


def measure() -> list[Figure]:
    """The spoilt replies and the bombs, and a complete reply to the largest question on a line of its own."""
    tally, asked = Tally(), read_questions()
    generator = np.random.default_rng(SEED)
    texts = [(question, domain, reply) for question, domain, replies in asked for reply in replies]
    for _ in range(REPLIES):
        question, domain, reply = texts[int(generator.integers(len(texts)))]
        other = texts[int(generator.integers(len(texts)))][2]
        take(question, domain, mutate(reply, other, generator), tally)
    mutated = tally.read
    for text in (hostile := bombs()):
        for question, domain, _ in asked[:3]:
            take(question, domain, text, tally)
    full_ms = _milliseconds(*_full_question())
    return [
        Figure(
            f"R22 exceptions that escape, {REPLIES:,} replies and {len(hostile)} bombs",
            "0",
            f"{len(tally.escaped)} ({mutated:,} of the replies still read)",
            not tally.escaped,
        ),
        Figure("R22 numbers read that were not stated", "0", str(len(tally.unstated)), not tally.unstated),
        Figure(
            "R22 slowest of them, 1 MB of anything included",
            f"≤ {SLOWEST_MS:g} ms",
            f"{tally.slowest_ms:.2f} ms",
            tally.slowest_ms <= SLOWEST_MS,
        ),
        Figure("R22 a complete reply of 500 × 16 ranks reads", "yes", f"in {full_ms:.1f} ms", True),
    ]


def take(question: Question[Any], domain: Domain, text: str, tally: Tally) -> None:
    """Read one reply and check what came of it."""
    try:
        value = question.parse(text)
    except Unreadable:
        tally.refused += 1
    except BaseException as error:
        tally.escaped.append(type(error).__name__)
    else:
        tally.read += 1
        if not _stated(question, domain, text, value):
            tally.unstated.append(text)
    tally.slowest_ms = max(tally.slowest_ms, _milliseconds(question.parse, text, tally.slowest_ms))


def _stated(question: Question[Any], domain: Domain, text: str, value: object) -> bool:
    if isinstance(value, Posterior):
        return Stated(text).posterior(value, domain)
    assert isinstance(value, Ranks)
    columns = question.parse.__self__.column_M  # type: ignore[attr-defined]
    return Stated(text).ranks(value, columns)


def _milliseconds(parse: Callable[[str], Any], text: str, known: float = 0.0) -> float:
    """What reading takes of this thread's own time; where that is the most so far, the best of a few times."""
    best = np.inf
    for _ in range(5):
        started = time.thread_time()
        with suppress(Unreadable):
            parse(text)
        best = min(best, 1000.0 * (time.thread_time() - started))
        if best <= known:
            break
    return best


def _full_question() -> tuple[Callable[[str], Ranks], str]:
    findings, candidates = FULL
    sheet = Sheet(
        Ids("F", [f"finding {place}" for place in range(findings)]),
        Ids("C", [f"label {place}" for place in range(candidates)]),
        tuple(range(candidates)),
        np.ones(FULL, dtype=np.bool_),
    )
    ratings = [{"finding": key, "ranks": dict.fromkeys(sheet.candidates.ids, 3)} for key in sheet.findings.ids]
    text = json.dumps({"ratings": ratings})
    assert sheet.read(text).missing == 0
    return sheet.read, text
