"""A run's folder: `run.toml` (what was asked), `journal.sqlite` (the truth while it runs), `results.ndjson` (written
once, when all is done), `log`, and `lock`. A fleet's has `records/` in place of the journal (`app.fleet.run`)."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.runs.journal import JOURNAL_FILE, create_journal
from app.runs.manifest import refuse_differing
from app.runs.results import Results, in_order
from app.runs.toml import write_toml
from domains.errors import BadInput
from evaluation.manifest import MANIFEST_FILE, Manifest, read_manifest
from evaluation.runs import RESULTS_FILE, TABLE_FILE

LOCK_FILE, LOG_FILE = "lock", "log"
RECORDS_FOLDER = "records"
"""In place of a journal: many machines work on the run (`app.fleet.run`)."""
_OURS = frozenset(
    {
        MANIFEST_FILE,
        JOURNAL_FILE,
        f"{JOURNAL_FILE}-wal",
        f"{JOURNAL_FILE}-shm",
        LOCK_FILE,
        LOG_FILE,
        TABLE_FILE,
        f"{TABLE_FILE}.new",
        f"{MANIFEST_FILE}.new",
    }
)
"""What a process may have left that ended before its run began."""


class FolderTaken(BadInput):
    """Another process works in the folder; it may be free later."""


class RunFolder:
    """A folder that this process alone works in."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.path / JOURNAL_FILE

    @property
    def results(self) -> Path:
        """The results of a finished run."""
        return self.path / RESULTS_FILE

    @property
    def log(self) -> Path:
        """What happened, one JSON object a line."""
        return self.path / LOG_FILE

    @property
    def begun(self) -> bool:
        """Whether a run was begun here, which can only be resumed."""
        return (self.path / MANIFEST_FILE).exists()

    def adopt(self, manifest: Manifest, beside: frozenset[str] = frozenset()) -> Manifest:
        """Begin this run here, or resume the one that was begun; its `run.toml`. Files named in `beside` may lie here.

        The journal is made first: with a `run.toml` there always was one, so that a missing one is noticed.

        Raises:
            BadInput: the folder holds a run of other settings (each is named), or something else.
        """
        if self.begun:
            kept = self.resume(manifest)
            if (self.path / RECORDS_FOLDER).is_dir():
                raise BadInput.at(
                    str(self.path),
                    f"holds a run that a fleet works on ({RECORDS_FOLDER}/, no journal); only a fleet goes on with it",
                )
            return kept
        foreign = sorted(entry.name for entry in self.path.iterdir() if entry.name not in _OURS | beside)
        if foreign:
            raise BadInput.at(str(self.path), f"is no run folder and not empty: there is {foreign[0]}")
        manifest = manifest.model_copy(update={"id": secrets.token_hex(8)})
        create_journal(self.journal, manifest.id)
        write_whole(self.path / MANIFEST_FILE, [write_toml(manifest.model_dump()).encode()])
        return manifest

    def resume(self, manifest: Manifest) -> Manifest:
        """The `run.toml` of the run that was begun here.

        Raises:
            BadInput: it is one of other settings (each is named) or of another format.
        """
        kept = read_manifest(self.path)
        refuse_differing(kept, manifest)
        return kept

    async def write_results(self, results: Results, total: int) -> None:
        """Write `results.ndjson` from the results of a run that is done.

        Raises:
            BadInput: the file cannot be written; an earlier one stays as it was.
        """
        new = self.path / f"{RESULTS_FILE}.new"
        try:
            with new.open("wb") as file:
                async for _, line in in_order(results, total):
                    file.write(line + b"\n")
                _settle(file)
            _take_place(new, self.results)
        except OSError as error:
            _remove(new)
            raise _unwritable(self.results, error) from error


@contextmanager
def open_run_folder(path: Path) -> Iterator[RunFolder]:
    """The folder, made if need be, for this process alone while the block lasts. The lock ends with the process.

    Raises:
        BadInput: another process works in it, or it cannot be made or written.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)  # records tell of patients: the owner's only
        descriptor = os.open(path / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise FolderTaken.at(str(path), f"another process works in this folder (process {holder or '?'})") from None
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            raise _unwritable(path, error) from error
        yield RunFolder(path)
    finally:
        os.close(descriptor)


def write_whole(path: Path, parts: list[bytes]) -> None:
    """Write a file so that it is there as a whole or not at all.

    Raises:
        BadInput: it cannot be written.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.writelines(parts)
            _settle(file)
        _take_place(new, path)
    except OSError as error:
        _remove(new)
        raise _unwritable(path, error) from error


def _settle(file: BinaryIO) -> None:
    """What was written is on the disk before the file takes its place."""
    file.flush()
    os.fsync(file.fileno())


def _take_place(new: Path, path: Path) -> None:
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(new: Path) -> None:
    with suppress(OSError):  # what stopped the writing is what is told
        new.unlink()


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput.at(str(path), f"cannot be written ({error.strerror})")
