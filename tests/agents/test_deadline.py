import asyncio

import pytest

from agents.deadline import Deadline
from domains.errors import AskFailed


async def test_remaining_counts_down_and_never_below_zero() -> None:
    assert 9.0 < Deadline.after(10.0).remaining() <= 10.0
    assert Deadline.after(-1.0).remaining() == 0.0


async def test_a_body_in_time_is_left_alone() -> None:
    async with Deadline.after(30.0).scope():
        await asyncio.sleep(0)


async def test_the_deadline_cuts_a_body_that_keeps_being_busy() -> None:
    async def drip(deadline: Deadline) -> None:
        async with deadline.scope():
            for _ in range(10**9):
                await asyncio.sleep(0.001)

    with pytest.raises(AskFailed) as failed:
        await drip(Deadline.after(0.05))
    assert failed.value.cause == "deadline"


async def test_a_limit_within_that_comes_first_is_no_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with Deadline.after(30.0).scope(), asyncio.timeout(0.01):
            await asyncio.sleep(30)


async def test_a_limit_within_that_comes_later_changes_nothing() -> None:
    with pytest.raises(AskFailed) as failed:
        async with Deadline.after(0.01).scope(), asyncio.timeout(30.0):
            await asyncio.sleep(30)
    assert failed.value.cause == "deadline"


async def test_nested_scopes_that_end_together_end_as_the_deadline() -> None:
    deadline = Deadline.after(0.01)
    with pytest.raises(AskFailed) as failed:
        async with deadline.scope(), deadline.scope():
            await asyncio.sleep(30)
    assert failed.value.cause == "deadline"
    await asyncio.sleep(0)  # no cancellation is left over


async def test_a_timeout_error_of_the_body_is_not_taken_for_the_deadline() -> None:
    with pytest.raises(TimeoutError, match="its own"):
        async with Deadline.after(30.0).scope():
            raise TimeoutError("its own")


async def test_cancellation_from_outside_stays_a_cancellation() -> None:
    async def wait() -> None:
        async with Deadline.after(30.0).scope():
            await asyncio.sleep(30)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
