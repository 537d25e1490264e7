import hashlib
from pathlib import Path

from domains.ddxplus.patients import PatientFile
from domains.ddxplus.provenance import establish, file_md5

HELLO_BLOB = "ce013625030ba8dba906f756967f9e9ca394464a"
"""Git's id of the bytes `hello` and a newline."""


def hello(folder: Path) -> PatientFile:
    path = folder / "hello.csv"
    path.write_text("hello\n")
    return PatientFile(path)


def test_the_known_blob_makes_the_patients_official(tmp_path: Path) -> None:
    patients = hello(tmp_path)
    checked = establish([patients.path], patients, official_blob=HELLO_BLOB)
    assert checked.official
    assert checked.verdict.startswith("official bytes of the patients, told by their git blob id")


def test_any_other_blob_makes_other_bytes(tmp_path: Path) -> None:
    patients = hello(tmp_path)
    checked = establish([patients.path], patients)
    assert not checked.official
    assert checked.verdict == "other bytes than the official release"


def test_the_articles_sums_outweigh_the_blob(tmp_path: Path) -> None:
    patients = hello(tmp_path)
    checked = establish([patients.path], patients, {"hello.csv": "0" * 32}, HELLO_BLOB)
    assert not checked.official


def test_a_file_that_the_article_does_not_list_is_not_official(tmp_path: Path) -> None:
    patients = hello(tmp_path)
    assert not establish([patients.path], patients, {}).official


def test_sums_are_those_of_the_bytes(tmp_path: Path) -> None:
    assert file_md5(hello(tmp_path).path) == hashlib.md5(b"hello\n").hexdigest()
