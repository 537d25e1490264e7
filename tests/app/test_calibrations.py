"""Calibrated anchors as the service uses them: by name, from the data folder, and only where they fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor.elicitor import PROMPTS
from anchor.labelled import case_key
from anchor.ordinal import DEFAULT_MAPS, Curve, Maps
from app.calibrations import Calibrations
from app.settings import Settings, load_settings
from domains.catalogue import Catalogue, load_cases
from tests.app.calibrated import calibration, default_domain, keep
from tests.app.conftest import Service, running
from tests.app.jobs.batches import pack_cases, serving

LIKELIER_BIASED = {name: (3.0 if place == 0 else 0.0) for place, name in enumerate(default_domain().label_names)}


def deciding(answer: dict[str, Any]) -> dict[str, Any]:
    """What two answers to the same case share, whichever came first and whatever the anchor is called."""
    kept = {name: value for name, value in answer.items() if name not in ("id", "timing_ms", "usage", "agents")}
    timed = ("latency_ms", "cached")
    agents = [{name: x for name, x in agent.items() if name not in timed} for agent in answer["agents"]]
    anchor = {
        name: value for name, value in answer["anchor"].items() if name not in ("name", "calibration", "elicitation")
    }
    return kept | {"agents": agents, "anchor": anchor}


async def test_one_that_changes_nothing_decides_as_reverse_does(
    service: Service, settings: Settings, case: dict[str, Any]
) -> None:
    keep(settings.data_dir, "same")

    reverse = (await service.decide(case=case, compare=["minjs", "fwdjs"])).json()
    same = (await service.decide(case=case, compare=["minjs", "fwdjs"], anchor="calibrated:same")).json()

    assert deciding(same) == deciding(reverse)  # bit for bit
    assert (same["anchor"]["name"], same["anchor"]["calibration"]) == ("calibrated:same", calibration().digest)
    assert reverse["anchor"]["calibration"] is None


async def test_a_file_that_is_replaced_counts_from_then_on(
    service: Service, settings: Settings, case: dict[str, Any]
) -> None:
    keep(settings.data_dir, "mine")
    before = (await service.decide(case=case, anchor="calibrated:mine")).json()["anchor"]
    keep(settings.data_dir, "mine", bias=LIKELIER_BIASED)

    after = (await service.decide(case=case, anchor="calibrated:mine")).json()["anchor"]

    assert after["calibration"] != before["calibration"]
    assert after["distribution"] != before["distribution"]


async def test_the_factors_shown_are_those_of_the_fitted_maps(
    service: Service, settings: Settings, case: dict[str, Any]
) -> None:
    flat = Maps(Curve(0.01, 0.99, 0.0, 1e-9), Curve(0.001, 0.9, 0.0, 1e-9), DEFAULT_MAPS.leak)
    keep(settings.data_dir, "flat", maps=flat)

    anchor = (await service.decide(case=case, anchor="calibrated:flat")).json()["anchor"]

    for factor in ("likelihood", "prior"):  # every rank means the same, so that no label is likelier
        assert np.ptp(list(anchor[factor].values())) < 1e-6


async def test_anchors_list_those_of_the_data_folder_that_can_be_read(service: Service, settings: Settings) -> None:
    path = keep(settings.data_dir, "mine")
    path.with_name("broken.json").write_text("{}", "utf-8")

    entry = (await service.client.get("/anchors")).json()[-1]

    assert (entry["name"], entry["asks"]) == ("calibrated:mine", ["context", "evidence"])
    assert "8 labelled cases" in entry["description"]


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"domain": "elsewhere"}, "fitted for the domain 'elsewhere'"),
        ({"labels": "00"}, "fitted for the labels '00'"),
        ({"source": "elsewhere"}, "fitted for the elicitation source 'elsewhere', not 'per_case'"),
        ({"backbone": "large"}, "fitted for the backbone 'large', not 'stand-in'"),
        (
            {"prompts": {"context": PROMPTS["context"].digest, "evidence": "0123"}},
            f"fitted for the evidence prompt '0123', not '{PROMPTS['evidence'].digest}'",
        ),
    ],
)
async def test_one_that_was_fitted_for_something_else_is_refused(
    service: Service, settings: Settings, case: dict[str, Any], changes: dict[str, Any], difference: str
) -> None:
    keep(settings.data_dir, "other", **changes)

    refused = await service.decide(case=case, anchor="calibrated:other")

    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == ["anchor"]
    assert difference in refused.json()["errors"][0]["message"]
    assert service.upstream.bodies == []


async def test_another_backbone_passes_where_the_operator_says_so(tmp_path: Path, case: dict[str, Any]) -> None:
    settings = load_settings(data_dir=tmp_path, calibration_any_backbone=True)
    keep(tmp_path, "other", backbone="large")

    async with running(settings) as service:
        answer = await service.decide(case=case, anchor="calibrated:other")

    assert answer.json()["anchor"]["name"] == "calibrated:other"


@pytest.mark.parametrize("name", ["calibrated:none", "calibrated:", "calibrated:../mine", "mine"])
async def test_a_name_that_nothing_has_is_told_with_those_there_are(
    service: Service, settings: Settings, case: dict[str, Any], name: str
) -> None:
    keep(settings.data_dir, "mine")

    refused = await service.decide(case=case, anchor=name)

    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == "anchor"
    assert error["message"].endswith("generic_forward, calibrated:mine")


async def test_a_file_that_is_malformed_is_told_at_the_anchor(
    service: Service, settings: Settings, case: dict[str, Any]
) -> None:
    path = keep(settings.data_dir, "mine")
    path.write_text(path.read_text("utf-8").replace('"gamma": 0.0', '"gamma": 7.0'), "utf-8")

    refused = await service.decide(case=case, anchor="calibrated:mine")

    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"field": "anchor", "message": "mine.json: gamma: must be from 0 to 2"}]


def test_a_file_is_read_once_and_again_when_it_changes(tmp_path: Path) -> None:
    keep(tmp_path, "mine")
    calibrations = Calibrations(tmp_path / "calibrations")
    first = calibrations.sound()["calibrated:mine"]

    assert calibrations.sound()["calibrated:mine"] is first
    keep(tmp_path, "mine", gamma=1.0)
    assert calibrations.sound()["calibrated:mine"].gamma == 1.0


def test_one_that_is_deleted_is_gone(tmp_path: Path) -> None:
    path = keep(tmp_path, "mine")
    calibrations = Calibrations(tmp_path / "calibrations")
    assert calibrations.names() == ("calibrated:mine",)

    path.unlink()

    assert calibrations.sound() == {}


async def test_a_batch_decides_with_it(settings: Settings) -> None:
    keep(settings.data_dir, "mine", bias=LIKELIER_BIASED)

    async with serving(settings) as service:
        job = await service.submit(cases=pack_cases()[:2], anchor="calibrated:mine", aggregators=["loglin"])
        results = await service.results(job["id"])

    assert [result["outcome"] for result in results] == ["ok", "ok"]
    assert all(result["ranks"]["evidence"] for result in results)


async def test_a_batch_of_labelled_cases_that_it_was_fitted_to_stops(settings: Settings) -> None:
    catalogue, domain = Catalogue(), default_domain()
    seen = next(iter(load_cases(catalogue.path(domain.name) / "cases.ndjson", domain)))
    keep(settings.data_dir, "mine", training=case_key(domain.case_seed(seen)))

    async with serving(settings) as service:
        job = await service.finished(cases=pack_cases()[:2], anchor="calibrated:mine", aggregators=["loglin"])

    assert job["state"] == "stopped"
    assert job["cause"] == "calibrated:mine: 1 of these 2 cases were used to fit it"
    assert service.gate.bodies == []
