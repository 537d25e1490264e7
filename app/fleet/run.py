"""A run that a fleet works on, as it lies on the shared volume.

    runs/NAME/   run.toml · records/ (a file of each process that worked on it; app.fleet.files) · stopped (why no more
                 cases are taken up, if so) · results.ndjson (written once, when every case has a record)

The volume is the truth; what Redis knows of a run is made from it again where Redis lost it.
"""

import asyncio
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from agents.redis_client import RedisServer
from agents.replies import RedisReplies, ReplyStore
from app.fleet.results import FleetResults, open_fleet_results
from app.inquiry import Council, Inquiry
from app.runs.dataset import Dataset, open_dataset
from app.runs.folder import RECORDS_FOLDER, RunFolder, write_whole
from app.runs.frozen import freeze
from app.runs.manifest import describe_run, refuse_differing
from app.runs.results import Results, in_order
from app.runs.run import Asked, resolve_run
from app.runs.toml import write_toml
from app.settings import Settings
from domains.catalogue import CASES_FILE
from domains.errors import BadInput
from evaluation.manifest import MANIFEST_FILE, Manifest, read_manifest
from evaluation.runs import RESULTS_FILE

STOPPED_FILE = "stopped"
CANCELLED = "cancelled"
"""The reason of a stop after which the cases in flight are not wanted either."""
PATIENCE_S = 5.0
_NAME = re.compile(r"\w[\w.-]{0,127}", re.ASCII)


@dataclass(frozen=True)
class FleetRun:
    """A run of a fleet, opened in a worker."""

    folder: Path
    manifest: Manifest
    dataset: Dataset
    inquiry: Inquiry
    results: FleetResults

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.dataset)


def run_folder(runs: Path, name: str) -> Path:
    """The folder of a run; its name came over the network.

    Raises:
        BadInput: it is no name of a run.
    """
    if not _NAME.fullmatch(name):
        raise BadInput.at("run", "is no name of a run")
    return runs / name


def begin_fleet_run(folder: RunFolder, manifest: Manifest) -> Manifest:
    """Begin this run in a folder, for a fleet to work on, or find it begun; its `run.toml`. The cases were checked, and
    lie there or on a path that every machine has.

    Raises:
        BadInput: the folder holds a run of other settings, or one that was begun in one process.
    """
    if folder.journal.exists():
        raise BadInput.at(str(folder.path), "holds a run that was begun in one process; only that can go on with it")
    if folder.begun:
        return folder.resume(manifest)
    manifest = manifest.model_copy(update={"id": secrets.token_hex(8)})
    try:
        (folder.path / RECORDS_FOLDER).mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput.at(str(folder.path), f"cannot be written ({error.strerror})") from None
    write_whole(folder.path / MANIFEST_FILE, [write_toml(manifest.model_dump()).encode()])
    return manifest


@asynccontextmanager
async def open_fleet_run(
    folder: Path, council: Council, redis: "Redis", replies: ReplyStore | None = None
) -> AsyncIterator[FleetRun]:
    """A run as this machine would work on it, for as long as the block lasts; `replies` instead of the council's store.

    Raises:
        BadInput: it is not there; or this machine would ask otherwise than the run began (other settings, prompts,
            version or cases: each is named), so that its records would not belong together.
    """
    manifest = read_manifest(folder)
    if not is_fleet_run(folder):
        raise BadInput.at(str(folder), f"is no run of a fleet: it has no {RECORDS_FOLDER}/")
    asked = asked_by_manifest(manifest)
    council = await freeze(asked, council, folder)
    inquiry = resolve_run(asked, council, None if replies is None else lambda _: replies)
    async with AsyncExitStack() as stack:
        cases = open_dataset(_cases(folder, manifest), inquiry.domain, manifest.dataset.cases)
        dataset = await asyncio.to_thread(stack.enter_context, cases)  # large files take seconds to look through
        here = describe_run(inquiry, dataset)
        here = here.model_copy(update={"dataset": here.dataset.model_copy(update={"path": manifest.dataset.path})})
        refuse_differing(manifest, here)
        results = await stack.enter_async_context(open_fleet_results(folder, manifest.id, redis))
        yield FleetRun(folder, manifest, dataset, inquiry, results)


@asynccontextmanager
async def open_patient_replies(settings: Settings) -> AsyncIterator[ReplyStore | None]:
    """The reply store of a worker: Redis, waited for as long as nobody waits for a worker, so that a busy one does not
    make a case look degraded; None where the settings name none or keep no replies."""
    if settings.redis_url is None or settings.replies == 0:
        yield None
        return
    server = RedisServer(settings.redis_url.get_secret_value(), PATIENCE_S)
    try:
        yield RedisReplies(server, settings.replies)
    finally:
        await server.close()


def asked_by_manifest(manifest: Manifest) -> Asked:
    """What the run asks of every case."""
    return Asked(
        domain=manifest.domain.name,
        backbone=next(iter(manifest.backbones)),
        agents=manifest.asked.agents,
        aggregators=manifest.asked.aggregators,
        anchors=manifest.asked.anchors,
        tau=manifest.parameters.tau,
        w_r=manifest.parameters.w_r,
        elicitation=manifest.parameters.elicitation,
        skip_unanimous=manifest.parameters.skip_unanimous,
        deadline_s=manifest.rules.deadline_s,
    )


def is_fleet_run(folder: Path) -> bool:
    """Whether a run was begun here for a fleet."""
    return (folder / RECORDS_FOLDER).is_dir() and (folder / MANIFEST_FILE).is_file()


def is_finished(folder: Path) -> bool:
    """Whether the results are written."""
    return (folder / RESULTS_FILE).is_file()


def stopped(folder: Path) -> str | None:
    """Why no more cases of a run are taken up; None if they are."""
    try:
        return (folder / STOPPED_FILE).read_text("utf-8").strip()
    except FileNotFoundError:
        return None


def note_stop(folder: Path, reason: str) -> None:
    """Note that no more cases are taken up."""
    write_whole(folder / STOPPED_FILE, [f"{reason}\n".encode()])


def lift_stop(folder: Path) -> None:
    """Let a stopped run go on."""
    (folder / STOPPED_FILE).unlink(missing_ok=True)


def unfinished_runs(runs: Path) -> Iterator[str]:
    """The names of the runs that a fleet has to go on with."""
    if not runs.is_dir():
        return
    for folder in sorted(runs.iterdir()):
        if is_fleet_run(folder) and not is_finished(folder) and stopped(folder) is None:
            yield folder.name


async def write_results_once(folder: Path, results: Results, total: int) -> bool:
    """Write `results.ndjson` if every case has a record; whether it is there now. Any number of processes may try."""
    target = folder / RESULTS_FILE
    if target.exists():
        return True
    new = folder / f"{RESULTS_FILE}.{secrets.token_hex(4)}.new"
    written = 0
    try:
        with new.open("wb") as file:
            async for _, line in in_order(results, total):
                file.write(line + b"\n")
                written += 1
            file.flush()
            os.fsync(file.fileno())
        if written < total:
            return False
        new.replace(target)
    except OSError as error:
        raise BadInput.at(str(target), f"cannot be written ({error.strerror})") from None
    finally:
        new.unlink(missing_ok=True)
    return True


def _cases(folder: Path, manifest: Manifest) -> Path:
    """The file of the cases: where it was or, uploaded, in the run's own folder (volumes are mounted anywhere)."""
    stated = Path(manifest.dataset.path)
    return stated if stated.is_file() else folder / CASES_FILE
