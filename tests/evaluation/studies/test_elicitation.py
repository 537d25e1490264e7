"""The study of the two sources of ranks: on the same answers of the agents nothing but the ranks is exchanged."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor.network import RankArray
from anchor.table import Table, empty_table, table_origin
from anchor.table_file import write_table
from domains.case import Domain, Finding, Label
from domains.errors import BadInput
from evaluation.records import Record
from evaluation.runs import TABLE_FILE
from evaluation.studies.elicitation import PER_CASE, ElicitationStudy, study_elicitation
from evaluation.studies.elicitation_account import elicitation_account
from evaluation.studies.gains import SCORED
from evaluation.studies.page import document, render_study
from tests.evaluation.report.written import LABELS, records, write
from tests.evaluation.studies.materials import RESAMPLES

DOMAIN = Domain(
    name="d",
    title="",
    case_noun="patient",
    label_noun="disease",
    labels=tuple(map(Label, LABELS)),
    findings=(Finding("e1", "E 1", "evidence"), Finding("e2", "E 2", "evidence"), Finding("c1", "C 1", "context")),
)
ORIGIN = table_origin(DOMAIN, "http://models.invalid/v1", "some/model", {})
TABLE = {"tau": 5.0, "w_r": 0.2, "seed": 0, "elicitation": "table", "table": "digest"}


def all_alike(cases: int = 60) -> list[Record]:
    """Cases to which the elicitor gave the same ranks throughout: those of the first."""
    some = records(cases)
    return [each.model_copy(update={"ranks": some[0].ranks}) for each in some]


def table_of(record: Record, samples: int = 1) -> Table:
    """The table that holds a record's ranks, the other samples all 0."""
    ranks = record.ranks
    assert ranks is not None
    assert ranks.evidence is not None
    assert ranks.context is not None
    rank_JL = np.array([*(ranks.evidence.ranks or ()), *(ranks.context.ranks or ())], dtype=np.int8)
    rank_SJL: RankArray = np.zeros((samples, 3, len(LABELS)), dtype=np.int8)
    rank_SJL[0] = rank_JL
    return Table(DOMAIN, rank_SJL)


def runs(folder: Path, some: list[Record], table: Table, **changes: Any) -> list[Path]:
    """Both runs' folders."""
    asked = write(folder / "asked", some)
    tabled = write(folder / "tabled", records(len(some), seed=9), parameters=TABLE, **changes)
    (tabled / TABLE_FILE).write_bytes(write_table(table, ORIGIN, datetime.date(2026, 3, 1), "0"))
    return [asked, tabled]


def study(folder: Path, some: list[Record], table: Table) -> ElicitationStudy:
    return study_elicitation(runs(folder, some, table), resamples=RESAMPLES)


def test_a_table_of_the_very_same_ranks_changes_nothing(tmp_path: Path) -> None:
    some = all_alike()

    found = study(tmp_path, some, table_of(some[0]))

    assert found.levels == (PER_CASE, "table, 1 answer a pair")
    for gains in found.gains.values():
        for method in SCORED:
            change = gains.change(1, 0, method)
            assert (change.value, change.interval.low, change.interval.high) == (0.0, 0.0, 0.0)
    assert found.agreement["evidence"].same == 1.0
    assert found.agreement["evidence"].distance == 0.0


def test_another_table_changes_the_anchor_and_not_the_agents(tmp_path: Path) -> None:
    some = records(60)

    found = study(tmp_path, some, table_of(some[0], samples=3))

    assert found.levels[1:] == ("table, 1 answer a pair", "table, 2 answers a pair", "table, 3 answers a pair")
    gains = found.gains["all"]
    assert gains.change(1, 0, "alone").value != 0.0
    assert gains.base == pytest.approx(found.material.right_N("range").mean())
    assert found.agreement["context"].correlation is not None


def test_a_table_without_answers_leaves_every_rank_as_it_was_asked(tmp_path: Path) -> None:
    found = study(tmp_path, records(60), empty_table(DOMAIN))

    assert found.gains["all"].change(1, 0, "loglin").value == 0.0
    assert found.agreement["evidence"].pairs == 0


def test_costs_are_each_run_s_own(tmp_path: Path) -> None:
    some = all_alike()

    found = study(tmp_path, some, table_of(some[0]))

    assert found.costs[PER_CASE].calls == 4.0
    assert found.costs["table"].completion_tokens is None  # unknown, not 0


def test_the_order_of_the_runs_does_not_matter(tmp_path: Path) -> None:
    some = all_alike()
    folders = runs(tmp_path, some, table_of(some[0]))

    assert study_elicitation(folders[::-1], resamples=RESAMPLES).levels[0] == PER_CASE


@pytest.mark.parametrize(
    ("choose", "named"),
    [
        (lambda asked, tabled: [asked], "give two runs"),
        (lambda asked, tabled: [tabled], "these are 0 and 1"),
        (lambda asked, tabled: [asked, asked], "these are 2 and 0"),
    ],
)
def test_other_runs_than_one_of_each_kind_are_refused(
    tmp_path: Path, choose: Callable[[Path, Path], list[Path]], named: str
) -> None:
    some = records(60)

    with pytest.raises(BadInput, match=named):
        study_elicitation(choose(*runs(tmp_path, some, table_of(some[0]))))


def test_runs_of_other_cases_are_refused(tmp_path: Path) -> None:
    some = records(60)
    folders = runs(tmp_path, some, table_of(some[0]), dataset={"path": "x", "sha256": "other", "cases": 60})

    with pytest.raises(BadInput, match="another cases"):
        study_elicitation(folders)


def test_a_table_that_was_changed_is_refused(tmp_path: Path) -> None:
    some = records(60)
    folders = runs(tmp_path, some, table_of(some[0]))
    path = folders[1] / TABLE_FILE
    path.write_text(path.read_text().replace('"stand_in": false', '"stand_in": true'))

    with pytest.raises(BadInput, match="digest"):
        study_elicitation(folders)


def test_it_is_told_as_a_page_and_as_rows(tmp_path: Path) -> None:
    some = all_alike()
    account = elicitation_account(study(tmp_path, some, table_of(some[0])), RESAMPLES)

    assert render_study(account).rstrip().endswith("</html>")
    rows = document(account)["rows"]
    assert len(rows["elicitation"]) == 2 * 2 * len(SCORED)
    assert {row["step"] for row in rows["agreement"]} == {"context", "evidence"}
    assert "Calls a case: 4.00 instead of 4.00" in account.answer
