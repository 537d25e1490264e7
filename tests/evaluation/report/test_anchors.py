"""Calibrations by name in a report: those of the run, and those that it is scored with afterwards."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anchor.artefact import Calibration, save_calibration
from anchor.labelled import case_key
from anchor.ordinal import DEFAULT_MAPS
from domains.errors import BadInput
from evaluation.report.page import render_page
from evaluation.report.scored import Rescoring, ScoredRun
from evaluation.report.study import Report, read_report
from evaluation.slices import SLICES
from tests.app.calibrated import calibration
from tests.evaluation.report.written import AGENTS, LABELS, RESAMPLES, records, write

NAME = "calibrated:mine"
SHARP = replace(DEFAULT_MAPS, temperature=0.5)


def fitted(**changes: Any) -> Calibration:
    """A calibration for the runs that `write` makes."""
    origin = {"domain": "d", "backbone": "some/model", "prompts": {"evidence": "none", "context": "none"}}
    return calibration(**({"marginal": dict.fromkeys(LABELS, 0.25)} | origin | changes))


def scored_with(folder: Path, *anchors: str, calibrations: Path | None = None) -> Report:
    how = Rescoring(anchors=anchors, resamples=RESAMPLES, calibrations=calibrations or folder.parent / "calibrations")
    return read_report([folder], how)


def run_with(path: Path, kept: Calibration) -> Path:
    """A run that asked for a calibration."""
    save_calibration(path / "calibrations", "mine", kept)
    asked = {"agents": AGENTS, "anchors": ["reverse", NAME], "aggregators": ["loglin"]}
    versions = {"service": "0", "prompts": {}, "personas": {}, "calibrations": {NAME: kept.digest}}
    return write(path / "run", records(), asked=asked, versions=versions)


def correct(run: ScoredRun, method: str) -> list[float]:
    return [run.numbers.correct[method][name].correct for name in SLICES]


def test_a_calibration_that_the_run_asked_for_stands_in_the_report(tmp_path: Path) -> None:
    report = scored_with(run_with(tmp_path, fitted(maps=SHARP)))

    assert NAME in report.runs[0].numbers.anchors
    (table,) = [table for table in report.further if table.name == "named_anchors"]
    assert [row.part for row in table.rows] == ["R", NAME]
    assert NAME in render_page(report)
    assert report.identities_hold


def test_one_that_changes_nothing_has_the_numbers_of_r(tmp_path: Path) -> None:
    (run,) = scored_with(run_with(tmp_path, fitted())).runs

    for method in ("alone", "minjs", "fwdjs", "loglin"):
        assert correct(run, f"{method}@{NAME}") == correct(run, f"{method}@reverse")


def test_its_gain_is_held_to_be_the_same_in_cases_on_both_slices(tmp_path: Path) -> None:
    (run,) = scored_with(run_with(tmp_path, fitted(maps=SHARP))).runs

    assert f"gain_on_disagree_only:fwdjs@{NAME}" in {identity.name for identity in run.identities}


def test_one_that_was_replaced_since_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    folder = run_with(tmp_path, fitted())
    save_calibration(tmp_path / "calibrations", "mine", fitted(maps=SHARP))

    (run,) = scored_with(folder).runs

    assert NAME not in run.numbers.anchors
    assert any(note.startswith(f"{NAME} is left out: ") and "replaced" in note for note in run.notes)


def test_one_that_is_gone_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    (run,) = scored_with(run_with(tmp_path, fitted()), calibrations=tmp_path / "elsewhere").runs

    assert any(note.startswith(f"{NAME} is left out: no calibration of this name") for note in run.notes)


def test_a_run_is_scored_with_a_calibration_that_was_fitted_afterwards(tmp_path: Path) -> None:
    save_calibration(tmp_path / "calibrations", "mine", fitted(maps=SHARP))

    (run,) = scored_with(write(tmp_path / "run", records()), NAME).runs

    assert run.numbers.main_anchor == NAME
    assert correct(run, "loglin") == correct(run, f"loglin@{NAME}")
    assert f"Scored again with the heads beside {NAME}." in run.notes


def refused(tmp_path: Path, kept: Calibration, name: str = NAME) -> str:
    save_calibration(tmp_path / "calibrations", "mine", kept)
    with pytest.raises(BadInput) as caught:
        scored_with(write(tmp_path / "run", records()), name)
    return str(caught.value)


def test_one_that_saw_these_cases_is_refused(tmp_path: Path) -> None:
    assert "1 of these 40 cases were used to fit it" in refused(tmp_path, fitted(training=case_key(records()[3].seed)))


def test_one_that_was_fitted_for_another_backbone_is_refused(tmp_path: Path) -> None:
    assert "fitted for the backbone 'other'" in refused(tmp_path, fitted(backbone="other"))


def test_one_that_was_fitted_for_other_labels_is_refused(tmp_path: Path) -> None:
    assert "labels of the domain" in refused(tmp_path, fitted(marginal={"Flu": 0.5, "Ague": 0.5}))


def test_a_name_that_is_no_anchor_is_refused(tmp_path: Path) -> None:
    assert "oracle is no anchor; there are: reverse" in refused(tmp_path, fitted(), name="oracle")
