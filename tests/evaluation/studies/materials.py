"""Materials made up for the tests, and run folders of several backbones over the same cases."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from aggregators import Parameters
from domains.simplex import Array
from evaluation.studies.material import About, Material, pool_of
from tests.evaluation.report.written import records, write
from tests.evaluation.worlds import random_world

RESAMPLES = 200


def about(title: str = "some/model", *, stand_in: bool = False) -> About:
    """Where nothing is from."""
    return About(
        title=title,
        origin="made up",
        where=title,
        domain="d",
        dataset="cases",
        backbones=(title,),
        stand_in=stand_in,
        parameters=Parameters(),
    )


def material(seed: int = 0, title: str = "some/model", *, cases: int = 200, coarse: bool = False) -> Material:
    """A pool in which every question is answered."""
    world = random_world(seed, cases=cases, coarse=coarse)
    ids = tuple(f"case-{case}" for case in range(cases))
    return pool_of(Material(about(title), world.panel, world.sources, world.gold_N, ids, cases, {}))


def certain(of: Material) -> Array:
    """ln of the anchor that gives the gold label all, where it is on the shortlist; the material's own elsewhere."""
    row_N = np.arange(len(of))
    listed_N = of.panel.shortlist_NL[row_N, of.gold_N]
    gold_NL = np.where(np.arange(len(of.panel.labels)) == of.gold_N[:, None], 0.0, -np.inf)
    return np.where(listed_N[:, None], gold_NL, of.log_anchor_NL)


def retitled(of: Material, title: str) -> Material:
    """The same answers as another backbone's."""
    return replace(of, about=about(title))


def run_folders(folder: Path, models: tuple[str, ...], cases: int = 60) -> list[Path]:
    """Finished runs of several backbones, each with answers of its own to the same cases."""
    return [
        write(folder / f"run-{place}", records(cases, seed=place), model=model) for place, model in enumerate(models)
    ]
