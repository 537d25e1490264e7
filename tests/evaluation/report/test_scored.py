"""A run is scored again, otherwise than it decided, from what is stored."""

from pathlib import Path

import pytest

from aggregators import Parameters
from domains.errors import BadInput
from evaluation.methods import headed, swept
from evaluation.report.page import render_page
from evaluation.report.scored import Rescoring, ScoredRun
from evaluation.report.study import Report, read_report
from evaluation.slices import SLICES
from tests.evaluation.report.written import RESAMPLES, records, write


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write(tmp_path / "run", records())


def again(folder: Path, **how: object) -> Report:
    return read_report([folder], Rescoring(resamples=RESAMPLES, **how))  # type: ignore[arg-type]


def correct(run: ScoredRun, method: str) -> list[float]:
    return [run.numbers.correct[method][name].correct for name in SLICES]


def test_with_other_parameters(run_folder: Path) -> None:
    (run,) = again(run_folder, tau=0.0, w_r=0.4).runs

    assert run.numbers.parameters == Parameters(tau=0.0, w_r=0.4)
    assert correct(run, "fwdjs") == correct(run, "range")
    assert correct(run, "loglin") == correct(run, swept("loglin", "w_r", 0.4))
    assert run.notes[:2] == (
        "Scored again with τ = 0; the run decided with 5.",
        "Scored again with w_R = 0.4; the run decided with 0.2.",
    )
    assert run.identities_hold


def test_with_the_heads_beside_another_anchor(run_folder: Path) -> None:
    report = again(run_folder, anchors=("mean_forward",))
    (run,) = report.runs

    assert correct(run, "loglin") == correct(run, headed("loglin", "mean_forward"))
    assert run.notes[0] == "Scored again with the heads beside mean_forward."
    assert run.identities_hold
    render_page(report)


def test_with_aggregators_that_the_run_did_not_decide_by(run_folder: Path) -> None:
    (run,) = again(run_folder).runs

    assert {"borda", "irv", "log_pool"} <= run.numbers.correct.keys()


def test_with_some_aggregators_only(run_folder: Path) -> None:
    report = again(run_folder, aggregators=("borda", "minjs"))
    (run,) = report.runs

    assert "borda" in run.numbers.correct
    assert "irv" not in run.numbers.correct
    assert run.numbers.final == "borda"
    assert run.identities_hold
    render_page(report)


@pytest.mark.parametrize(
    ("name", "problem"), [("best", "best is no aggregator"), ("ach", "ach is a judge, and the run did not ask it")]
)
def test_an_aggregator_that_cannot_be_scored_is_refused(run_folder: Path, name: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        again(run_folder, aggregators=("borda", name))


def test_parameters_out_of_range_are_refused(run_folder: Path) -> None:
    with pytest.raises(BadInput, match=r"params\.w_r"):
        again(run_folder, w_r=1.5)
