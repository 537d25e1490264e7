"""R9: a stored reply is given again to the very same request and to no other; a value under a wrong key is an alarm."""

import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import orjson

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.redis_client import RedisServer
from agents.replies import MemoryReplies, RedisReplies, ReplyStore, SqliteReplies
from agents.replies.redis import PREFIX
from agents.replies.reply import ALARMS
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.redis_process import redis_process
from domains.question import Message, Question, Sampling

UNTIMED = True

PAIRS = int(os.environ.get("CHAOS_R9_PAIRS", "10000"))
SEED = 9
NAMED = {
    "wire body": ("model", "system", "user", "temperature", "top_p", "most_tokens", "structured", "schema", "extra"),
    "endpoint": ("endpoint",),
    "sample index": ("sample",),
    "parser": ("parser",),
    "label set": ("labels",),
    "prompt versions": ("prompt",),
}
"""The inputs that design promise 7 names, and what each is made of here."""
_WORDS = (
    "a",
    "b",
    "ab",
    "",
    " a",
    "a ",
    "A",
    "é",
    "e\u0301",
    "a\nb",
    "a\\nb",
    '"',
    "0",
    "0.0",
    "null",
    "{}",
    "ﬁ",
    "fi",
)
_DRAWN: dict[str, tuple[Any, ...]] = {
    "endpoint": ("http://one/v1", "http://one/v2", "http://one:81/v1", "https://one/v1", "http://two/v1"),
    "model": ("m", "m-1", "M", "m-1 "),
    "system": _WORDS,
    "user": _WORDS,
    "temperature": (0.0, 0.6, 0.60000001, 1.0),
    "top_p": (0.95, 1.0),
    "sample": (0, 1, 2),
    "most_tokens": (16, 4096),
    "structured": ("json_schema", "json_object", "prompt"),
    "schema": ({}, {"x": {}}, {"x": {}, "y": {}}, {"y": {}, "x": {}}),
    "extra": ({}, {"top_k": 1}, {"top_k": 2}, {"provider": {"only": ["x"]}}),
    "prompt": _WORDS,
    "parser": _WORDS,
    "labels": _WORDS,
}


@dataclass(frozen=True)
class Inputs:
    """Everything that a reply may depend on."""

    endpoint: str
    model: str
    system: str
    user: str
    temperature: float
    top_p: float
    sample: int
    most_tokens: int
    structured: str
    schema: Any
    extra: Any
    prompt: str
    parser: str
    labels: str

    def same(self, other: "Inputs") -> bool:
        """Whether two are the same request. A schema's order counts, and one that is not sent does not."""
        return self._spelt() == other._spelt()

    def _spelt(self) -> bytes:
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.structured != "json_schema":
            del members["schema"]
        return orjson.dumps(list(members.items()))


async def measure() -> list[Figure]:
    """False hits and misses over random pairs, the inputs that change the key, and the alarms."""
    draw = np.random.default_rng(SEED)
    hits = misses = same = 0
    for _ in range(PAIRS):
        one = _drawn(draw)
        other = _changed(one, draw, int(draw.integers(3)))
        alike = one.same(other)
        cached = await _gets_the_others(one, other)
        same += alike
        hits += cached and not alike
        misses += alike and not cached
    counting = {what: await _tells_apart(names, draw) for what, names in NAMED.items()}
    wrong = [await _alarms(store) for store in (_sqlite, _redis)]
    return [
        Figure(f"R9 false hits in {PAIRS:,} pairs, {same:,} of the same request", "0", str(hits), hits == 0),
        Figure("R9 false misses in these", "0", str(misses), misses == 0),
        Figure(
            "R9 inputs that change the key",
            f"{len(NAMED)} of {len(NAMED)}",
            f"{sum(counting.values())}: {', '.join(what for what, counts in counting.items() if counts)}",
            all(counting.values()),
        ),
        Figure(
            "R9 a value with a wrong digest, in SQLite and in Redis",
            "a miss and an alarm",
            "; ".join(f"{'a miss' if miss else 'a HIT'}, {alarms} alarm" for miss, alarms in wrong),
            all(miss and alarms == 1 for miss, alarms in wrong),
        ),
    ]


def _drawn(draw: np.random.Generator) -> Inputs:
    return Inputs(**{name: _one_of(values, draw) for name, values in _DRAWN.items()})


def _changed(inputs: Inputs, draw: np.random.Generator, times: int) -> Inputs:
    """With some of the inputs drawn again, perhaps as they were."""
    for place in draw.permutation(len(_DRAWN))[:times]:
        name = list(_DRAWN)[place]
        inputs = replace(inputs, **{name: _one_of(_DRAWN[name], draw)})
    return inputs


def _one_of(values: tuple[Any, ...], draw: np.random.Generator) -> Any:
    return values[int(draw.integers(len(values)))]


async def _tells_apart(names: tuple[str, ...], draw: np.random.Generator) -> bool:
    """Whether every other value of every one of these makes another request."""
    one = replace(_drawn(draw), structured="json_schema")
    others = [replace(one, **{name: value}) for name in names for value in _DRAWN[name]]
    return not any([await _gets_the_others(one, other) for other in others if not one.same(other)])


async def _gets_the_others(one: Inputs, other: Inputs) -> bool:
    """Whether the second request is answered with the reply to the first."""
    store = MemoryReplies()
    await _ask(one, store)
    return (await _ask(other, store))[1]


async def _ask(inputs: Inputs, store: ReplyStore) -> tuple[str, bool]:
    """The digest of the request, and whether its reply was stored."""
    settings = BackboneSettings(
        base_url=inputs.endpoint,
        model=inputs.model,
        max_output_tokens=inputs.most_tokens,
        structured=inputs.structured,
        extra_body=inputs.extra,
    )
    question = Question(
        name="q",
        messages=(Message("system", inputs.system), Message("user", inputs.user)),
        sampling=Sampling(inputs.temperature, inputs.top_p, inputs.sample),
        schema=inputs.schema,
        parse=str,
        versions={"prompt": inputs.prompt, "parser": inputs.parser, "labels": inputs.labels},
    )
    answer = await Backbone("b", settings, httpx.MockTransport(_reply), store).ask(question, Deadline.after(60.0))
    return answer.digest, answer.cached


def _reply(request: httpx.Request) -> httpx.Response:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "said"}}
    return httpx.Response(200, json={"model": "m", "choices": [choice], "usage": {}})


async def _alarms(opened: "Callable[[], Any]") -> tuple[bool, int]:
    """Whether a reply under another's key is passed over, and how many alarms that raises."""
    one, other = _drawn(np.random.default_rng(SEED)), _drawn(np.random.default_rng(SEED + 1))
    async with opened() as (store, again, move):
        theirs, _ = await _ask(one, store)
        ours, _ = await _ask(other, store)
        await move(theirs, ours)
        before = ALARMS.total()
        _, cached = await _ask(other, again)
        return not cached, ALARMS.total() - before


@asynccontextmanager
async def _sqlite() -> AsyncIterator[Any]:
    with tempfile.TemporaryDirectory(prefix="crosspath-chaos-") as folder:
        path = Path(folder) / "replies.sqlite"
        store, again = SqliteReplies(path), SqliteReplies(path)

        async def move(theirs: str, ours: str) -> None:
            statement = "UPDATE replies SET reply = (SELECT reply FROM replies WHERE digest = ?) WHERE digest = ?"
            with sqlite3.connect(path) as connection:
                connection.execute(statement, (theirs, ours))
            connection.close()

        yield store, again, move
        await store.close()
        await again.close()


@asynccontextmanager
async def _redis() -> AsyncIterator[Any]:
    with redis_process() as running:
        server = RedisServer(running.url, answer_s=5.0)

        async def move(theirs: str, ours: str) -> None:
            await server.client.copy(PREFIX + theirs, PREFIX + ours, replace=True)

        yield RedisReplies(server, days=1), RedisReplies(server, days=1), move
        await server.close()
