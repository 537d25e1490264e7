"""The peer of P1, a process of its own: seven calls a decision through httpx's client on aiohttp's transport, and
nothing else. `python -m benchmarks.speed.bare_fan_out BASE_URL DECISIONS AT_ONCE` prints milliseconds of CPU each."""

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
WARM_UP = 20


def _bodies(base_url: str) -> list[bytes]:
    """Forward questions as the service sends them: five, and two of them once more in the place of the steps."""
    catalogue = Catalogue()
    domain = catalogue.get(catalogue.names()[0])
    settings = BackboneSettings(base_url=base_url, model="instant")
    questions = [forward_question(domain, domain.exemplars[0].case, PERSONAS[name]) for name in POOL]
    bodies = [request_body(question, settings, first_dialect(settings)) for question in questions]
    return (bodies + bodies)[:CALLS]


async def _measure(base_url: str, decisions: int, at_once: int) -> float:
    bodies = _bodies(base_url)
    limits = httpx.Limits(max_connections=CALLS * at_once, keepalive_expiry=30.0)
    async with httpx.AsyncClient(transport=AiohttpTransport(limits=limits), trust_env=False, timeout=None) as client:

        async def call(body: bytes) -> None:
            url = f"{base_url}/chat/completions"
            response = await client.post(url, content=body, headers={"content-type": "application/json"})
            assert orjson.loads(response.content)["choices"][0]["message"]["content"]

        async def caller(left: "list[None]") -> None:
            while left:
                left.pop()
                await asyncio.gather(*map(call, bodies))

        await asyncio.gather(*(caller([None] * WARM_UP) for _ in range(at_once)))
        left: list[None] = [None] * decisions
        began = time.process_time()
        await asyncio.gather(*(caller(left) for _ in range(at_once)))
        return 1000 * (time.process_time() - began) / decisions


if __name__ == "__main__":
    print(uvloop.run(_measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
