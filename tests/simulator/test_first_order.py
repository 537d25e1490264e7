"""The statistics that profiles are fitted to, and that fitting sees the very answers which the server gives."""

from pathlib import Path

import numpy as np
import pytest

from agents.personas import POOL
from domains.case import KINDS
from domains.catalogue import load_cases
from simulator.asking import ask_agents
from simulator.first_order import first_order
from simulator.fitting import observed
from simulator.profiles import load_profiles
from simulator.stand_in import Ask, StandIn, backbone_name, load_pack
from simulator.world import World, state
from tests.simulator.worlds import DOMAIN, EXACT, PACKS, backward, forward, places, world

CASES = [
    places("dry_summer", "wilted"),
    places("cold_night", "wilted", "-holes"),
    places("spots_brown", "spots_grey"),
    places("holes", "-wilted"),
    places("cold_night", "spots_grey", "-holes"),
    places("dry_summer", "holes", "spots_brown"),
]
GOLD_N = np.array([0, 1, 2, 4, 5, 3])


def default_world(path: Path) -> World:
    pack, profiles = load_pack(path), load_profiles(path)
    profile = profiles.by_name[profiles.default]
    return World(pack.domain, pack.knowledge, profile, backbone_name(profiles.default, profile, 0))


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.name)
def test_fitting_sees_the_answers_that_the_server_gives(path: Path) -> None:
    of, pack, stand_in = default_world(path), load_pack(path), StandIn(PACKS, shapes="plain")
    cases = list(load_cases(path / "cases.ndjson", pack.domain))[:8]
    stated = state(pack.domain, [observed(case, pack) for case in cases])
    panel = ask_agents(of, of.weigh(stated))
    ranks = {kind: iter(of.ranks(stated, kind, 0).tolist()) for kind in KINDS}
    for n, case in enumerate(cases):
        for k, persona in enumerate(POOL):
            question = forward(pack.domain, case, persona)
            read = question.parse(stand_in.reply(Ask("stand-in", question.messages)).content)
            forward_L, _ = read.arrays(len(pack.domain.labels))
            np.testing.assert_allclose(panel.forward_NKL[n, k], forward_L, atol=1e-12)
        for kind in KINDS:
            asked = backward(pack.domain, case, kind)
            read_ranks = asked.parse(stand_in.reply(Ask("stand-in", asked.messages)).content)
            assert [next(ranks[kind]) for _ in read_ranks.rank_JM] == read_ranks.rank_JM.tolist()


def test_without_errors_all_agents_are_of_one_opinion() -> None:
    statistics = first_order(world(EXACT), state(DOMAIN, CASES), GOLD_N)
    assert statistics.disagree == 0
    assert statistics.random == statistics.plurality == statistics.generic
    assert statistics.agree_agents in (0, 1)
    assert statistics.shortlist == 5


def test_statistics_are_what_a_plain_loop_counts() -> None:
    of, stated = world(), state(DOMAIN, CASES)
    panel = ask_agents(of, of.weigh(stated))
    first = panel.forward_NKL.argmax(axis=-1)
    right = [[int(label) == gold for label in row] for row, gold in zip(panel.top_NK, GOLD_N, strict=True)]
    statistics = first_order(of, stated, GOLD_N)
    assert statistics.random == pytest.approx(np.mean(right))
    assert statistics.disagree == np.mean([len(set(row.tolist())) > 1 for row in panel.top_NK])
    assert statistics.shortlist == np.mean([len(set(np.flatnonzero(row.sum(axis=0)))) for row in panel.forward_NKL])
    assert statistics.top_mass == pytest.approx(np.take_along_axis(panel.forward_NKL, first[..., None], -1).mean())


def test_a_higher_share_overlooked_is_a_lower_accuracy() -> None:
    pack = load_pack(PACKS[0])
    cases = list(load_cases(PACKS[0] / "cases.ndjson", pack.domain))
    stated = state(pack.domain, [observed(case, pack) for case in cases])
    gold_N = np.array([pack.domain.label_names.index(case.gold or "") for case in cases])
    seeing, blind = (
        first_order(World(pack.domain, pack.knowledge, profile, "x"), stated, gold_N)
        for profile in (EXACT, world(EXACT, hidden=0.9).profile)
    )
    assert seeing.plurality > 0.7 > blind.plurality
    assert seeing.reverse > blind.reverse
