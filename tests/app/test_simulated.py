"""Simulated backbones as the material of a study."""

import numpy as np
import pytest

from app.simulated import Simulation, match_back, matched_worlds, set_up, simulated_materials
from domains.catalogue import Catalogue
from domains.errors import BadInput, NotFound
from evaluation.methods import alone
from evaluation.studies.altering import named

PACK = "chest_pain"
SIMULATION = Simulation(profiles=("default",), domain=PACK, cases=150, backbones=2)


def test_every_backbone_has_misbeliefs_of_its_own_on_the_same_cases() -> None:
    first, second = simulated_materials(set_up(SIMULATION, Catalogue()))
    assert first.id_N == second.id_N
    assert (first.gold_N == second.gold_N).all()
    assert (first.panel.forward_NKL != second.panel.forward_NKL).any()
    assert first.title != second.title
    assert first.about.stand_in
    assert second.about.stand_in


def test_the_same_simulation_is_the_same() -> None:
    first, again = (simulated_materials(set_up(SIMULATION, Catalogue()))[0] for _ in range(2))
    np.testing.assert_array_equal(first.panel.forward_NKL, again.panel.forward_NKL)
    np.testing.assert_array_equal(first.log_anchor_NL, again.log_anchor_NL)


def test_the_cases_of_a_pack_are_its_labelled_ones() -> None:
    simulation = Simulation(profiles=("default",), domain=PACK, cases=25, dataset=PACK)
    setting = set_up(simulation, Catalogue())
    assert len(setting.id_N) == len(setting.gold_N) == 25


def test_r_is_as_often_right_at_every_rho_to_within_a_few_cases() -> None:
    for world in matched_worlds(set_up(SIMULATION, Catalogue()), rho=(0.0, 1.0)):
        wanted = world.material.right_N(alone("reverse")).sum()
        for log_anchor_NL in world.log_anchor_NL.values():
            right_N = named(log_anchor_NL, world.material.panel.seed_N) == world.material.gold_N
            assert abs(int(right_N.sum()) - wanted) <= 3
        assert world.back[0.0] != world.back[1.0]


def test_the_anchor_of_the_profiles_own_rho_and_size_is_its_own() -> None:
    setting = set_up(SIMULATION, Catalogue())
    rho = setting.worlds[0][1].profile.rho
    world = next(matched_worlds(setting, rho=(rho,)))
    assert world.back[rho] == world.own_back
    np.testing.assert_array_equal(world.log_anchor_NL[rho], world.material.log_anchor_NL)


def test_matching_finds_the_size_that_gives_the_wanted_number() -> None:
    (material,) = simulated_materials(set_up(Simulation(("default",), PACK, cases=60), Catalogue()))
    right_N = material.right_N(alone("reverse")) > 0

    def asked(back: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """R as it is at a size of 5 and below; always wrong above."""
        other_N = np.where(material.gold_N == 0, 1, 0)
        wrong_NL = np.where(np.arange(len(material.panel.labels)) == other_N[:, None], 0.0, -np.inf)
        return material.log_anchor_NL if back <= 5 else wrong_NL

    back, log_anchor_NL = match_back(asked, material, 30.0)
    assert right_N.any()
    assert back <= 5
    np.testing.assert_array_equal(log_anchor_NL, material.log_anchor_NL)


def test_an_unknown_profile_names_those_that_there_are() -> None:
    with pytest.raises(NotFound, match="nobody is no profile of chest_pain; there are: default"):
        set_up(Simulation(("nobody",), PACK), Catalogue())


def test_an_unknown_domain_is_refused() -> None:
    with pytest.raises(NotFound, match="no such domain"):
        set_up(Simulation(("default",), "nowhere"), Catalogue())


def test_too_few_cases_are_refused() -> None:
    with pytest.raises(BadInput, match="--simulate: 10 of 10 cases have a gold label"):
        simulated_materials(set_up(Simulation(("default",), PACK, cases=10), Catalogue()))
