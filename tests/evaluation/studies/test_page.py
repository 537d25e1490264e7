"""The page of every study, and the files beside it: whole, escaped, and the same numbers throughout."""

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from evaluation.intervals import Interval
from evaluation.studies.account import Account
from evaluation.studies.anchor import BreakEven, study_anchor
from evaluation.studies.anchor_account import anchor_account, ends_text, point_text
from evaluation.studies.correlation import RHO, Matched, study_moved_errors, study_worlds
from evaluation.studies.correlation_account import correlation_account
from evaluation.studies.labelled import study_labelled
from evaluation.studies.labelled_account import labelled_account
from evaluation.studies.material import Material
from evaluation.studies.page import document, render_study, study_files
from evaluation.studies.pools import study_pools
from evaluation.studies.pools_account import pools_account
from tests.evaluation.studies.materials import RESAMPLES, material

HOSTILE = "<script>alert(1)</script>"


def hostile(stand_in: bool = False) -> tuple[Material, ...]:
    """Two backbones whose names would do harm."""
    first = material(0, HOSTILE, cases=120)
    second = replace(material(1, "b", cases=120), gold_N=first.gold_N)
    return tuple(replace(each, about=replace(each.about, stand_in=stand_in)) for each in (first, second))


def worlds(some: tuple[Material, ...]) -> list[Matched]:
    return [Matched(each, 1.0, dict.fromkeys(RHO, each.log_anchor_NL), dict.fromkeys(RHO, 1.0)) for each in some]


ACCOUNTS: dict[str, Callable[[tuple[Material, ...]], Account]] = {
    "anchor": lambda some: anchor_account(study_anchor(some, draws=1, resamples=RESAMPLES), RESAMPLES),
    "moved": lambda some: correlation_account(study_moved_errors(some, draws=1, resamples=RESAMPLES), RESAMPLES),
    "worlds": lambda some: correlation_account(study_worlds(worlds(some), resamples=RESAMPLES), RESAMPLES),
    "labelled": lambda some: labelled_account(study_labelled(some, draws=2, resamples=RESAMPLES), RESAMPLES),
    "pools": lambda some: pools_account(study_pools(some, resamples=RESAMPLES), RESAMPLES),
}


@pytest.fixture(scope="module", params=sorted(ACCOUNTS))
def account(request: pytest.FixtureRequest) -> Account:
    return ACCOUNTS[str(request.param)](hostile())


def test_the_page_is_whole_and_needs_nothing_else(account: Account) -> None:
    page = render_study(account)
    assert page.lstrip().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert "http://" not in page
    assert "https://" not in page
    assert "src=" not in page


def test_names_from_a_run_are_escaped(account: Account) -> None:
    assert HOSTILE not in render_study(account)
    assert "&lt;script&gt;" in render_study(account)


def test_the_page_says_what_was_varied_and_on_how_many_cases(account: Account) -> None:
    page = render_study(account)
    for section in account.sections:
        assert f'id="{section.anchor}"' in page
    assert "n = 120 of 120 cases" in page or "n = 30 of 120 cases" in page
    assert "seed 0" in page
    assert f"{RESAMPLES} resamples" in page
    assert all(len(text) > 40 for text in account.varied)


def test_a_run_of_a_real_model_is_called_no_stand_in(account: Account) -> None:
    assert "proves nothing" not in render_study(account)
    assert document(account)["stand_in"] is None


def test_every_sheet_is_a_csv_with_its_rows_and_the_json_has_the_same(account: Account) -> None:
    files = study_files(account)
    kept = json.loads(files[f"{account.name}.json"])
    assert set(files) == {f"{account.name}.html", f"{account.name}.json"} | {
        f"{account.name}-{name}.csv" for name in account.sheets
    }
    for name, rows in account.sheets.items():
        read = list(csv.DictReader(io.StringIO(files[f"{account.name}-{name}.csv"])))
        assert len(read) == len(rows) == len(kept["rows"][name]) > 0
        assert set(read[0]) == set(rows[0])


def test_the_first_table_fits_its_columns(account: Account) -> None:
    for table in (account.first, *(table for section in account.sections for table in section.tables)):
        assert table.rows
        for row in table.rows:
            assert len(row.headers) == len(table.corner)
            assert len(row.cells) == len(table.columns)
        assert not table.groups or sum(width for _, width in table.groups) == len(table.columns)


def test_rows_that_share_a_header_are_as_many_as_it_says(account: Account) -> None:
    for section in account.sections:
        for table in section.tables:
            assert sum(row.span for row in table.rows) == len(table.rows)


@pytest.mark.parametrize("name", ["anchor", "worlds"])
def test_a_stand_ins_page_says_so_everywhere(name: str) -> None:
    account = ACCOUNTS[name](hostile(stand_in=True))
    page = render_study(account)
    notice = "stand-in: no language model; tests code and proves nothing about any model"
    charts = [chart for section in account.sections for _, charts in section.charts for chart in charts]
    assert page.count(notice) >= 2 + len(charts)
    assert document(account)["stand_in"] == notice


@pytest.mark.parametrize(
    ("low", "at", "high", "point", "ends"),
    [
        (0.2, 0.3, 0.4, "30.0", "20.0–40.0"),
        (-math.inf, 0.3, 0.4, "30.0", "lowest level to 40.0"),
        (-math.inf, 0.3, math.inf, "30.0", "lowest level to above all levels"),
        (-math.inf, -math.inf, -math.inf, "pays at every level", ""),
        (math.inf, math.inf, math.inf, "pays at none", ""),
    ],
)
def test_a_point_beyond_every_level_is_told_in_words(low: float, at: float, high: float, point: str, ends: str) -> None:
    found = BreakEven(at, Interval(low, high), at)
    assert (point_text(found), ends_text(found.interval)) == (point, ends)
