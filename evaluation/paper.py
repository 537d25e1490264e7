"""The numbers the paper reports, as counts (`paper_numbers.json` says where they are from)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anchor.anchors import ANCHORS
from evaluation.collisions import Collision
from evaluation.numbers import Numbers, Share
from evaluation.slices import SLICES, Slice

_FILE = Path(__file__).with_name("paper_numbers.json")
_AGENTS = ("tot", "medprompt", "cot", "common_bias", "rare_bias")


@dataclass(frozen=True)
class Published:
    """What the paper prints of one backbone.

    Its collisions have no counts; `grid_percent` is its correctness grid as printed, of plurality and R alone: both
    right, only plurality, only R, both wrong.
    """

    title: str
    numbers: Numbers
    grid_percent: Mapping[Slice, tuple[float, float, float, float]]


@cache
def paper_backbones() -> Mapping[str, Published]:
    """The paper's five backbones by name."""
    document = json.loads(_FILE.read_text("utf-8"))
    return MappingProxyType({name: _read(name, entry) for name, entry in document["backbones"].items()})


def published(backbone: str) -> Published | None:
    """The paper's numbers of a backbone that it has under that name, whatever the case of the letters and with or
    without an organisation before a slash. Another version of the same model is another model: None."""
    return paper_backbones().get(backbone.rpartition("/")[2].casefold())


def _read(name: str, entry: dict[str, Any]) -> Published:
    numbers = Numbers(
        backbone=name,
        cases={part: entry["cases"][part] for part in SLICES},
        unanimous_right=entry["unanimous_right"],
        correct={
            method: {part: Share(*slices[part]) for part in SLICES if part in slices}
            for method, slices in entry["correct"].items()
        },
        agents=_AGENTS,
        anchors=tuple(ANCHORS),
        collisions={
            reference: {part: Collision(**slices[part]) for part in SLICES}
            for reference, slices in entry["collisions"].items()
        },
    )
    grid = {part: tuple(entry["grid_percent"][part]) for part in SLICES}
    return Published(entry["title"], numbers, grid)
