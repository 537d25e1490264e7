"""The peer of P1 and P2, a process of its own: seven calls a decision through httpx's client on aiohttp's transport,
and nothing else. `python -m benchmarks.speed.bare_fan_out BASE_URL DECISIONS AT_ONCE FIRST` makes the first so many
calls at the same moment and then the others; it prints milliseconds of CPU each, and how many a second."""

import asyncio
import sys
import time

import httpx
import orjson
import uvloop
from httpx_aiohttp import AiohttpTransport

from agents.endpoint import BackboneSettings
from agents.personas import PERSONAS, POOL, forward_question
from agents.wire import first_dialect, request_body
from domains.catalogue import Catalogue

CALLS = 7
WARM_UP = 3


def call_bodies(base_url: str) -> list[bytes]:
    """Forward questions as the service sends them: five, and two of them once more in the place of the steps."""
    catalogue = Catalogue()
    domain = catalogue.get(catalogue.names()[0])
    settings = BackboneSettings(base_url=base_url, model="instant")
    questions = [forward_question(domain, domain.exemplars[0].case, PERSONAS[name]) for name in POOL]
    bodies = [request_body(question, settings, first_dialect(settings)) for question in questions]
    return (bodies + bodies)[:CALLS]


async def _measure(base_url: str, decisions: int, at_once: int, first: int) -> tuple[float, float]:
    bodies = call_bodies(base_url)
    limits = httpx.Limits(max_connections=CALLS * at_once, keepalive_expiry=30.0)
    async with httpx.AsyncClient(transport=AiohttpTransport(limits=limits), trust_env=False, timeout=None) as client:

        async def call(body: bytes) -> None:
            url = f"{base_url}/chat/completions"
            response = await client.post(url, content=body, headers={"content-type": "application/json"})
            assert orjson.loads(response.content)["choices"][0]["message"]["content"]

        async def caller(count: int) -> None:
            for _ in range(count):
                await asyncio.gather(*map(call, bodies[:first]))
                await asyncio.gather(*map(call, bodies[first:]))

        await asyncio.gather(*(caller(WARM_UP) for _ in range(at_once)))
        began, began_cpu = time.perf_counter(), time.process_time()
        each = decisions // at_once
        await asyncio.gather(*(caller(each) for _ in range(at_once)))
        made = each * at_once
        return 1000 * (time.process_time() - began_cpu) / made, made / (time.perf_counter() - began)


if __name__ == "__main__":
    print(*uvloop.run(_measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
