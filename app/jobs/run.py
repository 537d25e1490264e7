"""One job as a run: what it asks of which cases, and the protocol of those who work on it.

Whoever holds the lock of a job's folder attends to the job: it alone has the job worked on and tells its state. Who
works is one of two: this process (`app.jobs.local`) or a fleet (`app.jobs.fleet`).
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from agents.personas import POOL
from aggregators import ANCHORED
from app.inquiry import Council
from app.jobs.progress import Tally
from app.jobs.schemas import BatchOptions
from app.jobs.store import JobEntry, JobFolder
from app.runs.dataset import Dataset, open_dataset
from app.runs.folder import RunFolder
from app.runs.manifest import describe_run
from app.runs.money import open_purse
from app.runs.run import Asked, Halt, backbones, resolve_run
from domains.case import Domain
from domains.catalogue import CASES_FILE as PACK_CASES
from domains.errors import BadInput, Fault
from evaluation.manifest import Manifest

T = TypeVar("T")


class JobRun(Protocol):
    """A job's run, opened by the process that attends to the job."""

    @property
    def cases(self) -> int:
        """The number of cases."""

    async def finish(self) -> None:
        """Have every case run that has no result yet, and return once the results are written.

        Raises:
            Halted: it was stopped before.
            BadInput: what it needs cannot be read or written.
        """

    async def tally(self) -> Tally:
        """How far it is.

        Raises:
            BadInput: what is kept of it cannot be read.
        """

    async def last_tally(self) -> Tally:
        """How far it came: exact, once `finish` has ended, in whatever way.

        Raises:
            BadInput: what is kept of it cannot be read.
        """


class Workplace(Protocol):
    """Who works on jobs."""

    @property
    def keeps_on(self) -> bool:
        """Whether the work goes on when the process that attends to the job ends."""

    def open(self, job: JobFolder, folder: RunFolder, halt: Halt) -> AbstractAsyncContextManager[JobRun]:
        """A job's run, begun or resumed, for as long as the block lasts; `folder` is the job's, locked.

        Raises:
            BadInput: its cases, its settings or what is kept of it cannot be used.
        """

    async def drop(self, job: JobFolder) -> None:
        """Take up no more cases of a job that was cancelled, even if nobody attends to it."""


@contextmanager
def job_cases(job: JobFolder, council: Council) -> Iterator[Dataset]:
    """The cases of a job, while the block lasts. It takes seconds to look through large ones.

    Raises:
        BadInput: they cannot be read.
    """
    entry = job.entry
    with open_dataset(_cases(job, entry, council), council.catalogue.get(entry.domain)) as dataset:
        yield dataset


async def job_manifest(job: JobFolder, folder: RunFolder, dataset: Dataset, council: Council) -> Manifest:
    """What the job's run does. Before it is begun, everything that can be wrong with its cases is looked for.

    Raises:
        BadInput: a name that nothing has any more, a line that is no case, or a calibration that was fitted to some.
    """
    wanted = resolve_run(asked_by(job.entry.options), council)
    if not folder.begun:
        if job.entry.dataset is not None:
            await in_thread(dataset.check)  # uploads were checked when they came
        await in_thread(lambda: council.calibrations.refuse_seen(wanted.anchors, dataset.labelled_seeds))
    return describe_run(wanted, dataset)


def asked_by(options: BatchOptions) -> Asked:
    """What a run with these options asks. By default every aggregator decides that can."""
    can = tuple(name for name in Asked().aggregators if options.anchor is not None or name not in ANCHORED)
    return Asked(
        domain=options.domain,
        backbone=options.backbone,
        agents=options.agents or POOL,
        aggregators=tuple(dict.fromkeys(options.aggregators or can)),
        anchors=() if options.anchor is None else (options.anchor,),
        tau=options.params.tau,
        w_r=options.params.w_r,
        elicitation=options.params.elicitation or "per_case",
        skip_unanimous=options.params.skip_unanimous,
    )


def check_options(options: BatchOptions, council: Council, *, fleet: bool = False) -> Domain:
    """The domain that these options are about.

    Raises:
        BadInput: every name that nothing has, and what a fleet cannot keep, by the path of its field.
    """
    faults: list[Fault] = []
    names = options.aggregators or []
    faults += [Fault(f"aggregators.{n}", "named twice") for n, name in enumerate(names) if name in names[:n]]
    if fleet and options.budget_usd is not None:
        faults.append(Fault("budget_usd", NO_FLEET_BUDGET))
    try:
        inquiry = resolve_run(asked_by(options), council)
    except BadInput as bad:
        faults += [Fault(_field(fault.where), fault.problem) for fault in bad.faults]
        raise type(bad)(faults) from None
    try:
        open_purse(options.budget_usd, backbones(inquiry))
    except BadInput as bad:
        faults += [Fault("budget_usd", f"{fault.where}: {fault.problem}") for fault in bad.faults]
    if faults:
        raise BadInput(faults)
    return inquiry.domain


NO_FLEET_BUDGET = (
    "a fleet works on batches here, and it cannot keep a budget: that takes one process which reserves money before "
    "each request. Leave it out, or run the batch where CROSSPATH_BATCH is local, or with crosspath evaluate --budget"
)


def _field(where: str) -> str:
    """The engine asks for one aggregator and others to compare it with; a batch for a list."""
    if where == "aggregator":
        return "aggregators.0"
    name, _, place = where.partition(".")
    return f"aggregators.{int(place) + 1}" if name == "compare" else where


def _cases(job: JobFolder, entry: JobEntry, council: Council) -> Path:
    return job.cases if entry.dataset is None else council.catalogue.path(entry.dataset) / PACK_CASES


async def in_thread(work: Callable[[], T]) -> T:
    """What the work returns. It is waited for even by who is cancelled: files must not be closed under it."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
