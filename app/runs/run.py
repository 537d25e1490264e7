"""The unit of work behind every way to run a batch: `run_chunk(run, start, stop)`.

It may be run any number of times, by anyone, at the same time: the results are the truth about what is done. One
process calls it once for all its cases, workers call it for 25 at a time.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.personas import POOL
from agents.replies import ReplyStore
from aggregators import AGGREGATORS, JUDGES
from anchor.anchors import DEFAULT_ANCHOR
from app.hearing import Hearing, hear
from app.inquiry import Council, Elicitation, Inquiry, resolve
from app.runs.dataset import Dataset
from app.runs.recording import write_record
from app.runs.results import PAGE, Results
from app.schemas.decide import CaseBody, DecideBody, DecideParams
from domains.errors import BadInput, CrosspathError, Fault
from evaluation.records import Record

CHUNK = 25
"""Cases of one unit of work."""
DEADLINE_S = 3600.0
"""By when a case must be done: late, since waiting for a turn counts. Each request has a limit of its own."""
STOPPING: frozenset[str] = frozenset({"budget", "unauthorised"})
"""Causes that every other case would meet too: the run stops, and the case is left to be run again."""


class Halted(CrosspathError):
    """The run stopped before its end, and can be resumed. The message says why."""


@dataclass
class Halt:
    """Tells a run to take up no more cases; those in flight are finished."""

    reason: str = ""

    def call(self, reason: str) -> None:
        """Stop, for this reason unless there was one before."""
        self.reason = self.reason or reason


CALCULATED = tuple(name for name in AGGREGATORS if name not in JUDGES)
"""The aggregators that ask nobody; a judge is one more call for every case, and asked by name."""


@dataclass(frozen=True)
class Asked:
    """What a run asks of every case, by name. The first anchor is the one that decisions rest on."""

    domain: str | None = None
    backbone: str = "default"
    agents: Sequence[str] = POOL
    aggregators: Sequence[str] = CALCULATED
    anchors: Sequence[str] = (DEFAULT_ANCHOR,)
    tau: float = 5.0
    w_r: float = 0.2
    elicitation: Elicitation = "per_case"
    skip_unanimous: bool = False
    deadline_s: float = DEADLINE_S


@dataclass(frozen=True)
class Done:
    """A case that was run: its record, whether it was kept, what was said, and how long it took."""

    place: int
    record: Record
    kept: bool
    hearing: Hearing
    seconds: float


async def nobody(done: Done) -> None:
    """Watches nothing."""


@dataclass(frozen=True)
class Run:
    """A run: the cases, what is asked of each (`inquiry`, about no case), and where the results go.

    `watch` is told of every case that was run; `halt` is looked at before each.
    """

    dataset: Dataset
    inquiry: Inquiry
    results: Results
    halt: Halt = field(default_factory=Halt)
    watch: Callable[[Done], Awaitable[None]] = nobody


def resolve_run(asked: Asked, council: Council, replies: Callable[[Backbone], ReplyStore] | None = None) -> Inquiry:
    """What a run asks, about no case yet; `replies` gives the run's own reply store for a backbone.

    Raises:
        BadInput: every name that nothing has.
    """
    if replies is not None:
        own = {name: backbone.with_store(replies(backbone)) for name, backbone in council.backbones.items()}
        council = replace(council, backbones=own)
    if not asked.aggregators or not asked.agents:
        raise BadInput.at("aggregators" if asked.agents else "agents", "name at least one")
    body = _body(asked)
    others = [name for name in dict.fromkeys(asked.anchors[1:]) if name != asked.anchors[0]]
    faults: list[Fault] = []
    inquiry = resolve(body, council, faults, others)
    if faults:
        raise BadInput(faults)
    return replace(inquiry, deadline_s=asked.deadline_s, lane="batch")


def _body(asked: Asked) -> DecideBody:
    """The request that would ask the same of one case."""
    try:
        return DecideBody(
            case=CaseBody(),
            domain=asked.domain,
            aggregator=asked.aggregators[0],
            compare=list(asked.aggregators[1:]),
            anchor=asked.anchors[0] if asked.anchors else None,
            backbone=asked.backbone,
            agents=list(asked.agents),
            params=DecideParams(
                tau=asked.tau, w_r=asked.w_r, elicitation=asked.elicitation, skip_unanimous=asked.skip_unanimous
            ),
        )
    except ValidationError as error:
        problems = error.errors(include_input=False, include_context=False, include_url=False)
        raise BadInput([Fault(".".join(map(str, p["loc"])), p["msg"]) for p in problems]) from None


def backbones(inquiry: Inquiry) -> list[Backbone]:
    """Every backbone that is asked, once."""
    asked = [inquiry.backbone, *(agent.backbone for agent in inquiry.agents)]
    return list({backbone.name: backbone for backbone in asked}.values())


def cases_in_flight(inquiry: Inquiry) -> int:
    """How many cases keep the backbones busy: each has about half of its calls under way at a time."""
    anchors = inquiry.anchors.values()
    steps = {kind for anchor in anchors for kind in anchor.steps}
    calls = len(inquiry.agents) + len(steps) + len(inquiry.judges) + any(anchor.generic for anchor in anchors)
    slots = sum(backbone.settings.concurrency for backbone in backbones(inquiry))
    return math.ceil(2 * slots / calls) + 1


async def run_chunk(
    run: Run,
    start: int,
    stop: int,
    *,
    in_flight: int = CHUNK,
    retry: bool = False,
    shared: asyncio.Semaphore | None = None,
) -> None:
    """Run the cases from `start` to before `stop` that have no record yet; with `retry` also those with failed
    questions, of which only these are asked again. At most `in_flight` cases are in memory at a time; `shared` bounds
    those of several chunks together instead.

    Raises:
        Halted: the run was stopped; what is done is kept.
        BadInput: a line of the data set is no case, or the results cannot be written.
    """
    free = shared or asyncio.Semaphore(in_flight)
    try:
        async with asyncio.TaskGroup() as group:
            async for place in _missing(run, start, stop, retry):
                await free.acquire()
                if run.halt.reason:
                    free.release()
                    break
                # Not in the task itself: one that is cancelled before it begins would keep its turn.
                group.create_task(run_case(run, place)).add_done_callback(lambda _: free.release())
    except BaseExceptionGroup as failures:
        raise first_of(failures) from failures
    if run.halt.reason:
        raise Halted(run.halt.reason)


async def _missing(run: Run, start: int, stop: int, retry: bool) -> AsyncIterator[int]:
    for page in range(start, stop, PAGE):
        for place in await run.results.missing(page, min(page + PAGE, stop), retry):
            yield place


async def run_case(run: Run, place: int) -> None:
    """Ask about one case and keep its record. Its gold label goes to the record and to nobody else."""
    case = run.dataset.case(place)
    inquiry = replace(run.inquiry, case=replace(case, gold=None))
    started = time.perf_counter()
    hearing = await hear(inquiry, Deadline.after(inquiry.deadline_s))
    seconds = time.perf_counter() - started
    stopping = [
        outcome.failure for outcome in hearing.outcomes if outcome.failure and outcome.failure.cause in STOPPING
    ]
    if stopping:
        run.halt.call(f"{stopping[0].cause}: {stopping[0].detail}")
        return
    record = write_record(hearing, case)
    kept = await run.results.put(place, record)
    await run.watch(Done(place, record, kept, hearing, seconds))


def first_of(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that stopped a group of tasks; the others are usually its echoes."""
    first = failures.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first
