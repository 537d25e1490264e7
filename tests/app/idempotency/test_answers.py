"""What is held under a slip, in a file and in Redis: the same tests for both."""

import asyncio
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.redis_client import RedisServer
from app.idempotency.answers import Answered, AnswersAway, AnswerStore, Held, Taken, decode, encode
from app.idempotency.redis import RedisAnswers
from app.idempotency.sqlite import SqliteAnswers
from tests.redis_server import RunningRedis

DAY_S = 86_400.0
MINE, YOURS = Taken("mine"), Taken("yours")
ANSWER = Answered("r" * 64, 10, 200, {"content-type": "application/json"}, '{"label": "é"}')


@pytest.fixture(params=["file", "redis"])
async def answers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AnswerStore]:
    if request.param == "file":
        store: AnswerStore = SqliteAnswers(tmp_path / "answers.sqlite", DAY_S)
        yield store
        await store.close()
        return
    running: RunningRedis = request.getfixturevalue("redis_server")
    server = RedisServer(running.url, answer_s=5.0)
    yield RedisAnswers(server, DAY_S)
    await server.close()


@pytest.mark.parametrize("held", [MINE, ANSWER])
def test_what_is_stored_is_read(held: Held) -> None:
    assert decode(encode(held)) == held


async def test_what_nobody_holds_is_taken_once(answers: AnswerStore) -> None:
    takers = [Taken(str(number)) for number in range(20)]
    found = await asyncio.gather(*(answers.swap("s", None, taker, 60) for taker in takers))
    assert found.count(None) == 1
    winner = takers[found.index(None)]
    assert {held for held in found if held is not None} == {winner}


async def test_what_one_holds_another_cannot_change(answers: AnswerStore) -> None:
    await answers.swap("s", None, MINE, 60)
    assert await answers.swap("s", YOURS, ANSWER, 60) == MINE
    assert await answers.swap("s", YOURS, None, 60) == MINE
    assert await answers.swap("s", MINE, ANSWER, 60) == MINE
    assert await answers.swap("s", None, YOURS, 60) == ANSWER


async def test_what_is_given_up_is_free(answers: AnswerStore) -> None:
    await answers.swap("s", None, MINE, 60)
    await answers.swap("s", MINE, None, 0)
    assert await answers.swap("s", None, YOURS, 60) is None


async def test_what_is_not_renewed_is_free_after_its_time(answers: AnswerStore) -> None:
    await answers.swap("s", None, MINE, 0.05)
    await asyncio.sleep(0.2)
    assert await answers.swap("s", None, YOURS, 60) is None


async def test_purge_forgets_what_is_older(answers: AnswerStore) -> None:
    await answers.swap("old", None, ANSWER, 60)
    between = time.time() + 0.01
    await asyncio.sleep(0.05)
    await answers.swap("new", None, ANSWER, 60)
    assert await answers.purge(between) == 1
    assert await answers.swap("old", None, None, 60) is None
    assert await answers.swap("new", None, None, 60) == ANSWER


async def test_a_purged_answer_is_not_left_in_the_bytes_of_the_files(tmp_path: Path) -> None:
    store = SqliteAnswers(tmp_path / "answers.sqlite", DAY_S)
    await store.swap("s", None, Answered("r", 1, 200, {}, "canary-of-a-case"), 60)
    await store.purge(time.time() + 1)
    left = _bytes_of(tmp_path)
    await store.close()
    assert b"canary-of-a-case" not in left


async def test_the_file_is_its_owners_only(tmp_path: Path) -> None:
    store = SqliteAnswers(tmp_path / "answers.sqlite", DAY_S)
    await store.swap("s", None, ANSWER, 60)
    modes = _modes_of(tmp_path)
    await store.close()
    assert modes == {0o600}


async def test_a_file_that_cannot_be_used_is_away(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AnswersAway):
        await SqliteAnswers(tmp_path / "file" / "answers.sqlite", DAY_S).swap("s", None, MINE, 60)


async def test_a_redis_that_is_not_there_is_away() -> None:
    server = RedisServer("unix:///nowhere/redis.sock")
    with pytest.raises(AnswersAway):
        await RedisAnswers(server, DAY_S).swap("s", None, MINE, 60)
    await server.close()


def _bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def _modes_of(folder: Path) -> set[int]:
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
