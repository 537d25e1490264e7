"""`POST /aggregate`: the caller's own posteriors, decided with no language model."""

from collections.abc import Mapping
from typing import Any

import httpx
import numpy as np
import pytest

from aggregators import AGGREGATORS, ANCHORED, JUDGES
from aggregators.arrays import aggregate
from app.schemas.aggregate import AggregateAnswer
from tests.app.conftest import Service

Body = dict[str, Any]

FUSION: Body = {
    "labels": ["a", "b", "c", "d"],
    "cases": [
        {
            "id": "worked",
            "posteriors": [
                {"a": 0.6, "b": 0.3, "c": 0.1},
                {"b": 0.7, "a": 0.2, "c": 0.1},
                {"b": 0.45, "d": 0.45, "c": 0.1},
            ],
            "anchor": {"a": 0.7, "b": 0.1, "c": 0.15, "d": 0.05},
        }
    ],
}
"""The worked example "Fusion" of the method."""


async def test_the_worked_example_over_http(service: Service) -> None:
    case = (await service.client.post("/aggregate", json=FUSION)).json()["cases"][0]

    assert case["js"] == pytest.approx([0.0479330038, 0.2199448681, 0.3973616677], abs=1e-9)
    assert case["weights"] == pytest.approx([0.6260141232, 0.2648897259, 0.1090961510], abs=1e-9)
    assert case["decisions"]["loglin"]["distribution"] == pytest.approx(
        {"a": 0.4991806766, "b": 0.3342881716, "c": 0.1145053253, "d": 0.0520258265}, abs=1e-9
    )
    decided = {name: decision["label"] for name, decision in case["decisions"].items()}
    assert decided | {"minjs": "a", "fwdjs": "a", "loglin": "a", "range": "b", "plurality": "b"} == decided


async def test_all_aggregators_that_ask_nobody_answer_by_default(service: Service) -> None:
    answer = await service.client.post("/aggregate", json=FUSION)

    assert list(answer.json()["cases"][0]["decisions"]) == [name for name in AGGREGATORS if name not in JUDGES]
    assert AggregateAnswer.model_validate(answer.json(), strict=True)


async def test_without_an_anchor_the_heads_are_left_out_by_default(service: Service) -> None:
    body = FUSION | {"cases": [FUSION["cases"][0] | {"anchor": None}]}

    case = (await service.client.post("/aggregate", json=body)).json()["cases"][0]

    assert set(case["decisions"]) == set(AGGREGATORS) - ANCHORED - JUDGES.keys()
    assert (case["js"], case["weights"]) == (None, None)


@pytest.mark.parametrize("judge", JUDGES)
async def test_a_judge_is_refused_by_name_for_no_model_is_asked(service: Service, judge: str) -> None:
    answer = await service.client.post("/aggregate", json=FUSION | {"aggregators": ["range", judge]})

    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"]) == (422, "aggregators.1")
    assert "is a judge" in error["message"]


@pytest.mark.parametrize(
    ("third", "top"),
    [
        ([["d", 0.45], ["b", 0.45], ["c", 0.1]], "d"),
        ([["b", 0.45], ["d", 0.45], ["c", 0.1]], "b"),
        ({"d": 0.45, "b": 0.45, "c": 0.1}, "d"),
        ({"b": 0.45, "d": 0.45, "c": 0.1}, "b"),
    ],
)
async def test_equal_masses_count_in_the_order_written(service: Service, third: Any, top: str) -> None:
    body = {"labels": ["a", "b", "c", "d"], "cases": [{"posteriors": [third]}], "aggregators": ["plurality"]}

    case = (await service.client.post("/aggregate", json=body)).json()["cases"][0]

    assert case["decisions"]["plurality"]["label"] == top


async def test_cases_may_have_different_numbers_of_agents(service: Service) -> None:
    cases = [{"id": "1", "posteriors": [{"A": 1}]}, {"id": "2", "posteriors": [{"B": 1}, {"A": 1}, {"B": 1}]}]
    body = {"labels": ["A", "B"], "cases": cases, "aggregators": ["plurality"]}

    answers = (await service.client.post("/aggregate", json=body)).json()["cases"]

    assert [case["decisions"]["plurality"]["label"] for case in answers] == ["A", "B"]
    assert answers[1]["decisions"]["plurality"]["distribution"] == pytest.approx({"B": 2 / 3, "A": 1 / 3})


async def test_ten_thousand_cases_in_one_body(service: Service) -> None:
    cases = [{"id": str(i), "posteriors": [{"A": 0.7, "B": 0.3}, {"B": 1.0}]} for i in range(10_000)]

    answer = await service.client.post("/aggregate", json={"labels": ["A", "B"], "cases": cases})

    assert answer.status_code == 200
    assert [case["id"] for case in answer.json()["cases"]] == [str(i) for i in range(10_000)]


async def test_http_and_python_agree(service: Service) -> None:
    generator = np.random.default_rng(7)
    labels = ["a", "b", "c", "d", "e"]
    forward_NKL = generator.dirichlet(np.ones(5), size=(40, 3))
    anchor_NL = generator.dirichlet(np.ones(5), size=40)
    cases = [
        {
            "id": str(n),
            "posteriors": [dict(zip(labels, row.tolist(), strict=True)) for row in forward_NKL[n]],
            "anchor": dict(zip(labels, anchor_NL[n].tolist(), strict=True)),
        }
        for n in range(40)
    ]

    over_http = (await service.client.post("/aggregate", json={"labels": labels, "cases": cases})).json()["cases"]

    own = aggregate(labels, forward_NKL, anchor_NL=anchor_NL)
    for name, decisions in own.decisions.items():
        assert [case["decisions"][name]["label"] for case in over_http] == [labels[i] for i in decisions.label_N]


ONE = {"posteriors": [{"A": 1.0}]}
BAD: Mapping[str, tuple[Body, str]] = {
    "no labels": ({"labels": [], "cases": [ONE]}, "labels"),
    "a label twice": ({"labels": ["A", "B", "A"], "cases": [ONE]}, "labels.2"),
    "no cases": ({"labels": ["A", "B"], "cases": []}, "cases"),
    "no posteriors": ({"labels": ["A", "B"], "cases": [{"posteriors": []}]}, "cases.0.posteriors"),
    "an unknown label": ({"labels": ["A", "B"], "cases": [{"posteriors": [{"C": 1}]}]}, "cases.0.posteriors.0.0"),
    "a negative mass": ({"labels": ["A", "B"], "cases": [{"posteriors": [{"A": -1}]}]}, "cases.0.posteriors.0.0"),
    "a mass that is text": ({"labels": ["A", "B"], "cases": [{"posteriors": [{"A": "1"}]}]}, "cases.0.posteriors.0.0"),
    "a mass that is true": ({"labels": ["A", "B"], "cases": [{"posteriors": [{"A": True}]}]}, "cases.0.posteriors.0.0"),
    "no mass": ({"labels": ["A", "B"], "cases": [{"posteriors": [{"A": 0}]}]}, "cases.0.posteriors.0"),
    "an empty posterior": ({"labels": ["A", "B"], "cases": [{"posteriors": [{}]}]}, "cases.0.posteriors.0"),
    "a posterior that is text": ({"labels": ["A", "B"], "cases": [{"posteriors": ["A"]}]}, "cases.0.posteriors.0"),
    "a label twice in a posterior": (
        {"labels": ["A", "B"], "cases": [{"posteriors": [[["A", 1], ["A", 2]]]}]},
        "cases.0.posteriors.0.1",
    ),
    "a pair of three": ({"labels": ["A", "B"], "cases": [{"posteriors": [[["A", 1, 2]]]}]}, "cases.0.posteriors.0.0"),
    "an anchor without mass": (
        {"labels": ["A", "B"], "cases": [ONE | {"anchor": {"A": 0}}]},
        "cases.0.anchor",
    ),
    "a head without an anchor": (
        {"labels": ["A", "B"], "cases": [ONE | {"anchor": {"A": 1}}, ONE], "aggregators": ["minjs"]},
        "cases.1.anchor",
    ),
    "an unknown aggregator": ({"labels": ["A", "B"], "cases": [ONE], "aggregators": ["best"]}, "aggregators.0"),
    "a shortlist without a label that has mass": (
        {"labels": ["A", "B"], "cases": [ONE | {"shortlist": ["B"]}]},
        "cases.0.shortlist",
    ),
    "an unknown label on the shortlist": (
        {"labels": ["A", "B"], "cases": [ONE | {"shortlist": ["A", "Z"]}]},
        "cases.0.shortlist.1",
    ),
    "tau below 0": ({"labels": ["A", "B"], "cases": [ONE], "params": {"tau": -1}}, "params.tau"),
    "w_r above 1": ({"labels": ["A", "B"], "cases": [ONE], "params": {"w_r": 2}}, "params.w_r"),
}


@pytest.mark.parametrize("kind", BAD)
async def test_bad_input_is_422_at_its_field(service: Service, kind: str) -> None:
    body, field = BAD[kind]

    answer = await service.client.post("/aggregate", json=body)

    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]


@pytest.mark.parametrize("mass", ["1e999", "NaN", "-Infinity"])
async def test_no_mass_is_infinite_or_no_number(service: Service, mass: str) -> None:
    content = '{"labels": ["A", "B"], "cases": [{"posteriors": [{"A": MASS}]}]}'.replace("MASS", mass)

    answer = await service.client.post("/aggregate", content=content, headers={"content-type": "application/json"})

    assert answer.status_code in (400, 422)


async def test_a_lone_surrogate_is_no_label(service: Service) -> None:
    content = '{"labels": ["A", "\\ud800"], "cases": [{"id": "\\udfff", "posteriors": [{"\\ud800": 1}]}]}'

    answer: httpx.Response = await service.client.post(
        "/aggregate", content=content, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 422


async def test_huge_masses_are_scaled_and_not_overflown(service: Service) -> None:
    body = {"labels": ["A", "B"], "cases": [{"posteriors": [{"A": 1e308, "B": 1e308}]}], "aggregators": ["range"]}

    case = (await service.client.post("/aggregate", json=body)).json()["cases"][0]

    assert case["decisions"]["range"]["distribution"] == {"A": 0.5, "B": 0.5}


LOGS = {label: float(np.log(mass)) for label, mass in FUSION["cases"][0]["anchor"].items()}


async def test_an_anchor_may_come_as_logarithms(service: Service) -> None:
    as_logs = FUSION | {"cases": [FUSION["cases"][0] | {"anchor": None, "log_anchor": LOGS}]}

    plain, logs = [
        (await service.client.post("/aggregate", json=body)).json()["cases"][0] for body in (FUSION, as_logs)
    ]

    assert logs["js"] == pytest.approx(plain["js"], abs=1e-12)
    for name, decision in plain["decisions"].items():
        assert logs["decisions"][name]["distribution"] == pytest.approx(decision["distribution"], abs=1e-12)


async def test_an_anchor_as_logarithms_has_no_floor(service: Service) -> None:
    tiny = {"a": -1e3, "b": 0.0, "c": -1e3, "d": -1e3}
    body = FUSION | {"cases": [FUSION["cases"][0] | {"anchor": None, "log_anchor": tiny}], "params": {"w_r": 1.0}}

    decisions = (await service.client.post("/aggregate", json=body)).json()["cases"][0]["decisions"]

    assert decisions["loglin"]["distribution"] == {"b": 1.0}


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"log_anchor": LOGS}, "cases.0.log_anchor"),
        ({"anchor": None, "log_anchor": LOGS | {"x": -9.0}}, "cases.0.log_anchor.4"),
        ({"anchor": None, "log_anchor": LOGS | {"a": -9.0}}, "cases.0.log_anchor"),
        ({"anchor": None, "log_anchor": {"a": 0.0}}, "cases.0.log_anchor"),
        ({"anchor": None, "log_anchor": {}}, "cases.0.log_anchor"),
        ({"anchor": None, "log_anchor": {"a": 1.0}}, "cases.0.log_anchor.?"),
    ],
    ids=["both", "no label", "no distribution", "not the whole shortlist", "nothing", "above 1"],
)
async def test_logarithms_of_no_anchor_are_refused(service: Service, more: Body, where: str) -> None:
    answer = await service.client.post("/aggregate", json=FUSION | {"cases": [FUSION["cases"][0] | more]})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == where
