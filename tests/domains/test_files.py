"""Files that cannot be read are told with the line, right also behind cells of several lines."""

from pathlib import Path

import pytest

from domains.catalogue import check_domain
from tests.domains.bread import FILES, FINDINGS, LABELS, the_fault, write_pack


class TestFiles:
    @pytest.mark.parametrize("name", sorted(FILES))
    def test_a_missing_file_is_named(self, tmp_path: Path, name: str) -> None:
        assert the_fault(tmp_path, {name: None}) == f"{name}: the file is missing"

    @pytest.mark.parametrize("name", sorted(FILES))
    def test_bytes_that_are_not_utf8_are_named_by_line(self, tmp_path: Path, name: str) -> None:
        spoilt = FILES[name].encode() + b"\n\xff\n"
        line = spoilt.count(b"\n", 0, spoilt.index(b"\xff")) + 1
        assert the_fault(tmp_path, {name: spoilt}) == f"{name}:{line}: is not UTF-8"

    def test_their_line_is_right_behind_a_byte_order_mark(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"labels.csv": b"\xef\xbb\xbflabel\n\xff"}) == "labels.csv:2: is not UTF-8"

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        assert [str(fault) for fault in check_domain(tmp_path / "cake")] == ["cake: there is no such folder"]

    def test_a_folder_in_a_files_place(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"labels.csv": None})
        (pack / "labels.csv").mkdir()
        (fault,) = check_domain(pack)
        assert fault.where == "labels.csv"


class TestTables:
    def test_an_empty_file_has_no_header(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"labels.csv": ""}) == "labels.csv:1: has no header"

    def test_a_missing_column(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": "label,description\nA,\nB,\n"})
        assert fault == "labels.csv:1: the column 'aliases' is missing"

    def test_an_unknown_column(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"findings.csv": FINDINGS.replace(",group", ",groop")})
        assert fault == "findings.csv:1: the column 'groop' is unknown"

    def test_a_column_twice(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": "label,aliases,description,label\nA,,,A\n"})
        assert fault == "labels.csv:1: the column 'label' is there twice"

    def test_a_row_with_a_cell_too_few(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,\n"})
        assert fault == "labels.csv:5: has 2 cells; the header names 3 columns"

    def test_a_row_with_a_cell_too_many(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,,,\n"})
        assert fault == "labels.csv:5: has 4 cells; the header names 3 columns"

    def test_a_quote_that_is_never_closed_is_named_where_it_opens(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + '"Burnt,,\nStale,,\n'})
        assert fault.startswith("labels.csv:5: is not well-formed CSV")

    def test_lines_are_counted_right_behind_cells_of_several_lines(self, tmp_path: Path) -> None:
        table = LABELS.replace("tastes of nothing", '"tastes\nof\n\nnothing"') + "Burnt,\n"
        assert the_fault(tmp_path, {"labels.csv": table}).startswith("labels.csv:8: has 2 cells")

    def test_a_row_of_several_lines_is_named_by_its_first(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + 'Dead yeast,,"on\ntwo lines"\n'})
        assert fault == "labels.csv:5: the label was given before, at labels.csv:4"
