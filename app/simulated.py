"""Simulated backbones as the material of a study: a pack's world is asked about many cases at once, no words between.

Every answer is the stand-in's, which is no language model.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from aggregators import DEFAULTS
from anchor.anchors import ANCHORS
from app.runs.dataset import find_dataset
from domains.catalogue import Catalogue, load_cases
from domains.errors import BadInput, NotFound
from domains.simplex import Array, Index
from evaluation.methods import MAIN_ANCHOR, alone
from evaluation.studies.altering import named
from evaluation.studies.correlation import RHO, Matched
from evaluation.studies.material import About, Material, pool_of
from simulator.asking import ask_everything, ask_ranks
from simulator.drawn_cases import draw_cases
from simulator.fitting import observed
from simulator.profiles import load_profiles
from simulator.prompt_reader import Pack
from simulator.stand_in import MODEL, backbone_name, load_pack
from simulator.world import Profile, Stated, World, state

CASES = 2_000
_TRIES = 16
_MOST_BACK = 40.0
"""Nats: backward misbeliefs of this size leave no trace of the truth."""


@dataclass(frozen=True)
class Simulation:
    """What is simulated: profiles of a domain's pack, so many backbones of each (every one with misbeliefs of its own),
    on the first cases of a data set or, without one, on cases drawn from the pack's knowledge."""

    profiles: tuple[str, ...]
    domain: str
    cases: int = CASES
    dataset: str | None = None
    backbones: int = 1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Setting:
    """The cases of a simulation, and its worlds with their titles."""

    stated: Stated
    gold_N: Index
    id_N: tuple[str, ...]
    told: str
    domain: str
    worlds: tuple[tuple[str, World], ...]


def set_up(simulation: Simulation, catalogue: Catalogue) -> Setting:
    """The cases and worlds of a simulation.

    Raises:
        NotFound: no such domain or profile.
        BadInput: the pack has no knowledge, or the data set has no case with a gold label.
    """
    path = catalogue.path(simulation.domain)
    pack, profiles = load_pack(path), load_profiles(path)
    unknown = [name for name in simulation.profiles if name not in profiles.by_name]
    if unknown:
        known = ", ".join(sorted(profiles.by_name))
        raise NotFound.at("--simulate", f"{unknown[0]} is no profile of {simulation.domain}; there are: {known}")
    stated, gold_N, id_N, told = _cases(simulation, pack, catalogue)
    worlds = tuple(
        (
            f"{MODEL}-{name} #{seed}" if simulation.backbones > 1 else f"{MODEL}-{name}",
            _world(pack, name, profile, seed),
        )
        for name in simulation.profiles
        for profile in [profiles.by_name[name]]
        for seed in range(simulation.seed, simulation.seed + simulation.backbones)
    )
    return Setting(stated, gold_N, id_N, told, f"{pack.domain.name} {pack.domain.digest}", worlds)


def _world(pack: Pack, name: str, profile: Profile, seed: int) -> World:
    return World(pack.domain, pack.knowledge, profile, backbone_name(name, profile, seed))


def _cases(simulation: Simulation, pack: Pack, catalogue: Catalogue) -> tuple[Stated, Index, tuple[str, ...], str]:
    if simulation.dataset is None:
        cases, gold_N = draw_cases(pack.domain, pack.knowledge, simulation.cases, simulation.seed)
        told = f"{len(cases):,} cases drawn from the pack's knowledge, seed {simulation.seed}"
        return state(pack.domain, cases), gold_N, tuple(map(str, range(len(cases)))), told
    path, _ = find_dataset(simulation.dataset, catalogue)
    labelled = (case for case in load_cases(path, pack.domain) if case.gold is not None)
    found = list(islice(labelled, simulation.cases))
    if not found:
        raise BadInput.at(str(path), "no case has a gold label; a study needs them")
    places = {name: place for place, name in enumerate(pack.domain.label_names)}
    gold_N = np.array([places[case.gold] for case in found if case.gold is not None], dtype=np.int64)
    stated = state(pack.domain, [observed(case, pack) for case in found])
    return stated, gold_N, tuple(case.id for case in found), f"the first {len(found):,} labelled cases of {path.name}"


def simulated_materials(setting: Setting) -> tuple[Material, ...]:
    """Each backbone's answers to all cases.

    Raises:
        BadInput: too few cases, or the agents never disagree.
    """
    return tuple(_material(setting, title, world) for title, world in setting.worlds)


def _material(setting: Setting, title: str, world: World) -> Material:
    panel, sources = ask_everything(world, setting.stated)
    about = About(
        title=title,
        origin=f"a simulated backbone ({world.backbone}) on {setting.told}",
        where="--simulate",
        domain=setting.domain,
        dataset=setting.told,
        backbones=(title,),
        stand_in=True,
        parameters=DEFAULTS,
    )
    return pool_of(Material(about, panel, sources, setting.gold_N, setting.id_N, len(panel), {}))


def matched_worlds(setting: Setting, rho: Sequence[float] = RHO) -> Iterator[Matched]:
    """Each backbone at each ρ, its size of backward error set so that R alone is right in as many cases as at the
    profile's own ρ and size: by bisection, on these cases."""
    for material, (_, world) in zip(simulated_materials(setting), setting.worlds, strict=True):
        found = {each: match_back(_backward(setting, material, world, each), material, world.profile.back)
                 for each in rho}  # fmt: skip
        yield Matched(
            material=material,
            own_back=world.profile.back,
            log_anchor_NL={each: log_anchor_NL for each, (_, log_anchor_NL) in found.items()},
            back={each: back for each, (back, _) in found.items()},
        )


def _backward(setting: Setting, material: Material, world: World, rho: float) -> Callable[[float], Array]:
    """ln R [N, L] of the material's cases by the size of backward error."""
    row_of = {name: row for row, name in enumerate(setting.id_N)}
    row_N = np.array([row_of[name] for name in material.id_N], dtype=np.int64)
    rated_NL = np.zeros((len(setting.id_N), len(material.panel.labels)), dtype=np.bool_)
    rated_NL[row_N] = material.panel.shortlist_NL

    def asked(back: float) -> Array:
        other = replace(world, profile=replace(world.profile, rho=rho, back=back))
        sources = replace(
            material.sources, shortlist_NL=rated_NL, histograms=ask_ranks(other, setting.stated, rated_NL)
        )
        return ANCHORS[MAIN_ANCHOR].build(sources).log_anchor_NL[row_N]

    return asked


def match_back(asked: Callable[[float], Array], material: Material, start: float) -> tuple[float, Array]:
    """The size of backward error at which R is right in as many cases as the material's own, or as near as the search
    came, and that R. More error makes fewer right, but not at every step: the nearest of all that were tried is taken.
    """
    wanted = int(material.right_N(alone(MAIN_ANCHOR)).sum())
    low, high, back = 0.0, _MOST_BACK, start
    tried: list[tuple[int, float, Array]] = []
    for _ in range(_TRIES):
        log_anchor_NL = asked(back)
        right = int((named(log_anchor_NL, material.panel.seed_N) == material.gold_N).sum())
        tried.append((abs(right - wanted), back, log_anchor_NL))
        if right == wanted:
            break
        low, high = (back, high) if right > wanted else (low, back)
        back = (low + high) / 2
    _, nearest, log_anchor_NL = min(tried, key=lambda each: each[0])
    return nearest, log_anchor_NL
