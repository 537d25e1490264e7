"""A folder with a DDXPlus release → the pack `ddxplus`, complete or not at all."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from domains.ddxplus import pack, provenance
from domains.ddxplus.pack import PACK
from domains.ddxplus.patients import PatientFile, find_patients, open_patients, read_patients
from domains.ddxplus.release import CONDITIONS_FILE, EVIDENCES_FILE, Release, load_release
from domains.ddxplus.shares import ROOT_COUNTS_FILE, build_table
from domains.ddxplus.vocabulary import Vocabulary, build_vocabulary
from domains.ddxplus.wording import WORDED_QUESTIONS, Wording, load_wording, questions_digest
from domains.errors import BadInput


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was made of a release.

    `cases` counts the cases of each label; `md5` has the sum of every file used; `official` says whether they are the
    official bytes and `verdict` how that was told; `knowledge` where the stand-in's probabilities come from.
    """

    path: Path
    cases: Mapping[str, int]
    findings: int
    exemplars: int
    official: bool
    verdict: str
    knowledge: str
    md5: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of cases."""
        return sum(self.cases.values())

    def summary(self) -> str:
        """The report, a fact a line."""
        facts = [
            f"{self.path}: {self.total} cases, {len(self.cases)} labels, {self.findings} findings, "
            f"{self.exemplars} exemplars",
            f"files: {self.verdict}",
            f"knowledge: {self.knowledge}",
            *self.notes,
        ]
        return "\n".join(facts)


@dataclass(frozen=True, slots=True)
class _Input:
    folder: Path
    patients: PatientFile
    release: Release
    vocabulary: Vocabulary
    wording: Wording


def convert(source: Path, out: Path, article_md5: Mapping[str, str] | None = None) -> Conversion:
    """Write `out/ddxplus/` from a release: a folder with its files, or a patient file (CSV or zip) beside them.

    The pack is built elsewhere in `out` and then put in place, so that a crash leaves the old pack or none; what else
    lies in an old pack's folder (personas) stays. `article_md5` are the sums of the article's own file list.

    Raises:
        BadInput: a file is missing or cannot be used; the fault names file and line.
    """
    given = _read_input(source)
    target = out / PACK
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{PACK}-", dir=out) as work:
            made = Path(work) / PACK
            made.mkdir()
            conversion = _write(given, made, target, article_md5)
            _put_in_place(made, target, Path(work) / "replaced")
    except OSError as error:
        raise BadInput.at(str(target), f"cannot be written ({error.strerror})") from None
    return conversion


def _read_input(source: Path) -> _Input:
    folder = source if source.is_dir() else source.parent
    if not source.exists():
        raise BadInput.at(str(source), "there is no such folder or file")
    patients = find_patients(source, "test") if source.is_dir() else open_patients(source)
    release = load_release(folder)
    if patients is None:
        raise BadInput.at("release_test_patients.csv", "neither this file nor release_test_patients.zip is there")
    wording = load_wording()
    return _Input(folder, patients, release, build_vocabulary(release, wording), wording)


def _write(given: _Input, folder: Path, target: Path, article_md5: Mapping[str, str] | None) -> Conversion:
    labels = [given.wording.label(name) for name in given.release.conditions]
    prefix = given.patients.path.stem.removeprefix("release_").removesuffix("_patients")
    table = build_table(given.folder, given.release, given.vocabulary)
    checked = provenance.establish(_used_files(given), given.patients, article_md5)
    pack.write_tables(folder, labels, given.vocabulary, table)
    cases = pack.write_cases(
        folder, read_patients(given.patients), prefix, given.vocabulary, [label.name for label in labels]
    )
    exemplars, left_out = pack.write_exemplars(folder, given.vocabulary, given.release.conditions)
    pack.write_domain(folder, checked, table, cases)
    pack.copy_simulation(folder)
    return Conversion(
        path=target,
        cases=cases,
        findings=len(given.vocabulary.findings),
        exemplars=exemplars,
        official=checked.official,
        verdict=checked.verdict,
        knowledge=table.origin,
        md5=checked.md5,
        notes=(*_wording_notes(given), *table.notes, *left_out),
    )


def _used_files(given: _Input) -> list[Path]:
    used = [given.folder / CONDITIONS_FILE, given.folder / EVIDENCES_FILE, given.patients.path]
    counts, train = given.folder / ROOT_COUNTS_FILE, find_patients(given.folder, "train")
    if counts.is_file():
        used.append(counts)
    elif train is not None:
        used.append(train.path)
    return used


def _wording_notes(given: _Input) -> list[str]:
    notes = []
    codes = sorted(given.release.evidences.keys() - given.wording.sentences.keys())
    if codes:
        notes.append(f"stated by their questions, for want of a written statement: {', '.join(codes)}")
    if questions_digest(given.release.evidences) != WORDED_QUESTIONS:
        notes.append("the questions differ from those that the statements were written for: compare findings.csv")
    return notes


def _put_in_place(made: Path, target: Path, replaced: Path) -> None:
    """Two renames; what the old folder held beside the pack's own files moves along as a copy."""
    if not target.exists():
        made.rename(target)
        return
    for entry in target.iterdir():
        if entry.name not in pack.PACK_FILES:
            (shutil.copytree if entry.is_dir() else shutil.copy2)(entry, made / entry.name)
    target.rename(replaced)
    try:
        made.rename(target)
    except OSError:
        replaced.rename(target)
        raise
