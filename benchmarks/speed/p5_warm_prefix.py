"""P5: what `warm_prefix` saves and costs, over a model that takes a second and caches prefixes as providers do
(simulator/prefix_cache.py)."""

import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import httpx
import orjson

from app.assembly import open_council
from app.council import decide
from app.inquiry import resolve
from app.schemas.decide import CaseBody, DecideBody, Decision
from app.settings import STAND_IN_URL, DeclaredBackbone, load_settings
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel
from domains.catalogue import CASES_FILE, load_cases
from simulator.prefix_cache import PrefixCache

DOMAIN, CASES, ANSWER_S = "chest_pain", 6, 0.5


@dataclass
class CachingModel(httpx.AsyncBaseTransport):
    """Answers after `ANSWER_S`, and tells the tokens that it had cached when it was asked."""

    model: InstantModel = field(default_factory=InstantModel)
    cache: PrefixCache = field(default_factory=PrefixCache)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One answer."""
        body = await request.aread()
        messages = orjson.loads(body)["messages"]
        cached = self.cache.cached(messages)
        await asyncio.sleep(ANSWER_S)
        self.cache.replied(messages)
        answer = orjson.loads(self.model.answer(body).partition(b"\r\n\r\n")[2])
        prompt = sum(len(message["content"]) for message in messages) // 4
        answer["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": 100,
            "total_tokens": prompt + 100,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        return httpx.Response(200, content=orjson.dumps(answer), headers={"content-type": "application/json"})


async def measure() -> list[Figure]:
    """The same cases with and without, each over a cache of its own."""
    at_once, one_first = await _decided(warm=False), await _decided(warm=True)
    less, more = (_cached(decisions) for decisions in (at_once, one_first))
    price = statistics.median(each.timing_ms.total for each in one_first) / statistics.median(
        each.timing_ms.total for each in at_once
    )
    told = all(agent.tokens is not None for each in one_first for agent in each.agents)
    measured = f"{more:.0%} of the agents' prompt tokens cached, {less:.0%} without; {price:.2f} × the time"
    return [
        Figure(
            "P5 warm_prefix, cached tokens as told in the answer", "more than without", measured, told and more > less
        )
    ]


def _cached(decisions: Sequence[Decision]) -> float:
    tokens = [agent.tokens for each in decisions for agent in each.agents if agent.tokens]
    return sum(each.cached or 0 for each in tokens) / sum(each.prompt or 0 for each in tokens)


async def _decided(*, warm: bool) -> list[Decision]:
    with tempfile.TemporaryDirectory(prefix="crosspath-bench-") as folder:
        declared = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", warm_prefix=warm)
        settings = load_settings(data_dir=Path(folder), replies=0, domain=DOMAIN, backbones={"default": declared})
        async with open_council(settings, lambda inner: CachingModel()) as council:
            inquiry = resolve(DecideBody(case=CaseBody()), council, [])
            path = council.catalogue.path(DOMAIN) / CASES_FILE
            cases = islice(load_cases(path, inquiry.domain), CASES)
            return [await decide(replace(inquiry, case=case)) for case in cases]
