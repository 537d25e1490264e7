"""What the queue before a backbone does while its server is down, or takes less than is declared."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.breaker import Breaker, Pauses
from agents.deadline import Deadline
from agents.evidence import NO_EVIDENCE, Evidence
from agents.lane import Lane
from agents.limits import Declared, Limits, LocalRates, Slot
from domains.errors import AskFailed
from tests.agents.limits.admitting import settled

DOWN = Evidence("down", cause="server_error")
UP = Evidence("up")
REFUSED = Evidence("up", overloaded=True, cause="rate_limited")
LONG_S = 1000.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Scene:
    """Limits whose breaker opens after 3 failures, on a clock that stands."""

    def __init__(self, concurrency: int = 10) -> None:
        self.clock = Clock()
        self.breaker = Breaker(Pauses(3, first_s=60.0, most_s=600.0), clock=self.clock, draw=lambda: 0.0)
        self.limits = Limits(LocalRates(Declared(concurrency)), breaker=self.breaker)

    async def meets(self, met: Evidence, lane: Lane = "interactive", seconds: float = LONG_S) -> Slot:
        """One request that meets this."""
        async with self.limits.slot(Deadline.after(seconds), lane) as slot:
            slot.evidence = met
        return slot

    async def down(self) -> None:
        for _ in range(3):
            await self.meets(DOWN)

    @asynccontextmanager
    async def begun(self, *lanes: Lane, met: Evidence = UP) -> AsyncIterator[list[asyncio.Task[Slot]]]:
        tasks = [asyncio.create_task(self.meets(met, lane)) for lane in lanes]
        await settled()
        yield tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def scene() -> Scene:
    return Scene()


class TestAServerThatIsDown:
    async def test_is_not_asked_and_the_caller_is_told_at_once_when_to_come_back(self, scene: Scene) -> None:
        await scene.down()
        with pytest.raises(AskFailed) as failed:
            await scene.meets(UP)
        assert (failed.value.cause, failed.value.retry_after_s) == ("server_error", 60.0)
        assert scene.limits.outage == "server_error"

    async def test_is_waited_for_by_a_batch(self, scene: Scene) -> None:
        await scene.down()
        async with scene.begun("batch", "batch") as tasks:
            assert [task.done() for task in tasks] == [False, False]
            assert scene.limits.waiting == 2

    async def test_is_not_waited_for_by_a_batch_whose_deadline_comes_sooner(self, scene: Scene) -> None:
        await scene.down()
        with pytest.raises(AskFailed) as failed:
            await scene.meets(UP, "batch", seconds=30.0)
        assert failed.value.cause == "server_error"

    async def test_is_tried_by_one_after_the_pause_and_by_everyone_if_that_succeeds(self, scene: Scene) -> None:
        await scene.down()
        async with scene.begun("batch", "batch", "batch") as tasks:
            scene.clock.now = 60.0
            probe = await scene.meets(UP)  # whoever comes wakes those in front
            await asyncio.gather(*tasks)
        assert probe.probe or any(task.result().probe for task in tasks)
        assert scene.limits.outage is None

    async def test_is_tried_by_one_at_a_time(self, scene: Scene) -> None:
        await scene.down()
        scene.clock.now = 60.0
        async with scene.limits.slot(Deadline.after(LONG_S)) as probe:
            assert probe.probe
            with pytest.raises(AskFailed):
                await scene.meets(UP)
            async with scene.begun("batch") as (waiting,):
                assert not waiting.done()

    async def test_is_tried_by_the_next_when_the_first_was_cancelled(self, scene: Scene) -> None:
        await scene.down()
        scene.clock.now = 60.0
        with pytest.raises(asyncio.CancelledError):
            async with scene.limits.slot(Deadline.after(LONG_S)):
                raise asyncio.CancelledError
        assert (await scene.meets(UP)).probe

    async def test_lets_those_know_who_wait_for_a_slot_already(self) -> None:
        scene = Scene(concurrency=3)
        ends = asyncio.Event()

        async def hold() -> None:
            async with scene.limits.slot() as slot:
                await ends.wait()
                slot.evidence = DOWN

        holding = [asyncio.create_task(hold()) for _ in range(3)]
        await settled()
        six: list[Lane] = ["interactive"] * 6
        async with scene.begun("batch", *six) as (batch, *interactive):
            ends.set()
            await asyncio.gather(*holding)
            outcomes = await asyncio.gather(*interactive, return_exceptions=True)
            assert all(isinstance(outcome, AskFailed) for outcome in outcomes)
            assert not batch.done()

    async def test_takes_few_at_first_when_it_is_back(self) -> None:
        scene = Scene(concurrency=64)
        await scene.down()
        scene.clock.now = 60.0
        await scene.meets(UP)
        assert scene.limits.adaptive.limit == 8


class TestAServerThatRefuses:
    async def test_is_never_taken_to_be_down(self, scene: Scene) -> None:
        for _ in range(9):
            await scene.meets(REFUSED)
        assert scene.breaker.state == "closed"

    async def test_is_asked_less_at_a_time(self) -> None:
        scene = Scene(concurrency=8)
        for _ in range(8):
            await scene.meets(REFUSED)
        most = 0

        async def work() -> None:
            nonlocal most
            async with scene.limits.slot() as slot:
                most = max(most, scene.limits.in_flight)
                await asyncio.sleep(0)
                slot.evidence = REFUSED

        await asyncio.gather(*(work() for _ in range(4)))
        assert most == 4

    async def test_that_takes_not_even_one_holds_everyone_back(self) -> None:
        scene = Scene(concurrency=1)
        await scene.meets(REFUSED)
        assert 0.0 < scene.limits.paused_s <= 0.5


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "begin_batch", "end", "cancel", "wait"]),
        st.integers(0, 30),
        st.sampled_from([UP, DOWN, NO_EVIDENCE]),
    ),
    max_size=60,
)


@settings(max_examples=100, deadline=None)
@given(steps=STEPS, concurrency=st.integers(1, 4))
def test_whatever_happens_no_slot_stays_held_and_nobody_stays_stuck(
    steps: list[tuple[str, int, Evidence]], concurrency: int
) -> None:
    asyncio.run(_play(steps, concurrency))


async def _play(steps: list[tuple[str, int, Evidence]], concurrency: int) -> None:
    scene = Scene(concurrency)
    running: list[tuple[asyncio.Task[None], asyncio.Event]] = []

    async def hold(lane: Lane, ends: asyncio.Event, met: Evidence) -> None:
        async with scene.limits.slot(Deadline.after(LONG_S), lane) as slot:
            assert scene.limits.in_flight <= concurrency
            await ends.wait()
            slot.evidence = met

    for step, place, met in steps:
        if step.startswith("begin"):
            ends = asyncio.Event()
            lane: Lane = "batch" if step == "begin_batch" else "interactive"
            running.append((asyncio.create_task(hold(lane, ends, met)), ends))
        elif step == "wait":
            scene.clock.now += 20.0 * place
        elif running:
            task, ends = running[place % len(running)]
            ends.set() if step == "end" else task.cancel()
        await asyncio.sleep(0)
    for task, _ in running:
        task.cancel()
    await asyncio.gather(*(task for task, _ in running), return_exceptions=True)
    assert (scene.limits.in_flight, scene.limits.waiting) == (0, 0)
    scene.clock.now += 10_000.0
    assert await asyncio.gather(*(_free(scene) for _ in range(concurrency)))


async def _free(scene: Scene) -> bool:
    """Every slot can be had again, one after another once the server is up."""
    async with asyncio.timeout(20.0):
        await scene.meets(UP, "batch")
    return True
