"""`POST /aggregate` is bounded in what it may be asked at a time: a small body can ask for a great deal."""

from typing import Any

import pytest

from app import own_agents
from app.own_agents import aggregate_own
from app.problems import Refused
from app.schemas.aggregate import AggregateBody

Body = dict[str, Any]


def refused(body: Body) -> str:
    with pytest.raises(Refused) as refusal:
        aggregate_own(AggregateBody.model_validate(body))
    assert refusal.value.status == 413
    return refusal.value.detail


def test_many_short_cases_beside_one_with_many_agents_are_too_much() -> None:
    short, wide = {"posteriors": [{"a": 1}]}, {"posteriors": [{"a": 1}] * 1000}

    assert "cases × labels × agents" in refused({"labels": ["a", "b"], "cases": [wide, *[short] * 20_000]})


def test_many_labels_that_nobody_names_are_too_much() -> None:
    labels = [f"l{number}" for number in range(1000)]

    assert "at most 10000000" in refused({"labels": labels, "cases": [{"posteriors": [{"l0": 1}]}] * 2000})


def test_ten_thousand_cases_of_fifty_labels_with_every_aggregator_are_not() -> None:
    labels = [f"l{number}" for number in range(50)]
    cases = [{"posteriors": [{"l0": 1, "l1": 1}] * 5}] * 10_000
    body = AggregateBody.model_validate({"labels": labels, "cases": cases})

    own_agents._check_size(body)
    assert own_agents.MOST_PAIRINGS >= 10_000 * 50**3


def test_ranked_pairs_over_very_many_candidates_is_too_much_and_others_are_not() -> None:
    labels = [f"l{number}" for number in range(1000)]
    case = {"posteriors": [{label: 1 + place for place, label in enumerate(labels)}]}
    body: Body = {"labels": labels, "cases": [case, case], "aggregators": ["ranked_pairs"]}

    assert "ranked_pairs" in refused(body)
    assert aggregate_own(AggregateBody.model_validate(body | {"aggregators": ["range"]}))
