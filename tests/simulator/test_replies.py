"""How answers are put into words."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from domains.case import Label
from domains.posterior import read_posterior
from simulator.replies import OUTSIDER, Dice, Style, write_posterior
from tests.simulator.worlds import DOMAIN

TWINS = replace(DOMAIN, labels=(Label("Rh+"), Label("Rh-"), Label("Neither of the two")))
BALLOT = [(2, 0.5), (0, 0.3), (1, 0.2)]
KEYS = st.integers(0, 2**64 - 1)


@given(KEYS)
def test_whatever_a_usual_reply_looks_like_it_states_the_ballot(key: int) -> None:
    reply = write_posterior([(0, 0.5), (1, 0.3), (4, 0.2)], [], DOMAIN, Style("usual", False, Dice(key)))
    read = read_posterior(reply.content, DOMAIN)
    assert read.label_M[:2] == (0, 1)
    assert (read.unresolved > 0) == (OUTSIDER in reply.content)
    assert reply.finish_reason == "stop"


@given(KEYS)
def test_labels_are_not_respelt_into_one_another(key: int) -> None:
    reply = write_posterior(BALLOT, [], TWINS, Style("usual", False, Dice(key)))
    assert {0, 2} <= set(read_posterior(reply.content, TWINS).label_M)


@given(KEYS)
def test_a_structured_reply_has_no_peculiarity(key: int) -> None:
    style = Style("all", True, Dice(key))
    assert write_posterior(BALLOT, [], DOMAIN, style) == write_posterior(
        BALLOT, [], DOMAIN, replace(style, dice=Dice(0))
    )


def test_dice_roll_every_option() -> None:
    assert {Dice(key).pick("side", range(6)) for key in range(200)} == set(range(6))
    assert 20 < sum(Dice(key).chance("rain", 0.2) for key in range(200)) < 60
