"""Fits a pack's profiles to first-order statistics, and shows those of the profiles it has.

    python -m simulator.fitting PACK [--cases FILE] [--profile NAME]
    python -m simulator.fitting PACK --profile NAME --fit random=0.65 plurality=0.70 disagree=0.40 ...

Cases are those of FILE, else drawn from the pack's knowledge. A fit starts at the profile (or at a modest one), looks
for the sizes of error whose statistics, averaged over a few backbones, lie nearest to the targets, and then for the
seed of one backbone that has them itself. It never looks at what a head gains.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from domains.case import KINDS, Case
from domains.catalogue import load_cases
from domains.errors import BadInput
from domains.simplex import Index
from simulator.drawn_cases import Observed, draw_cases
from simulator.first_order import FirstOrder, first_order
from simulator.profiles import MODEST, load_profiles
from simulator.prompt_reader import Pack
from simulator.stand_in import backbone_name, load_pack
from simulator.world import Profile, Stated, World, state

DRAWN = 2_000
TRAINING_BACKBONES = 3
SEEDS = 20
"""Backbones that a fitted profile's seed is chosen from."""
_FIRST_STEP, _LAST_STEP = 0.16, 0.04
_FORWARD, _BACKWARD = ("know", "private", "tilt", "sharp"), ("back", "rho")
_CONSTANTS = ("shared", "hidden", "context", "jitter", "floor")
_OF_REVERSE = {"reverse", "agree_reverse", "likelihood", "prior"}
_TOLERANCE = {"random": 0.01, "plurality": 0.01, "reverse": 0.01}
_OTHER_TOLERANCE = 0.02
"""A miss by its tolerance costs one target as much as another's miss by its own."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Labelled cases of a pack, and the statistics that are wanted on them."""

    pack: Pack
    stated: Stated
    gold_N: Index
    name: str
    target: Mapping[str, float]

    def statistics(self, profile: Profile) -> FirstOrder:
        """The statistics of one backbone: the profile's sizes of error, drawn with its seed."""
        backbone = backbone_name(self.name, profile, 0)
        return first_order(World(self.pack.domain, self.pack.knowledge, profile, backbone), self.stated, self.gold_N)

    def loss(self, profile: Profile, seeds: Sequence[int]) -> float:
        """The squared misses of the targets, in tolerances, of the mean over some backbones."""
        drawn = [asdict(self.statistics(replace(profile, seed=seed))) for seed in seeds]
        misses = (
            (float(np.mean([statistics[name] for statistics in drawn])) - wanted)
            / _TOLERANCE.get(name, _OTHER_TOLERANCE)
            for name, wanted in self.target.items()
        )
        return sum(miss**2 for miss in misses)


def fit(trial: Trial, start: Profile) -> Profile:
    """A profile near the targets: the sizes of forward error, then of backward error, then the best of some seeds.

    The training backbones are none of those that the seed is chosen from.
    """
    backward = {name: value for name, value in trial.target.items() if name in _OF_REVERSE}
    forward = {name: value for name, value in trial.target.items() if name not in _OF_REVERSE}
    best = _search(replace(trial, target=forward), start, _FORWARD)
    best = _search(replace(trial, target=backward), best, _BACKWARD)
    seeded = [replace(best, seed=seed) for seed in range(SEEDS)]
    return min(seeded, key=lambda profile: trial.loss(profile, [profile.seed]))


def _search(trial: Trial, start: Profile, names: Sequence[str]) -> Profile:
    """A compass search over some sizes of error; the start itself without targets."""
    training = range(1000, 1000 + TRAINING_BACKBONES)
    best, least, step = start, trial.loss(start, training), _FIRST_STEP if trial.target else 0.0
    while step >= _LAST_STEP:
        around = [_moved(best, name, way * step) for name in names for way in (1, -1)]
        losses = [trial.loss(profile, training) for profile in around]
        nearest = int(np.argmin(losses))
        if losses[nearest] < least:
            best, least = around[nearest], losses[nearest]
        else:
            step /= 2
    return best


def _moved(profile: Profile, name: str, step: float) -> Profile:
    """One size of error a step larger or smaller: by a factor, but `rho` by a difference, within 0...1."""
    value = float(getattr(profile, name))
    moved = min(max(value + step, 0.0), 1.0) if name == "rho" else value * float(np.exp(step))
    return _changed(profile, {name: round(moved, 3)})


def _changed(profile: Profile, changes: Mapping[str, float]) -> Profile:
    values: dict[str, Any] = {**asdict(profile), **changes}
    return Profile(**values)


def observed(case: Case, pack: Pack) -> Observed:
    """What a case states of the pack's findings."""
    index = pack.domain.finding_index
    return [(index[o.finding.id], o.present) for kind in KINDS for o in case.observations(kind) if o.known]


def labelled(pack: Pack, path: Path | None) -> tuple[Stated, Index]:
    """The cases with a gold label of a file, or drawn ones."""
    if path is None:
        cases, gold_N = draw_cases(pack.domain, pack.knowledge, DRAWN, seed=0)
        return state(pack.domain, cases), gold_N
    found = [case for case in load_cases(path, pack.domain) if case.gold is not None]
    places = {name: place for place, name in enumerate(pack.domain.label_names)}
    gold_N = np.array([places[case.gold] for case in found if case.gold is not None], dtype=np.int64)
    return state(pack.domain, [observed(case, pack) for case in found]), gold_N


def toml(name: str, profile: Profile) -> str:
    """The profile as a table of `simulation.toml`, the world's constants only where they are not the usual ones."""
    usual = asdict(replace(MODEST, seed=0))
    values = {
        key: value
        for key, value in asdict(profile).items()
        if key in (*_FORWARD, *_BACKWARD, "seed") or value != usual[key]
    }
    return "\n".join((f"[profiles.{name}]", *(f"{key} = {value}" for key, value in values.items())))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command of the module docstring; 0, or 1 with a message if the pack or the targets cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except BadInput as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    pack, profiles = load_pack(options.pack), load_profiles(options.pack)
    stated, gold_N = labelled(pack, options.cases)
    target = dict(_pair(text, [field.name for field in fields(FirstOrder)]) for text in options.fit)
    changes = dict(_pair(text, [*_FORWARD, *_BACKWARD, *_CONSTANTS]) for text in options.set)
    names = [options.profile or profiles.default] if target or options.profile else sorted(profiles.by_name)
    for name in names:
        trial = Trial(pack, stated, gold_N, name, target)
        profile = _changed(profiles.by_name.get(name, MODEST), changes)
        profile = fit(trial, profile) if target else profile
        sys.stdout.write(f"{toml(name, profile)}\n\n{trial.statistics(profile)}\n\n")
        sys.stdout.flush()


def _pair(text: str, names: Sequence[str]) -> tuple[str, float]:
    """NAME=NUMBER of an option.

    Raises:
        BadInput: no such name, or no number.
    """
    name, _, value = text.partition("=")
    try:
        if name in names:
            return name, float(value)
    except ValueError:
        pass
    raise BadInput.at(name, f"wanted NAME=NUMBER, the name one of {', '.join(names)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m simulator.fitting", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("pack", type=Path, help="a pack's folder")
    parser.add_argument("--cases", type=Path, help="labelled cases (NDJSON) instead of drawn ones")
    parser.add_argument("--profile", help="the profile to show or fit; all of them unless given")
    parser.add_argument("--fit", nargs="+", default=[], metavar="STATISTIC=VALUE", help="fit to these targets")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="change the profile first")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
