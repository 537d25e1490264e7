"""R8: identical requests at the same moment, and callers that die while others wait for the same answer."""

import asyncio
import os
from itertools import islice

import numpy as np

from app.council import decide
from app.inquiry import Council
from app.schemas.decide import Decision
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving
from benchmarks.chaos.rehearsal import Rehearsal, serving_here
from benchmarks.chaos.undecided import council_of, new_inquiries

IDENTICAL = int(os.environ.get("CHAOS_R8_IDENTICAL", "500"))
ROUNDS = int(os.environ.get("CHAOS_R8_ROUNDS", "200"))
CALLERS = 5
"""Callers of one decision, the first of which is cancelled."""
UPSTREAM_S = 0.05
SEED = 8


def measure() -> list[Figure]:
    """Upstream calls of identical requests over those of one; those who went without an answer."""
    with serving(UPSTREAM_S) as model:
        return asyncio.run(_measure(model))


async def _measure(model: InstantModel) -> list[Figure]:
    settings = {"llm_base_url": model.base_url, "llm_model": "instant"}
    async with serving_here(**settings) as rehearsal:
        together = await _identical(rehearsal, model)
    async with council_of(replies=0, **settings) as council:
        return [*together, *await _cancelled(council, model)]


async def _identical(rehearsal: Rehearsal, model: InstantModel) -> list[Figure]:
    one, many = rehearsal.bodies[:2]
    await rehearsal.decide(one)
    alone = model.requests.total()
    model.requests.clear()
    answers = await asyncio.gather(*(rehearsal.decide(many) for _ in range(IDENTICAL)))
    together = model.requests.total()
    answered = [answer.json() for answer in answers if answer.status_code == 200]
    said = {str(answer["distribution"]) for answer in answered}
    told = sum(answer["usage"]["calls"] for answer in answered)
    return [
        Figure(
            f"R8 upstream calls of {IDENTICAL} identical concurrent requests",
            f"{alone}, as of one",
            f"{together}; {told} in all the answers' usage",
            together == alone == told,
        ),
        Figure(
            "R8 of these answered, all the same",
            f"{IDENTICAL}",
            f"{len(answered)}, {len(said)} kinds",
            len(answered) == IDENTICAL and len(said) == 1,
        ),
    ]


async def _cancelled(council: Council, model: InstantModel) -> list[Figure]:
    """Several callers of one decision, the first of which is cancelled at a random moment of the time it takes."""
    draw = np.random.default_rng(SEED)
    expected = answered = calls = least = 0
    for inquiry in islice(new_inquiries(council), ROUNDS):
        model.requests.clear()
        deciding = [asyncio.create_task(decide(inquiry)) for _ in range(CALLERS)]
        await asyncio.sleep(float(draw.uniform(0.0, 3.0 * UPSTREAM_S)))
        deciding[0].cancel()
        outcomes = await asyncio.gather(*deciding[1:], return_exceptions=True)
        expected += len(outcomes)
        answered += sum(isinstance(each, Decision) and each.status == "complete" for each in outcomes)
        calls += model.requests.total()
        least += len(model.requests)
    return [
        Figure(
            f"R8 answered while their leader was cancelled at {ROUNDS} random moments",
            f"{expected}",
            f"{answered}",
            answered == expected,
        ),
        Figure("R8 upstream calls in these", f"{least}, each once", f"{calls}", calls == least),
    ]
