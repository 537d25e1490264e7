"""Whether the bytes of a release are the official ones, and what `domain.toml` says of them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from domains.ddxplus.patients import PatientFile
from domains.errors import BadInput

OFFICIAL_TEST_BLOB = "9f160c523dfeaf4a455b3e52f34742ad6045d400"
"""Git blob id of the full English test CSV (134,529 rows)."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The MD5 of every file used (by name), whether they are the official release, and how that was told."""

    md5: Mapping[str, str]
    official: bool
    verdict: str


def establish(
    used: list[Path],
    patients: PatientFile,
    article_md5: Mapping[str, str] | None = None,
    official_blob: str = OFFICIAL_TEST_BLOB,
) -> Provenance:
    """By the article's own sums where they are given, else by the git blob id of the test CSV.

    Raises:
        BadInput: a file cannot be read.
    """
    md5 = {path.name: file_md5(path) for path in used}
    if article_md5 is not None:
        official = all(article_md5.get(name) == digest for name, digest in md5.items())
        verdict = "official bytes: every file agrees with the MD5 sum in the article's file list"
    else:
        official = patients.git_blob() == official_blob
        verdict = "official bytes of the patients, told by their git blob id; the JSON files were not checked"
    return Provenance(md5, official, verdict if official else "other bytes than the official release")


def file_md5(path: Path) -> str:
    """MD5 of a file, hexadecimal: the sum that the article's file list gives."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:
        raise BadInput.at(path.name, f"cannot be read ({error.strerror})") from None
