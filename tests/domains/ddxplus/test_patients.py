import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.ddxplus.patients import PatientFile, find_patients, open_patients, read_patients
from domains.errors import BadInput
from tests.domains.ddxplus.tiny_release import HEADER, ROWS, patient, patients, zip_patients

GOOD = patient(30, "F", "Influenza", ("E_91",))


def csv_file(folder: Path, text: str) -> PatientFile:
    path = folder / "release_test_patients.csv"
    path.write_text(text, "utf-8")
    return PatientFile(path)


def test_every_row_is_read(tmp_path: Path) -> None:
    read = [(p.age, p.sex, p.pathology, p.tokens) for p in read_patients(csv_file(tmp_path, patients()))]
    assert read == list(ROWS)


def test_the_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    text = "EVIDENCES,PATHOLOGY,AGE,SEX\n\"['E_91', 'E_56_@_4']\",Influenza,7,M\n"
    (read,) = read_patients(csv_file(tmp_path, text))
    assert (read.age, read.sex, read.tokens) == (7, "M", ("E_91", "E_56_@_4"))


@given(tokens=st.lists(st.text("EV_@0123456789", min_size=1), max_size=8))
def test_python_lists_are_read_as_python_writes_them(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("patients")
    (read,) = read_patients(csv_file(folder, patients(patient(3, "F", "Influenza", tuple(tokens)))))
    assert list(read.tokens) == tokens


@pytest.mark.parametrize("member", ["release_test_patients.csv", "release_test_patients"])
def test_a_zip_with_one_file_reads_like_the_file(tmp_path: Path, member: str) -> None:
    plain = csv_file(tmp_path, patients())
    zipped = open_patients(zip_patients(tmp_path / "zipped.zip", patients(), member))
    assert [p.tokens for p in read_patients(zipped)] == [p.tokens for p in read_patients(plain)]
    assert zipped.git_blob() == plain.git_blob()


def test_the_csv_is_preferred_to_its_zip(tmp_path: Path) -> None:
    plain = csv_file(tmp_path, patients())
    zip_patients(tmp_path / "release_test_patients.zip", patients())
    assert find_patients(tmp_path, "test") == plain


def test_no_patient_file_is_none(tmp_path: Path) -> None:
    assert find_patients(tmp_path, "test") is None


def test_a_zip_of_two_files_is_refused(tmp_path: Path) -> None:
    path = zip_patients(tmp_path / "release_test_patients.zip", patients())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("notes.txt", "")
    with pytest.raises(BadInput, match=r"release_test_patients\.zip: holds 2 files"):
        open_patients(path)


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "release_test_patients.zip").write_text("nothing of the kind")
    with pytest.raises(BadInput, match="is no zip"):
        find_patients(tmp_path, "test")


def test_a_damaged_zip_is_refused_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("release_test_patients.csv", patients(GOOD))
    path.write_bytes(path.read_bytes().replace(b"E_91", b"E_97"))  # a proper row, but for the sum in the zip
    with pytest.raises(BadInput, match=r"release_test_patients\.zip: is a damaged"):
        list(read_patients(open_patients(path)))


@pytest.mark.parametrize(
    ("content", "blob"),
    [
        ("", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        ("hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
    ],
)
def test_the_blob_id_is_gits(tmp_path: Path, content: str, blob: str) -> None:
    assert csv_file(tmp_path, content).git_blob() == blob


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("30,,F,Influenza", "has 4 cells; the header names 6 columns"),
        ("thirty,,F,Influenza,['E_91'],", "AGE is no whole number from 0 to 150"),
        ("-1,,F,Influenza,['E_91'],", "AGE is no whole number from 0 to 150"),
        ("151,,F,Influenza,['E_91'],", "AGE is no whole number from 0 to 150"),
        ("30,,F,Influenza,E_91,", "EVIDENCES is no list of quoted texts"),
        ("30,,F,Influenza,['E_91' 'E_92'],", "EVIDENCES is no list of quoted texts"),
        ("30,,F,Influenza,\"['E_91', 4]\",", "EVIDENCES is no list of quoted texts"),
        ("30,,F,Influenza,\"['E_91'] and so on\" more,", "is not well-formed CSV"),
    ],
)
def test_a_malformed_row_is_named_by_its_line_and_not_quoted(tmp_path: Path, row: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        list(read_patients(csv_file(tmp_path, f"{HEADER}\n{GOOD}\n\n{row}\n{GOOD}\n")))
    assert str(caught.value).startswith(f"release_test_patients.csv:4: {problem}")
    assert "Influenza" not in str(caught.value)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"release_test_patients\.csv:1: needs each of the columns AGE, SEX once"):
        list(read_patients(csv_file(tmp_path, "PATHOLOGY,EVIDENCES\n")))


def test_an_empty_file_lacks_its_columns(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs each of the columns"):
        list(read_patients(csv_file(tmp_path, "")))


def test_other_bytes_than_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients.csv"
    path.write_bytes(HEADER.encode() + b"\n\xff\xfe\n")
    with pytest.raises(BadInput, match="is not UTF-8"):
        list(read_patients(PatientFile(path)))


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone\.csv: cannot be read"):
        list(read_patients(PatientFile(tmp_path / "gone.csv")))
