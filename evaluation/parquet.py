"""A run as a Parquet file: one row a case."""

from pathlib import Path

from domains.errors import BadInput
from evaluation.frame import run_frame
from evaluation.runs import StoredRun


def write_parquet(run: StoredRun, path: Path) -> None:
    """Write the table of `evaluation.frame.run_frame`.

    Raises:
        BadInput: as that, or the file cannot be written.
    """
    whole = run_frame(run)
    new = path.with_name(f"{path.name}.new")
    try:
        whole.write_parquet(new)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise BadInput.at(str(path), f"cannot be written ({error.strerror or type(error).__name__})") from None
