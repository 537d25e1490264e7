"""Calibrations on disk: read back as written, refused when malformed, and refused where they do not fit."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor.artefact import (
    Calibration,
    Origin,
    anchor_for,
    calibration_names,
    load_calibration,
    origin_of,
    save_calibration,
)
from anchor.elicitor import PROMPTS
from domains.case import Label
from domains.errors import BadInput, NotFound
from tests.anchor.questions import DOMAIN

ORIGIN = origin_of(DOMAIN, "small-model", "per_case")


def content() -> dict[str, Any]:
    """A file's content, as a person would read it."""
    return {
        "format": 1,
        "made": "2026-03-01",
        "version": "0.1.0",
        "origin": ORIGIN.model_dump(),
        "record": {
            "cases": 100,
            "whole": 98,
            "covered": 91,
            "nll_before": 0.9,
            "nll_after": 0.7,
            "nll_held_out": None,
            "ridge": 1.0,
            "bias_ridge": 1.0,
            "slope": 1e-09,
            "at_bound": [],
        },
        "maps": {
            "evidence": {"low": 0.01, "high": 0.99, "a": -2.1, "b": 4.3},
            "context": {"low": 0.001, "high": 0.9, "a": -5.0, "b": 6.6},
            "leak": 0.02,
            "temperature": 1.1,
        },
        "gamma": 0.3,
        "marginal": {name: 0.1 + place / 100 for place, name in enumerate(DOMAIN.label_names)},
        "bias": None,
        "training": "00112233445566ff 8899aabbccddeeff",
    }


def written(folder: Path, text: str) -> Path:
    (folder / "mine.json").write_text(text, "utf-8")
    return folder


@pytest.fixture
def calibration(tmp_path: Path) -> Calibration:
    return load_calibration(written(tmp_path, json.dumps(content())), "mine")


def test_what_was_saved_is_read_back_to_the_last_bit(tmp_path: Path, calibration: Calibration) -> None:
    odd = calibration.model_copy(update={"gamma": 1 / 3, "bias": {name: 1 / 7 for name in DOMAIN.label_names}})
    save_calibration(tmp_path / "new", "odd", odd)
    again = load_calibration(tmp_path / "new", "odd")
    assert again == odd
    assert again.digest == odd.digest != calibration.digest


def test_the_file_reads_as_it_is_meant(tmp_path: Path, calibration: Calibration) -> None:
    path = save_calibration(tmp_path, "copy", calibration)
    assert json.loads(path.read_text("utf-8")) == content()
    assert path.name == "copy.json"


def test_saving_replaces_and_leaves_nothing_else(tmp_path: Path, calibration: Calibration) -> None:
    for _ in range(2):
        save_calibration(tmp_path, "mine", calibration)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


def test_the_names_there_are(tmp_path: Path, calibration: Calibration) -> None:
    for name in ("b-2", "a"):
        save_calibration(tmp_path, name, calibration)
    (tmp_path / "not a name.json").write_text("{}", "utf-8")
    assert calibration_names(tmp_path) == ["a", "b-2", "mine"]
    assert calibration_names(tmp_path / "nowhere") == []


def test_a_name_that_nothing_has(tmp_path: Path, calibration: Calibration) -> None:
    save_calibration(tmp_path, "mine", calibration)
    with pytest.raises(NotFound, match="there are mine"):
        load_calibration(tmp_path, "yours")


@pytest.mark.parametrize("name", ["", "../mine", "a/b", ".mine", "x" * 65, "né"])
def test_a_name_that_no_file_may_have(tmp_path: Path, calibration: Calibration, name: str) -> None:
    with pytest.raises(BadInput, match="letters, digits"):
        load_calibration(tmp_path, name)
    with pytest.raises(BadInput, match="letters, digits"):
        save_calibration(tmp_path, name, calibration)


def test_an_anchor_is_made_of_a_calibration_that_fits(calibration: Calibration) -> None:
    assert anchor_for("mine", calibration, DOMAIN.label_names, ORIGIN).name == "calibrated:mine"


def test_numbers_go_to_their_labels_whatever_the_order_in_the_file(tmp_path: Path) -> None:
    changed = content()
    changed["marginal"] = dict(reversed(changed["marginal"].items()))
    correction = load_calibration(written(tmp_path, json.dumps(changed)), "mine").correction(DOMAIN.label_names)
    np.testing.assert_array_equal(correction.marginal_L, list(content()["marginal"].values()))
    assert not correction.bias_L.any()


def test_the_origin_names_what_the_ranks_depend_on() -> None:
    assert (
        Origin(
            domain="faults",
            labels=DOMAIN.digest,
            backbone="small-model",
            prompts={"context": PROMPTS["context"].digest, "evidence": PROMPTS["evidence"].digest},
            source="per_case",
        )
        == ORIGIN
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"domain": "pets"}, "domain 'faults', not 'pets'"),
        ({"labels": "0" * 64}, "labels"),
        ({"source": "table"}, "elicitation source 'per_case', not 'table'"),
        ({"backbone": "large-model"}, "backbone 'small-model', not 'large-model'"),
        ({"prompts": {**ORIGIN.prompts, "context": "abc"}}, "context prompt"),
        ({"prompts": {"context": ORIGIN.prompts["context"]}}, "evidence prompt"),
    ],
)
def test_ranks_of_another_origin_are_refused(calibration: Calibration, change: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInput, match=named) as refused:
        anchor_for("mine", calibration, DOMAIN.label_names, ORIGIN.model_copy(update=change))
    assert len(refused.value.faults) == 1


def test_everything_that_does_not_fit_is_told_at_once(calibration: Calibration) -> None:
    with pytest.raises(BadInput) as refused:
        anchor_for(
            "mine", calibration, DOMAIN.label_names, ORIGIN.model_copy(update={"domain": "pets", "source": "table"})
        )
    assert len(refused.value.faults) == 2


def test_another_backbone_passes_when_told_to_and_nothing_else_does(calibration: Calibration) -> None:
    other = ORIGIN.model_copy(update={"backbone": "large-model"})
    assert anchor_for("mine", calibration, DOMAIN.label_names, other, other_backbone=True).name == "calibrated:mine"
    with pytest.raises(BadInput, match="elicitation source"):
        anchor_for(
            "mine", calibration, DOMAIN.label_names, other.model_copy(update={"source": "table"}), other_backbone=True
        )


def test_a_file_whose_labels_are_not_the_domains_is_refused(calibration: Calibration) -> None:
    renamed = replace(DOMAIN, labels=(*DOMAIN.labels[:-1], Label("Slow disk")))
    with pytest.raises(BadInput, match=r"calibration\.marginal"):
        anchor_for("mine", calibration, renamed.label_names, ORIGIN)


def changed(*path: str, to: object) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        place = whole
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return change


def without(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        place = whole
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (changed("format", to=2), "format"),
        (without("gamma"), "gamma"),
        (changed("gamma", to="0.3"), "gamma"),
        (changed("gamma", to=2.5), "gamma"),
        (changed("gamma", to=None), "gamma"),
        (changed("extra", to=1), "extra"),
        (changed("made", to="yesterday"), "made"),
        (changed("maps", "evidence", "b", to=-1.0), "curve.b"),
        (changed("maps", "evidence", "extra", to=-1.0), "maps.evidence"),
        (changed("maps", "temperature", to=0.0), "maps.temperature"),
        (without("maps", "leak"), "maps.leak"),
        (changed("marginal", "Full disk", to=0.0), "marginal"),
        (changed("marginal", "Full disk", to="much"), "marginal.Full disk"),
        (changed("bias", to={"Full disk": 0.1}), "calibration.bias"),
        (changed("record", "covered", to=-1), "record.covered"),
        (changed("record", "nll_after", to=True), "record.nll_after"),
        (changed("origin", "prompts", to=[]), "origin.prompts"),
        (changed("training", to="abc"), "training"),
    ],
)
def test_a_malformed_file_is_refused_by_the_field(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], where: str
) -> None:
    whole = content()
    change(whole)
    with pytest.raises(BadInput) as refused:
        load_calibration(written(tmp_path, json.dumps(whole)), "mine")
    assert any(fault.where.startswith(f"mine.json: {where}") for fault in refused.value.faults), refused.value


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"gamma": NaN}', '{"gamma": 1, "gamma": 2}'])
def test_what_is_no_object_of_strict_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"mine\.json"):
        load_calibration(written(tmp_path, text), "mine")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(BadInput, match="not UTF-8"):
        load_calibration(tmp_path, "mine")
