"""Drawn cases, and the search for a profile."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from simulator.drawn_cases import ABSENT_TOLD, PRESENT_TOLD, draw_cases
from simulator.fitting import Trial, fit, main
from simulator.stand_in import load_pack
from simulator.world import state
from tests.simulator.worlds import DOMAIN, KNOWLEDGE, PACK, PACKS, USUAL

COUNT = 4_000


def test_drawn_labels_and_findings_have_the_packs_frequencies() -> None:
    cases, gold_N = draw_cases(DOMAIN, KNOWLEDGE, COUNT, seed=0)
    np.testing.assert_allclose(np.bincount(gold_N) / len(gold_N), KNOWLEDGE.prior_L, atol=0.025)
    of_drought = [dict(case) for case, gold in zip(cases, gold_N, strict=True) if gold == 0]
    drawn = COUNT * KNOWLEDGE.prior_L[0]  # a case that came out empty is left out, and told nothing
    for finding in (0, 4, 5):
        told = sum(case.get(finding) is True for case in of_drought) / drawn
        assert told == pytest.approx(PRESENT_TOLD * KNOWLEDGE.probability_LJ[0, finding], abs=0.03)


def test_drawn_absences_are_few_and_never_context() -> None:
    cases, _ = draw_cases(DOMAIN, KNOWLEDGE, COUNT, seed=0)
    absent = Counter(DOMAIN.findings[place].kind for case in cases for place, present in case if not present)
    assert set(absent) == {"evidence"}
    assert absent["evidence"] < COUNT * len(DOMAIN.findings) * ABSENT_TOLD


def test_a_drawn_case_has_one_value_of_a_group_at_most() -> None:
    pack = load_pack(PACKS[1])
    cases, _ = draw_cases(pack.domain, pack.knowledge, 300, seed=0)
    for case in cases:
        groups = [pack.domain.findings[place].group for place, present in case if present]
        assert max(Counter(group for group in groups if group).values(), default=0) <= 1


def test_more_cases_begin_with_the_same_ones() -> None:
    few, gold_few = draw_cases(DOMAIN, KNOWLEDGE, 20, seed=3)
    many, gold_many = draw_cases(DOMAIN, KNOWLEDGE, 40, seed=3)
    assert many[: len(few)] == few
    assert gold_many[: len(few)].tolist() == gold_few.tolist()
    assert draw_cases(DOMAIN, KNOWLEDGE, 20, seed=4)[0] != few


def test_a_fit_comes_nearer_to_its_targets() -> None:
    cases, gold_N = draw_cases(DOMAIN, KNOWLEDGE, 60, seed=0)
    trial = Trial(PACK, state(DOMAIN, cases), gold_N, "garden", {"reverse": 0.55})
    start = replace(USUAL, back=6.0)
    fitted = fit(trial, start)
    assert trial.loss(fitted, [fitted.seed]) < trial.loss(start, [start.seed])
    assert fitted.shared == start.shared


def test_a_fit_without_targets_only_looks_for_a_seed() -> None:
    cases, gold_N = draw_cases(DOMAIN, KNOWLEDGE, 20, seed=0)
    trial = Trial(PACK, state(DOMAIN, cases), gold_N, "garden", {})
    assert replace(fit(trial, USUAL), seed=USUAL.seed) == USUAL


def test_the_command_prints_every_profile_and_its_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(PACKS[1]), "--cases", str(PACKS[1] / "cases.ndjson")]) == 0
    printed = capsys.readouterr().out
    assert "[profiles.default]" in printed
    assert "disagree" in printed


@pytest.mark.parametrize("option", [["--fit", "accuracy=0.7"], ["--fit", "random=high"], ["--set", "seed=3"]])
def test_a_target_that_is_none_is_named(capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    assert main([str(PACKS[1]), *option]) == 1
    assert "wanted NAME=NUMBER" in capsys.readouterr().err


def test_a_folder_that_is_no_pack_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/nowhere"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
