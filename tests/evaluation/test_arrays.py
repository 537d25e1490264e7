"""Records as arrays."""

import numpy as np
import pytest

from anchor.anchors import ANCHORS
from domains.errors import BadInput
from evaluation.arrays import gather
from tests.evaluation.stored import manifest, record

FAILED = {"a": {"Flu": 0.7, "Cold": 0.3}, "b": None}


def test_posteriors_stand_on_the_label_axis_in_the_agents_order() -> None:
    panel = gather([record()], manifest()).panel

    assert panel.forward_NKL[0].tolist() == [[0.7, 0.3, 0.0], [0.5, 0.5, 0.0]]
    assert panel.place_NKL[0].tolist() == [[0, 1, 3], [1, 0, 3]]


def test_a_failed_agent_is_not_usable() -> None:
    panel = gather([record(posteriors=FAILED)], manifest()).panel

    assert panel.usable_NK.tolist() == [[True, False]]
    assert not panel.forward_NKL[0, 1].any()


def test_gold_labels_are_indices_and_their_absence_is_told() -> None:
    batch = gather([record(gold="Cold"), record(gold=None)], manifest(2))

    assert batch.gold_N.tolist() == [1, -1]
    assert batch.labelled_N.tolist() == [True, False]


def test_a_case_with_a_failed_question_is_not_in_the_pool() -> None:
    batch = gather([record(), record(causes={"context": "timeout"})], manifest(2))

    assert batch.pooled_N.tolist() == [True, False]
    assert batch.exclusions_N == ((), ("step_failed:context",))


def test_ranks_are_counted_where_they_were_elicited() -> None:
    histograms = gather([record()], manifest()).sources.histograms

    assert histograms is not None
    assert histograms.present_NL7[0, :, 6].tolist() == [1, 0, 0]
    assert histograms.absent_NL7[0].sum(axis=-1).tolist() == [1, 0, 0]
    assert histograms.context_NL7[0, 1, 3] == 1


def test_a_whole_batch_agrees_with_its_cases_one_by_one() -> None:
    records = [record(), record(posteriors=FAILED, ranks=None), record(gold=None, seed="other")]

    whole = gather(records, manifest(3)).anchored(ANCHORS["reverse"])

    for place, each in enumerate(records):
        one = gather([each], manifest()).anchored(ANCHORS["reverse"])
        assert np.array_equal(whole.log_anchor_NL[place], one.log_anchor_NL[0])


@pytest.mark.parametrize("changes", [{"gold": "Gout"}, {"posteriors": {"a": {"Gout": 1.0}, "b": None}}])
def test_a_record_of_another_run_is_named(changes: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="case-1: is of another run"):
        gather([record(**changes)], manifest())


def test_an_agent_that_a_record_lacks_is_named() -> None:
    with pytest.raises(BadInput, match="another run"):
        gather([record(posteriors={"a": {"Flu": 1.0}})], manifest())
