"""Bold and underline, held to what the paper itself prints (its tables 1, 2, 3, 5 and appendices D and E)."""

from evaluation.paper import paper_backbones
from evaluation.report.emphasis import marks_of
from evaluation.tables import Table, anchor_table, collision_table, main_table, phi_table, weight_table

PAPER = [published.numbers for published in paper_backbones().values()]


def marked(table: Table, mark: str) -> list[list[str]]:
    """For each row the titles of the columns so marked."""
    return [
        [column.title for column, found in zip(table.columns, row, strict=True) if found == mark]
        for row in marks_of(table)
    ]


def test_the_main_tables_are_marked_as_in_the_paper() -> None:
    for table in (main_table(PAPER, "all"), main_table(PAPER, "disagree")):
        assert marked(table, "best") == [["MinJS", "LogLin"]] * 5
        assert marked(table, "second") == [["FwdJS"]] * 3 + [["ACH"]] + [["FwdJS"]]


def test_the_best_anchor_of_each_backbone_is_bold() -> None:
    table = anchor_table(PAPER)
    bold = {(row, column) for row, marks in enumerate(marks_of(table)) for column, mark in enumerate(marks) if mark}
    stand_alone_on_disagree = {(1, 3), (4, 3), (7, 3), (9, 3), (13, 3)}  # R on GLM, MeanF on the others
    heads = {(row, column) for row in range(0, 15, 3) for column in (1, 2, 4, 5)}
    assert bold == heads | stand_alone_on_disagree | {(row, 0) for row in range(1, 15, 3)}


def test_equals_are_all_bold_in_the_sweep() -> None:
    best = [
        [(column.slice, column.title) for column, mark in zip(weight_table(PAPER).columns, row, strict=True) if mark]
        for row in marks_of(weight_table(PAPER))
    ]
    assert best == [
        [("all", "0.2"), ("all", "0.3"), ("all", "0.4"), ("disagree", "0.4")],
        [("all", "0.3"), ("disagree", "0.3")],
        [("all", "0.2"), ("disagree", "0.2")],
        [("all", "0.2"), ("disagree", "0.5")],
        [("all", "0.2"), ("disagree", "0.2")],
    ]


def test_the_lowest_collision_and_the_lowest_phi_are_bold() -> None:
    assert marked(collision_table(PAPER, "all"), "best") == [["R"]] * 5
    assert marked(collision_table(PAPER, "disagree"), "best") == [["R"]] * 5
    assert marked(phi_table(PAPER), "best") == [["R", "R"]] * 5
