"""A peer of P6, run with the interpreter of `make oracles` and nothing of this project: pref_voting, election by
election. `python benchmarks/speed/pref_voting_peer.py BALLOTS.npz` prints seconds of CPU a case, as JSON.

The file holds `place_NKL` (a label's place on a ballot, L: not on it) and `mass_NKL` (what the ballot gives it). As on
our side, a case begins as arrays' plain values and ends as a set of winners. Of its ranked pairs the one with a fixed
order for equal margins, which is ours too: the other goes through every order, and takes minutes for some cases.
"""

import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pref_voting.iterative_methods import instant_runoff_for_truncated_linear_orders
from pref_voting.margin_based_methods import minimax, ranked_pairs_tb
from pref_voting.other_methods import bucklin_for_truncated_linear_orders
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.scoring_methods import borda_for_profile_with_ties, plurality
from pref_voting.utility_methods import sum_utilitarian
from pref_voting.utility_profiles import UtilityProfile

RULES: dict[str, Callable[[Any], Any]] = {
    "plurality": plurality,
    "borda": borda_for_profile_with_ties,
    "bucklin": bucklin_for_truncated_linear_orders,
    "irv": instant_runoff_for_truncated_linear_orders,
    "minimax": minimax,
    "ranked_pairs": ranked_pairs_tb,
}
ROUNDS = 5


def ranked(ballots: list[dict[int, int]]) -> ProfileWithTies:
    """Truncated ballots, what they leave out tied below."""
    profile = ProfileWithTies(ballots)
    profile.use_extended_strict_preference()
    return profile


def elected(rule: Callable[[Any], Any], ballots: list[dict[int, int]]) -> Any:
    """The winners of one case."""
    return rule(ranked(ballots))


def scored(masses: list[dict[int, float]]) -> UtilityProfile:
    """Masses as utilities; a label that a ballot leaves out has none."""
    candidates = sorted({label for mass in masses for label in mass})
    return UtilityProfile([{label: mass.get(label, 0.0) for label in candidates} for mass in masses])


def seconds_a_case(work: Callable[[Any], Any], cases: list[Any]) -> float:
    """Of each case the least of some rounds, as of our side's parts."""
    least = [math.inf] * len(cases)
    for _ in range(ROUNDS):
        for place, case in enumerate(cases):
            began = time.process_time()
            work(case)
            least[place] = min(least[place], time.process_time() - began)
    return sum(least) / len(cases)


def main() -> None:
    """Measure, print."""
    with np.load(sys.argv[1]) as file:
        place_NKL, mass_NKL = file["place_NKL"], file["mass_NKL"]
    labels = place_NKL.shape[-1]
    ballots = [
        [{int(d): int(ballot[d]) for d in np.flatnonzero(ballot < labels)} for ballot in case] for case in place_NKL
    ]
    masses = [[{int(d): float(mass[d]) for d in np.flatnonzero(mass)} for mass in case] for case in mass_NKL]
    taken = {name: seconds_a_case(partial(elected, rule), ballots) for name, rule in RULES.items()}
    taken["range"] = seconds_a_case(lambda case: sum_utilitarian(scored(case)), masses)
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
