"""Accuracy on the pool, and who is not in it."""

import numpy as np

from evaluation.metrics import Accuracy, accuracy, summarise
from tests.evaluation.stored import record


def test_accuracy_counts_cases_with_a_gold_label() -> None:
    assert accuracy(np.array([0, 1, 2, 1]), np.array([0, 2, -1, 1])) == Accuracy(correct=2, n=3)


def test_an_undecided_case_without_gold_is_not_right() -> None:
    assert accuracy(np.array([-1]), np.array([-1])) == Accuracy(0, 0)


def test_the_accuracy_of_no_cases_is_unknown() -> None:
    assert Accuracy(0, 0).share is None


def test_a_summary_is_over_the_labelled_cases_of_the_pool() -> None:
    excluded = {"causes": {"a": "timeout"}, "outcome": "degraded"}
    summary = summarise([record(), record(gold="Cold"), record(gold=None), record(**excluded)])

    assert (summary.cases, summary.labelled, summary.pooled) == (4, 3, 2)
    assert summary.accuracies == {"plurality": Accuracy(correct=1, n=2)}
    assert summary.coverage == 2 / 3
    assert summary.exclusions == {"agent_failed:a": 1}
    assert summary.outcomes == {"ok": 3, "degraded": 1}


def test_without_gold_labels_there_is_no_accuracy_and_no_coverage() -> None:
    summary = summarise([record(gold=None)])

    assert (summary.accuracies, summary.coverage) == ({}, None)
