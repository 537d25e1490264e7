"""A finished run, read from its folder: `run.toml` and `results.ndjson`, streamed."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from domains.errors import BadInput
from evaluation.arrays import Batch, gather
from evaluation.manifest import MANIFEST_FILE, Manifest, read_manifest
from evaluation.records import Record, decode_record

RESULTS_FILE = "results.ndjson"
TABLE_FILE = "table.json"
"""The elicitation table of a run that takes its ranks from one."""
BATCH = 1_000
"""Cases of one batch of arrays."""


@dataclass(frozen=True)
class StoredRun:
    """A run folder whose run is finished."""

    folder: Path
    manifest: Manifest

    def __len__(self) -> int:
        """The number of cases."""
        return self.manifest.dataset.cases

    def lines(self) -> Iterator[bytes]:
        """Each record as it stands in the file, in case order, without its line end.

        Raises:
            BadInput: the file is cut off, or has more or fewer records than the run has cases.
        """
        path = self.folder / RESULTS_FILE
        count = 0
        try:
            with path.open("rb") as file:
                for line in file:
                    count += 1
                    if not line.endswith(b"\n"):
                        raise BadInput.at(f"{path}:{count}", "is cut off; evaluate into the folder again to rewrite it")
                    yield line[:-1]
        except OSError as error:
            raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None
        if count != len(self):
            raise BadInput.at(
                str(path), f"has {count} records, and {MANIFEST_FILE} says {len(self)}; evaluate into the folder again"
            )

    def records(self) -> Iterator[Record]:
        """Each record, in case order.

        Raises:
            BadInput: as `lines`, or a line is no record; it is named.
        """
        for number, line in enumerate(self.lines(), 1):
            yield decode_record(line, f"{self.folder / RESULTS_FILE}:{number}")

    def batches(self, size: int = BATCH) -> Iterator[Batch]:
        """The cases as arrays, `size` at a time.

        Raises:
            BadInput: as `records`, or a record is of another run.
        """
        records = self.records()
        while some := list(islice(records, size)):
            yield gather(some, self.manifest)

    def whole(self) -> Batch:
        """All cases as arrays: in memory about 100 bytes an agent and label of each case."""
        return gather(list(self.records()), self.manifest)


def load_run(folder: Path) -> StoredRun:
    """The finished run in this folder.

    Raises:
        BadInput: it is no run folder, one of another version, or the run is not finished.
    """
    manifest = read_manifest(folder)
    if not (folder / RESULTS_FILE).is_file():
        raise BadInput.at(
            str(folder), f"the run is not finished: it has no {RESULTS_FILE}; evaluate into the folder again to go on"
        )
    return StoredRun(folder, manifest)
