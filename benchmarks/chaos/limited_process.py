"""One of several processes that share a backbone's limit: asks without end.

`python -m benchmarks.chaos.limited_process BASE_URL REDIS_URL REQUESTS_PER_MINUTE SECONDS FIRST_SAMPLE`
"""

import asyncio
import sys

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.limits import open_limits
from agents.redis_client import RedisServer
from agents.replies import MemoryReplies
from agents.transport import open_transport
from benchmarks.chaos.arrivals import questions

ASKERS = 30


async def ask_without_end(
    base_url: str, redis_url: str, requests_per_minute: float, seconds: float, first: int
) -> None:
    """`ASKERS` at a time, until the time is over."""
    settings = BackboneSettings(base_url=base_url, model="instant", requests_per_minute=requests_per_minute)
    redis = RedisServer(redis_url)
    limits = open_limits("shared", settings, redis)
    asked = questions(first)
    async with open_transport(settings) as transport:
        backbone = Backbone("shared", settings, transport, MemoryReplies(), limits=limits)

        async def ask() -> None:
            while True:
                await backbone.ask(next(asked), Deadline.after(3600.0), lane="batch")

        asking = [asyncio.create_task(ask()) for _ in range(ASKERS)]
        await asyncio.wait(asking, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    await limits.close()
    await redis.close()


if __name__ == "__main__":
    base_url, redis_url, requests_per_minute, seconds, first = sys.argv[1:]
    asyncio.run(ask_without_end(base_url, redis_url, float(requests_per_minute), float(seconds), int(first)))
