"""A question that was asked lately is answered by its key alone, before it is written again."""

from dataclasses import replace

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.replies import MemoryReplies
from tests.agents.asking import GOOD, QUESTION, Away, Open, ask
from tests.agents.upstream import Upstream, completion


async def _asked(backbone: Backbone, key: str = "k") -> None:
    await backbone.ask(QUESTION, Deadline.after(30.0), key=key)


async def test_recalls_what_asking_again_would_answer(upstream: Upstream, door: Open) -> None:
    upstream.answers(completion(GOOD))
    backbone = door()
    await _asked(backbone)
    recalled, again = backbone.recall("k"), await ask(backbone)
    assert recalled is not None
    assert recalled == replace(again, latency_ms=recalled.latency_ms)


async def test_recalls_nothing_under_another_key_nor_what_was_asked_without_one(upstream: Upstream, door: Open) -> None:
    upstream.answers(completion(GOOD))
    backbone = door()
    await ask(backbone)
    assert backbone.recall(None) is None
    await _asked(backbone)
    assert backbone.recall("another") is None


async def test_recalls_nothing_that_the_store_could_not_keep(upstream: Upstream, door: Open) -> None:
    upstream.answers(completion(GOOD))
    backbone = door(Away())
    await _asked(backbone)
    assert backbone.recall("k") is None


async def test_another_store_shares_no_memory(upstream: Upstream, door: Open) -> None:
    upstream.answers(completion(GOOD))
    backbone = door()
    await _asked(backbone)
    assert backbone.with_store(MemoryReplies()).recall("k") is None
