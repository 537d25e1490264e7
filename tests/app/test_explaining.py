"""`explain: true`: the findings' values make the anchor's two factors again, and its logarithms the anchor."""

import math
from typing import Any

import pytest

from anchor.ordinal import DEFAULT_MAPS
from tests.app.conftest import Service

Body = dict[str, Any]
Elicitations = pytest.mark.parametrize("elicitation", ["per_case", "table"])


async def explained(service: Service, case: Body, **more: Any) -> Body:
    anchor = (await service.decide(case=case, explain=True, **more)).json()["anchor"]
    return dict(anchor)


def scaled(weights: Body, labels: set[str]) -> Body:
    total = sum(weights[label] for label in labels)
    return {label: weights[label] / total for label in labels}


@Elicitations
async def test_the_values_of_the_evidence_multiply_to_the_likelihood(
    service: Service, case: Body, elicitation: str
) -> None:
    anchor = await explained(service, case, params={"elicitation": elicitation})
    labels = set(anchor["likelihood"])

    product = dict.fromkeys(labels, 1.0)
    for finding in anchor["findings"]:
        if finding["kind"] == "evidence":
            for label in labels & set(finding["values"]):
                value = finding["values"][label]
                product[label] *= value if finding["present"] else 1.0 - value
    assert scaled(product, labels) == pytest.approx(anchor["likelihood"], rel=1e-9)


@Elicitations
async def test_the_values_of_the_context_make_the_prior(service: Service, case: Body, elicitation: str) -> None:
    anchor = await explained(service, case, params={"elicitation": elicitation})
    labels = set(anchor["prior"])

    inactive = dict.fromkeys(labels, 1.0 - DEFAULT_MAPS.leak)
    for finding in anchor["findings"]:
        if finding["kind"] == "context":
            for label in labels & set(finding["values"]):
                inactive[label] *= 1.0 - finding["values"][label]
    assert scaled({label: 1.0 - inactive[label] for label in labels}, labels) == pytest.approx(
        anchor["prior"], rel=1e-9
    )


async def test_ranks_are_ranks(service: Service, case: Body) -> None:
    findings = (await explained(service, case))["findings"]

    assert {rank for finding in findings for rank in finding["ranks"].values()} <= set(map(float, range(7)))
    assert [f["id"] for f in findings if f["kind"] == "evidence"] == [f["id"] for f in case["evidence"]]


async def test_the_logarithms_are_those_of_the_anchor(service: Service, case: Body) -> None:
    anchor = await explained(service, case)

    logs = {label: math.exp(log) for label, log in anchor["log_distribution"].items()}
    assert logs == pytest.approx(anchor["distribution"], rel=1e-12)


async def test_nothing_is_explained_unasked(service: Service, case: Body) -> None:
    anchor = (await service.decide(case=case)).json()["anchor"]

    assert (anchor["findings"], anchor["log_distribution"]) == (None, None)


async def test_an_anchor_that_asks_nobody_about_findings_has_none(service: Service, case: Body) -> None:
    assert (await explained(service, case, anchor="mean_forward"))["findings"] == []
