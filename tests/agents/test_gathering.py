import asyncio
from collections.abc import Sequence

import pytest

from agents.gathering import LARGEST_GROUP, Gathering


class Slow:
    """Doubles numbers, and notes which came together; fails where one is negative."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.begun = asyncio.Event()
        self.under_way = 0

    async def work(self, numbers: Sequence[int]) -> list[int]:
        self.under_way += 1
        assert self.under_way == 1
        self.groups.append(list(numbers))
        self.begun.set()
        await asyncio.sleep(0.001)
        self.under_way -= 1
        if min(numbers) < 0:
            raise ValueError("negative")
        return [2 * number for number in numbers]


async def test_everyone_gets_his_own_result() -> None:
    slow = Slow()
    gathering = Gathering(slow.work)
    assert await asyncio.gather(*map(gathering.do, range(20))) == [2 * number for number in range(20)]
    assert slow.groups == [list(range(20))]


async def test_what_comes_while_a_group_is_under_way_is_the_next_one() -> None:
    slow = Slow()
    gathering = Gathering(slow.work)
    first = asyncio.create_task(gathering.do(1))
    await slow.begun.wait()
    assert [await each for each in (asyncio.gather(gathering.do(2), gathering.do(3)), first)] == [[4, 6], 2]
    assert slow.groups == [[1], [2, 3]]


async def test_a_group_has_a_largest_size() -> None:
    slow = Slow()
    gathering = Gathering(slow.work)
    await asyncio.gather(*map(gathering.do, range(LARGEST_GROUP + 1)))
    assert [len(group) for group in slow.groups] == [LARGEST_GROUP, 1]


async def test_a_failure_is_that_of_its_group_alone() -> None:
    slow = Slow()
    gathering = Gathering(slow.work)
    for number in await asyncio.gather(gathering.do(-1), gathering.do(1), return_exceptions=True):
        assert isinstance(number, ValueError)
    assert await gathering.do(1) == 2


async def test_whoever_is_cancelled_leaves_the_others_theirs() -> None:
    gathering = Gathering(Slow().work)
    gone, stays = asyncio.create_task(gathering.do(1)), asyncio.create_task(gathering.do(2))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 4
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_is_settled_when_nothing_is_under_way() -> None:
    slow = Slow()
    gathering = Gathering(slow.work)
    await gathering.settled()
    asking = asyncio.create_task(gathering.do(1))
    await asyncio.sleep(0)
    await gathering.settled()
    assert slow.groups == [[1]]
    assert await asking == 2
