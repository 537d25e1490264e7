"""Runs read and scored: what a report stands on, and what it refuses in one clear line."""

from pathlib import Path

import pytest

from domains.errors import BadInput
from evaluation.methods import CALIBRATED, CLASS_BIAS, headed
from evaluation.report.page import render_page
from evaluation.report.study import Report
from tests.evaluation.report.written import AGENTS, LABELS, backbone, failed, records, reported, write


def test_every_identity_holds_on_the_report_s_own_numbers(report: Report) -> None:
    assert report.identities_hold
    assert report.identities == sum(len(run.identities) for run in report.runs) > 100


def test_a_backbone_of_the_paper_goes_by_its_title_and_has_the_paper_s_numbers_beside_its_own(report: Report) -> None:
    assert [run.title for run in report.runs] == ["Qwen3-30B", "stand-in-llama"]
    ours, stand_in = report.tables[0].rows
    assert all(cell.paper is not None for cell in ours.cells[:13] if cell is not None)
    assert all(cell.paper is None for cell in stand_in.cells if cell is not None)


def test_only_the_stand_in_is_said_to_be_none(report: Report) -> None:
    assert report.stand_ins == ("stand-in-llama",)


def test_calibration_is_cross_fitted_at_both_capacities_with_paired_intervals(report: Report) -> None:
    numbers, gains = report.runs[0].numbers, report.runs[0].gains
    for anchor in (CALIBRATED, CLASS_BIAS):
        for method in ("alone", "minjs", "fwdjs", "loglin"):
            after, before = headed(method, anchor), headed(method, "reverse")
            gain = numbers.correct[after]["all"].correct - numbers.correct[before]["all"].correct
            assert gain / numbers.cases["all"] in gains[after, "all"]


def test_runs_of_the_same_model_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    some = records(12)
    report = reported(write(tmp_path / "one", some), write(tmp_path / "two", some), write(tmp_path / "x" / "two", some))
    assert [run.title for run in report.runs] == ["some/model (one)", "some/model (two) #2", "some/model (two) #3"]


def test_a_pool_of_several_models_is_called_by_all_of_them(tmp_path: Path) -> None:
    both = {"one": backbone("a"), "two": backbone("b")}
    assert reported(write(tmp_path / "run", records(12), backbones=both)).runs[0].title == "a + b"


def test_in_what_runs_differ_is_said(tmp_path: Path, report: Report) -> None:
    other = {"path": "/x", "sha256": "other", "cases": 12}
    mixed = reported(write(tmp_path / "a", records(12)), write(tmp_path / "b", records(12), dataset=other))
    assert mixed.notes == ("The runs differ in the cases: compare their rows with care.",)
    assert report.notes == ()


def test_a_case_in_which_all_agents_failed_is_left_out_and_counted(tmp_path: Path) -> None:
    some = records(30)
    some[3] = failed(some[3], *AGENTS)
    report = reported(write(tmp_path / "run", some))
    numbers = report.runs[0].numbers
    assert (numbers.offered, numbers.cases["all"]) == (30, 29)
    assert numbers.excluded == {f"agent_failed:{name}": 1 for name in sorted(AGENTS)}
    assert "agent_failed:cot 1" in render_page(report)


def test_a_failed_generic_answer_is_counted_once(tmp_path: Path) -> None:
    some = records(30)
    some[0] = failed(some[0], "generic")
    assert reported(write(tmp_path / "run", some)).runs[0].numbers.excluded == {"generic_failed": 1}


def test_one_agent_only_is_reported_and_said(tmp_path: Path) -> None:
    report = reported(write(tmp_path / "run", records(20, ["cot"])))
    assert report.runs[0].numbers.cases == {"all": 20, "disagree": 0}
    assert any(note.startswith("One agent only") for note in report.runs[0].notes)
    assert report.identities_hold
    assert "Cannot be told." in render_page(report)


def test_one_gold_label_only_is_reported_without_calibration_and_said(tmp_path: Path) -> None:
    some = [each.model_copy(update={"gold": LABELS[0]}) for each in records(20)]
    report = reported(write(tmp_path / "run", some))
    assert any(note.startswith("Every gold label is the same one") for note in report.runs[0].notes)
    assert any(note.startswith("No calibration") for note in report.runs[0].notes)
    assert CALIBRATED not in report.runs[0].numbers.anchors
    render_page(report)


def test_a_run_without_an_anchor_has_its_rules_and_says_what_is_missing(tmp_path: Path) -> None:
    some = [each.model_copy(update={"ranks": None, "generic": None}) for each in records(20)]
    asked = {"agents": AGENTS, "anchors": [], "aggregators": ["plurality"]}
    report = reported(write(tmp_path / "run", some, asked=asked))
    assert "loglin" not in report.runs[0].numbers.correct
    assert any(note.startswith("No anchor") for note in report.runs[0].notes)
    assert "Cannot be told." in render_page(report)


def refused(*folders: Path) -> str:
    with pytest.raises(BadInput) as caught:
        reported(*folders)
    (fault,) = caught.value.faults
    return str(fault)


def test_no_run_folder(tmp_path: Path) -> None:
    assert "is no run folder" in refused(tmp_path)


def test_a_run_of_another_version(tmp_path: Path) -> None:
    path = write(tmp_path / "run", records(6)) / "run.toml"
    path.write_text(path.read_text("utf-8").replace("format = 1", "format = 9"), "utf-8")
    assert "is of format 9" in refused(path.parent)


def test_a_run_without_gold_labels(tmp_path: Path) -> None:
    some = [each.model_copy(update={"gold": None}) for each in records(6)]
    assert "no case has a gold label" in refused(write(tmp_path / "run", some))


def test_a_run_in_which_no_case_got_every_answer(tmp_path: Path) -> None:
    some = [failed(each, "cot") for each in records(6)]
    line = refused(write(tmp_path / "run", some))
    assert "no case got every answer" in line
    assert "agent_failed:cot 6" in line


def test_an_anchor_that_is_nowhere(tmp_path: Path) -> None:
    some = [failed(each, "evidence", "context") for each in records(6)]
    line = refused(write(tmp_path / "run", some))
    assert "step_failed:evidence 6" in line
    assert "step_failed:context 6" in line


def test_runs_of_different_domains(tmp_path: Path) -> None:
    here = write(tmp_path / "here", records(6))
    there = write(tmp_path / "there", records(6), domain={"name": "other", "digest": "dd", "labels": LABELS})
    line = refused(here, there)
    assert "'other'" in line
    assert "report them apart" in line


def test_runs_of_the_same_domain_with_other_labels(tmp_path: Path) -> None:
    here = write(tmp_path / "here", records(6))
    there = write(tmp_path / "there", records(6), domain={"name": "d", "digest": "dd", "labels": LABELS[::-1]})
    assert "with other labels" in refused(here, there)
