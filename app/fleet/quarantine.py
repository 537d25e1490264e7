"""Runs a suspect part of a run in a process of its own, so that the worker survives whatever it does."""

import asyncio
import sys
from collections.abc import Sequence

import structlog

from app.assembly import open_council
from app.fleet.attempts import ALONE, IN_CHILD, IN_WORKER, Attempts
from app.fleet.index import open_queue, queue_url
from app.fleet.run import FleetRun, open_fleet_run, open_patient_replies, run_folder
from app.fleet.supervisor import FORESEEN
from app.runs.run import Run, run_chunk
from app.settings import Settings
from domains.case import Case
from domains.errors import CrosspathError
from evaluation.records import Record, Spent

TOGETHER, ONE_BY_ONE = "together", "one-by-one"
LATE_S = 120.0
"""How much longer than its cases' deadline a child may take before it is killed."""

_log = structlog.get_logger(__name__)


class ChildDied(Exception):
    """A process that ran a part of a run came to an end that nobody foresaw."""


class ChildFailed(CrosspathError):
    """A process that ran a part of a run failed in a way that has a name; its log says which."""


class Quarantine:
    """One child at a time in a worker: whoever is in it when it dies is to blame."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def run(self, run: FleetRun, attempts: Attempts, start: int, stop: int) -> None:
        """Run a suspect chunk to its end. A case that kills its process too often gets a failed record.

        Raises:
            ChildFailed: a child could not do its work; it may be tried again.
        """
        async with self._lock:
            part = f"{start}-{stop}"
            if await attempts.count(part) < IN_WORKER + IN_CHILD:
                try:
                    async with attempts.attempt(part):
                        await _in_child(run, start, stop, TOGETHER)
                    return
                except ChildDied:
                    _log.warning("child_died", run=run.folder.name, start=start, stop=stop)
            # Every death is counted for one case, unless the child dies before it begins one.
            for _ in range(ALONE * (stop - start) + ALONE):
                if not await run.results.missing(start, stop):
                    return
                try:
                    await _in_child(run, start, stop, ONE_BY_ONE)
                except ChildDied:
                    _log.warning("child_died", run=run.folder.name, start=start, stop=stop, alone=True)
            raise ChildFailed("processes for a part of the run die before they begin a case")


async def _in_child(run: FleetRun, start: int, stop: int, how: str) -> None:
    only = f"{run.folder.name}:{start}:{stop}:{how}"
    command = [sys.executable, "-m", "crosspath", "worker", "--only", only]
    # Its own session: what stops the worker lets the child finish. Its stdin ends with the worker, and it with that.
    child = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE, start_new_session=True)
    rounds = stop - start if how == ONE_BY_ONE else 1
    try:
        async with asyncio.timeout(rounds * run.inquiry.deadline_s + LATE_S):
            code = await child.wait()
    except TimeoutError:
        raise ChildDied("it did not end in time") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if code == FORESEEN:
        raise ChildFailed("a part of the run cannot be run in a process of its own")
    if code != 0:
        raise ChildDied(f"exit code {code}")


async def run_only(settings: Settings, only: str) -> None:
    """What a child does: run what is missing of a part, `NAME:START:STOP:HOW`.

    Raises:
        CrosspathError: it cannot be done.
    """
    name, start, stop, how = only.rsplit(":", 3)
    redis = open_queue(queue_url(settings))
    try:
        async with open_council(settings) as council, open_patient_replies(settings) as replies:
            folder = run_folder(settings.data_dir / "runs", name)
            async with open_fleet_run(folder, council, redis, replies) as run:
                if how == TOGETHER:
                    await run_chunk(Run(run.dataset, run.inquiry, run.results), int(start), int(stop))
                else:
                    await _one_by_one(run, Attempts(redis, run.manifest.id), int(start), int(stop))
    finally:
        await redis.aclose()


async def _one_by_one(run: FleetRun, attempts: Attempts, start: int, stop: int) -> None:
    """Run each missing case with nothing beside it, so that what ends this process is on its account."""
    for place in await run.results.missing(start, stop):
        part = f"alone {place}"
        if await attempts.count(part) >= ALONE:
            _log.error("case_given_up", run=run.folder.name, place=place)
            await run.results.put(place, given_up(run, run.dataset.case(place)))
            continue
        async with attempts.attempt(part):
            await run_chunk(Run(run.dataset, run.inquiry, run.results), place, place + 1)


def given_up(run: FleetRun, case: Case) -> Record:
    """The record of a case that nobody could run."""
    inquiry = run.inquiry
    names: Sequence[str] = [agent.name for agent in inquiry.agents]
    return Record(
        id=case.id,
        gold=case.gold,
        outcome="failed",
        degraded=["agents_usable:0"],
        causes=dict.fromkeys(names, "crashed"),
        decisions={},
        posteriors=dict.fromkeys(names),
        generic=None,
        ranks=None,
        usage=Spent(calls=0, prompt_tokens=None, completion_tokens=None, cached_tokens=None, cost_usd=None),
        seed=inquiry.domain.case_seed(case),
    )
