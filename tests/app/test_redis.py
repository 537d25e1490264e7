"""The service with a real Redis beside it."""

from pathlib import Path
from typing import Any

import orjson
import redis

from app.settings import Settings, load_settings
from tests.app.conftest import running
from tests.redis_server import RunningRedis

Body = dict[str, Any]


def with_redis(server: RunningRedis, tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data", redis_url=server.url)


async def test_posteriors_and_ranks_are_seen_in_redis(redis_server: RunningRedis, tmp_path: Path, case: Body) -> None:
    async with running(with_redis(redis_server, tmp_path)) as service:
        await service.decide(case=case)

    with redis.Redis.from_url(redis_server.url) as client:
        kept = [orjson.loads(client.get(key) or b"") for key in client.keys("crosspath:reply:*")]
    assert sum("masses" in reply["parsed"] for reply in kept) == 5
    assert sum("ranks" in reply["parsed"] for reply in kept) == 2


async def test_two_services_share_what_was_asked(redis_server: RunningRedis, tmp_path: Path, case: Body) -> None:
    async with running(with_redis(redis_server, tmp_path)) as first:
        await first.decide(case=case)
    async with running(with_redis(redis_server, tmp_path / "elsewhere")) as second:
        answer = await second.decide(case=case)

    assert answer.json()["usage"]["calls"] == 0


async def test_a_dead_redis_fails_no_decision_and_is_told(
    redis_server: RunningRedis, tmp_path: Path, case: Body
) -> None:
    async with running(with_redis(redis_server, tmp_path)) as service:
        redis_server.process.kill()
        redis_server.process.wait()
        answer = await service.decide(case=case)

    assert answer.status_code == 200
    assert "cache_unavailable" in answer.json()["degraded"]
