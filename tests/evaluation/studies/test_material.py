"""What a study starts from: the pool of a run, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from domains.errors import BadInput
from evaluation.methods import HEADS, alone
from evaluation.slices import SLICES
from evaluation.studies.material import POOLING, read_materials, take
from tests.evaluation.report.written import AGENTS, failed, records, reported, write
from tests.evaluation.studies.materials import material, run_folders


def test_the_pool_and_its_numbers_are_the_reports_own(tmp_path: Path) -> None:
    some = records(60)
    some[3], some[7] = failed(some[3], "cot"), failed(some[7], "generic")
    folder = write(tmp_path / "run", some)
    numbers = reported(folder).runs[0].numbers
    (found,) = read_materials([folder])
    assert (len(found), found.offered, found.excluded) == (58, 60, numbers.excluded)
    for name in SLICES:
        for method in (*POOLING, alone("reverse")):
            share = numbers.share(method, name)
            assert share is not None
            assert found.right_N(method)[found.mask(name)].sum() == share.correct


def test_the_stand_ins_answers_are_known_by_the_records(tmp_path: Path) -> None:
    some = [each.model_copy(update={"stand_in": True}) for each in records(40)]
    (simulated,) = read_materials([write(tmp_path / "one", some, model="any/name")])
    (real,) = read_materials([write(tmp_path / "two", records(40), model="any/name")])
    assert (simulated.about.stand_in, real.about.stand_in) == (True, False)


def test_runs_of_one_backbone_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    first, second = run_folders(tmp_path, ("a", "a"), cases=40)
    assert [each.title for each in read_materials([first, second])] == ["a (run-0)", "a (run-1)"]


def test_taking_cases_takes_all_of_them() -> None:
    whole = material(0, cases=60)
    row_N = np.array([5, 1, 40])
    part = take(whole, row_N)
    np.testing.assert_array_equal(part.log_anchor_NL, whole.log_anchor_NL[row_N])
    np.testing.assert_array_equal(part.panel.divergence_NK, whole.panel.divergence_NK[row_N])
    assert part.id_N == ("case-5", "case-1", "case-40")
    for head in HEADS:
        np.testing.assert_array_equal(part.right_N(head), whole.right_N(head)[row_N])


def test_a_run_without_gold_labels_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [each.model_copy(update={"gold": None}) for each in records(40)])
    with pytest.raises(BadInput, match="no case has a gold label; a study needs them"):
        read_materials([folder])


def test_a_run_without_both_backward_steps_is_refused(tmp_path: Path) -> None:
    asked = {"agents": AGENTS, "anchors": ["reverse_likelihood"], "aggregators": ["loglin"]}
    folder = write(tmp_path / "run", records(40), asked=asked)
    with pytest.raises(BadInput, match="did not ask both backward steps: evaluate with the anchor reverse"):
        read_materials([folder])


def test_too_few_cases_are_refused_with_why(tmp_path: Path) -> None:
    some = records(30)
    folder = write(tmp_path / "run", [failed(each, "cot") if place % 2 else each for place, each in enumerate(some)])
    with pytest.raises(BadInput, match=r"15 of 30 cases .*; a study needs 20 \(left out: agent_failed:cot 15\)"):
        read_materials([folder])


def test_agents_that_never_disagree_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", records(40, agents=["cot"]))
    with pytest.raises(BadInput, match="the agents never disagree, so that there is nothing to study"):
        read_materials([folder])


def test_the_same_run_twice_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", records(40))
    with pytest.raises(BadInput, match="is given twice"):
        read_materials([folder, tmp_path / "." / "run"])
