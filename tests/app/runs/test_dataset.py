"""Cases are read one at a time, from anywhere in the file."""

import hashlib
from pathlib import Path

import pytest

from app.runs.dataset import find_dataset, open_dataset
from domains.case import Domain, Finding, Label
from domains.catalogue import Catalogue
from domains.errors import BadInput, NotFound

DOMAIN = Domain("d", "D", "case", "label", (Label("A"), Label("B")), (Finding("f", "F", "evidence"),))
LINE = b'{"id": "%d", "evidence": [{"id": "f"}], "gold": "A"}'


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_any_case_can_be_read_first(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", b"".join(LINE % place + b"\n" for place in range(5)))

    with open_dataset(path, DOMAIN) as dataset:
        assert [dataset.case(place).id for place in (4, 0, 2)] == ["4", "0", "2"]
        assert len(dataset) == 5


@pytest.mark.parametrize("joint", [b"\n", b"\r\n", b"\n\n  \n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_blank_lines_and_line_ends_do_not_count(tmp_path: Path, joint: bytes, mark: bytes) -> None:
    path = written(tmp_path / "c.ndjson", mark + joint.join([LINE % 0, LINE % 1]))

    with open_dataset(path, DOMAIN) as dataset:
        assert [dataset.case(place).id for place in range(len(dataset))] == ["0", "1"]


def test_the_digest_is_the_whole_files_whatever_the_limit(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", b"\n".join([LINE % 0, LINE % 1]))

    with open_dataset(path, DOMAIN, limit=1) as dataset:
        assert len(dataset) == 1
        assert dataset.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_line_beyond_the_limit_is_not_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", b"\n".join([LINE % 0, b"{"]))

    with open_dataset(path, DOMAIN, limit=1) as dataset:
        dataset.check()
        assert dataset.case(0).id == "0"


def test_bad_lines_are_told_together_by_number(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", b"\n".join([LINE % 0, b"{", b"", b"[]"]))

    with open_dataset(path, DOMAIN) as dataset, pytest.raises(BadInput) as refused:
        dataset.check()

    assert [fault.where for fault in refused.value.faults] == ["c.ndjson:2", "c.ndjson:4"]


def test_a_gold_label_outside_the_domain_is_told_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", b"\n".join([LINE % 0, (LINE % 1).replace(b'"A"', b'"Z"')]))

    with open_dataset(path, DOMAIN) as dataset, pytest.raises(BadInput) as refused:
        dataset.check()

    assert [str(fault) for fault in refused.value.faults] == ["c.ndjson:2 case.gold: not a label of the domain"]


def test_a_file_without_cases_is_refused(tmp_path: Path) -> None:
    with (
        open_dataset(written(tmp_path / "c.ndjson", b"\n"), DOMAIN) as dataset,
        pytest.raises(BadInput, match="no case"),
    ):
        dataset.check()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.ndjson"), open_dataset(tmp_path / "none.ndjson", DOMAIN):
        pass


def test_a_case_without_an_id_is_called_after_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", b'\n{"evidence": [{"id": "f"}]}')

    with open_dataset(path, DOMAIN) as dataset:
        assert dataset.case(0).id == "c.ndjson:2"


def test_a_pack_stands_for_its_cases_and_brings_its_domain() -> None:
    catalogue = Catalogue()
    name = catalogue.names()[0]

    path, domain = find_dataset(name, catalogue)

    assert (path, domain) == (catalogue.path(name) / "cases.ndjson", name)
    assert find_dataset(str(path), catalogue) == (path, name)


def test_a_file_of_ones_own_brings_no_domain(tmp_path: Path) -> None:
    path = written(tmp_path / "c.ndjson", LINE % 0)

    assert find_dataset(str(path), Catalogue()) == (path, None)


def test_what_is_neither_file_nor_pack_is_named() -> None:
    with pytest.raises(NotFound, match="--dataset"):
        find_dataset("nowhere", Catalogue())
