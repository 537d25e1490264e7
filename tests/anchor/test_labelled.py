"""Labelled cases: which of them count, in what folds, and which sets are refused."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchor.labelled import FOLDS, Labelled, case_folds, case_key, refuse_overlap, refuse_unfit
from anchor.network import Step
from domains.errors import BadInput
from tests.anchor.labelled_cases import drawn

seeds = st.lists(st.text(min_size=1, max_size=4), unique=True, min_size=1, max_size=60)


@given(seeds, st.integers(0, 2**32))
def test_folds_go_by_the_hash_of_a_case_and_not_by_its_place(seed_N: list[str], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(seed_N))
    moved = case_folds([seed_N[case] for case in order])
    np.testing.assert_array_equal(moved, case_folds(seed_N)[order])


@given(seeds)
def test_folds_are_of_equal_size(seed_N: list[str]) -> None:
    sizes = np.bincount(case_folds(seed_N), minlength=FOLDS)
    assert sizes.max() - sizes.min() <= 1


@given(seeds)
def test_the_same_case_twice_is_in_one_fold(seed_N: list[str]) -> None:
    fold_N = case_folds([*seed_N, *seed_N])
    np.testing.assert_array_equal(fold_N[: len(seed_N)], fold_N[len(seed_N) :])


def test_folds_stay_what_they_were() -> None:
    assert case_folds([f"case {case}" for case in range(10)]).tolist() == [3, 0, 1, 0, 4, 4, 1, 2, 3, 2]


def test_training_cases_are_not_judged() -> None:
    training = [case_key("a"), case_key("b")]
    refuse_overlap(training, ["c", "d"])
    with pytest.raises(BadInput, match="2 of these 3 cases were used to fit it"):
        refuse_overlap(training, ["b", "c", "a"])


def test_a_case_of_which_a_step_failed_is_not_whole() -> None:
    labelled = drawn(1, cases=4)
    counts = labelled.histograms
    failed = replace(
        counts,
        evidence_N=np.array([Step.FAILED, Step.ANSWERED, Step.NOT_NEEDED, Step.ANSWERED], dtype=np.int8),
        context_N=np.array([Step.ANSWERED, Step.FAILED, Step.ANSWERED, Step.ANSWERED], dtype=np.int8),
    )
    assert replace(labelled, histograms=failed).whole_N.tolist() == [False, False, True, True]


def test_a_case_is_covered_when_its_gold_label_is_on_its_shortlist() -> None:
    labelled = drawn(1, cases=200, missed=0.3)
    listed = [bool(labelled.shortlist_NL[case, labelled.gold_N[case]]) for case in range(200)]
    assert labelled.covered_N.tolist() == listed
    assert 0.5 < np.mean(listed) < 0.9


def test_an_empty_shortlist_makes_no_whole_case() -> None:
    labelled = drawn(1, cases=3)
    bare = replace(labelled, shortlist_NL=labelled.shortlist_NL & np.array([[False], [True], [True]]))
    assert bare.whole_N.tolist() == [False, True, True]


def test_some_of_the_cases_are_the_same_cases() -> None:
    labelled = drawn(1, cases=20)
    chosen_N = np.arange(20) % 3 == 0
    some = labelled.take(chosen_N)
    assert some.seed_N == labelled.seed_N[::3]
    np.testing.assert_array_equal(some.gold_N, labelled.gold_N[::3])
    np.testing.assert_array_equal(some.histograms.context_NL7, labelled.histograms.context_NL7[::3])


@pytest.mark.parametrize(
    "change",
    [
        {"gold_N": np.zeros(3, dtype=np.int64)},
        {"gold_N": np.full(4, 9)},
        {"gold_N": np.full(4, -1)},
        {"seed_N": ("a", "b")},
        {"shortlist_NL": np.ones((4, 8), dtype=np.bool_)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        replace(drawn(1, cases=4), **change)  # type: ignore[arg-type]


def nothing_listed(labelled: Labelled) -> Labelled:
    off_NL = np.arange(labelled.shortlist_NL.shape[1]) != labelled.gold_N[:, None]
    return replace(labelled, shortlist_NL=labelled.shortlist_NL & off_NL)


def all_failed(labelled: Labelled) -> Labelled:
    failed_N = np.full(len(labelled), Step.FAILED, dtype=np.int8)
    return replace(labelled, histograms=replace(labelled.histograms, evidence_N=failed_N))


def one_gold_label(labelled: Labelled) -> Labelled:
    return labelled.take(labelled.gold_N == labelled.gold_N[0])


UNFIT: dict[str, tuple[Callable[[Labelled], Labelled], str]] = {
    "no gold label listed": (nothing_listed, "no case has its gold label on its shortlist"),
    "no step answered": (all_failed, "no case has both elicitation steps"),
    "one gold label": (one_gold_label, "every gold label on a shortlist is the same one"),
    "too few": (lambda labelled: labelled.take(np.arange(len(labelled)) < 4), "4 different cases"),
    "one case many times": (lambda labelled: replace(labelled, seed_N=("a",) * len(labelled)), "1 different cases"),
    "none": (lambda labelled: labelled.take(np.zeros(len(labelled), dtype=np.bool_)), "no case has both"),
}


@pytest.mark.parametrize("what", UNFIT)
def test_a_set_that_nothing_can_be_learnt_from_is_refused(what: str) -> None:
    change, problem = UNFIT[what]
    with pytest.raises(BadInput, match=problem):
        refuse_unfit(change(drawn(1, cases=60)))


def test_a_domain_of_one_label_is_refused() -> None:
    with pytest.raises(BadInput, match="one label only"):
        refuse_unfit(drawn(1, cases=60, labels=1, shortlist=1))


def test_a_sound_set_is_not_refused() -> None:
    refuse_unfit(drawn(1, cases=60))
