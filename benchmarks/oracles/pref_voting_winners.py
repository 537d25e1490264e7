"""Makes `tests/aggregators/data/pref_voting_winners.npz`: random profiles and pref_voting's winner sets.

Run by `make oracles` with the interpreter of a throw-away environment that holds `pref-voting` and `nashpy` (which it
imports and does not ask for); nothing else of this project is imported here. The test that reads the file needs
neither. Takes about a minute; the same library gives the same bytes.

    place_NKC   int8   place of candidate C on ballot K, 0 the first; UNLISTED where the ballot leaves it out
    voters_N    int8   ballots of the profile; the rows of place_NKC after them are empty
    winners_NR  uint8  for each rule of RULES the set of winners, bit C for candidate C; 0: not compared

Candidates are those on some ballot. Ballots are truncated linear orders; a candidate that a ballot leaves out is tied
below all that it ranks (the library's extended strict preference). Two remarks on the library (1.18.2):

- Its Bucklin for truncated ballots counts rank numbers from 0 and stops at C-1. With ranks numbered from 1, as in its
  examples, last places are never counted and about 1 winner set in 90 differs. Numbered from 0 as here, all agree.
- Its ranked pairs elects whoever wins under *some* order of equal margins. It is compared where the order cannot
  matter: where there is a Condorcet winner, or all margins differ and none is 0.
"""

import argparse
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pref_voting.iterative_methods import instant_runoff_for_truncated_linear_orders
from pref_voting.margin_based_methods import minimax, ranked_pairs
from pref_voting.other_methods import bucklin_for_truncated_linear_orders
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.scoring_methods import borda_for_profile_with_ties, plurality

PROFILES, MOST_VOTERS, MOST_CANDIDATES = 20_000, 15, 8
UNLISTED = MOST_CANDIDATES
FIXTURE = Path(__file__).parents[2] / "tests" / "aggregators" / "data" / "pref_voting_winners.npz"


def ranked_pairs_if_settled(profile: ProfileWithTies) -> list[int]:
    """The winner, or nobody where it may depend on how equal margins are ordered."""
    settled = profile.condorcet_winner() is not None or profile.is_uniquely_weighted()
    return list(ranked_pairs(profile)) if settled else []


RULES: dict[str, Callable[[ProfileWithTies], list[int]]] = {
    "plurality": plurality,
    "borda": borda_for_profile_with_ties,
    "bucklin": bucklin_for_truncated_linear_orders,
    "irv": instant_runoff_for_truncated_linear_orders,
    "minimax": minimax,
    "ranked_pairs": ranked_pairs_if_settled,
}


def draw_profile(generator: np.random.Generator) -> NDArray[np.int8]:
    """The places [voters, C] of one profile: voters who agree much, little or not at all, on ballots cut anywhere.

    One in eight is a crowd with few candidates and no opinion in common, for cycles without equal margins.
    """
    crowd = generator.random() < 0.125
    voters = MOST_VOTERS if crowd else generator.integers(1, 10)
    candidates = generator.integers(3, 5) if crowd else generator.integers(2, MOST_CANDIDATES + 1)
    agreement = 0.0 if crowd else generator.choice([0.0, 0.7, 2.0])
    merit = agreement * generator.gumbel(size=MOST_CANDIDATES) + generator.gumbel(size=(voters, MOST_CANDIDATES))
    merit[:, candidates:] = -np.inf
    place = (-merit).argsort(axis=-1, kind="stable").argsort(axis=-1, kind="stable").astype(np.int8)
    listed = generator.integers(1, candidates + 1, size=(voters, 1))
    if generator.random() < 0.2:
        listed[:] = candidates  # complete ballots
    return np.where(place < listed, place, UNLISTED).astype(np.int8)


def winner_sets(place: NDArray[np.int8]) -> list[int]:
    """Each rule's winners as a bit set."""
    ballots = [{c: int(p) for c, p in enumerate(ballot) if p < UNLISTED} for ballot in place]
    profile = ProfileWithTies(ballots)
    profile.use_extended_strict_preference()
    return [sum(1 << candidate for candidate in rule(profile)) for rule in RULES.values()]


def main() -> None:
    """Draws the profiles, asks the library and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=FIXTURE)
    file = parser.parse_args().file
    generator = np.random.default_rng(20_000)
    place_NKC = np.full((PROFILES, MOST_VOTERS, MOST_CANDIDATES), UNLISTED, dtype=np.int8)
    voters_N, winners_NR = np.zeros(PROFILES, dtype=np.int8), np.zeros((PROFILES, len(RULES)), dtype=np.uint8)
    for n in range(PROFILES):
        place = draw_profile(generator)
        place_NKC[n, : len(place)], voters_N[n] = place, len(place)
        winners_NR[n] = winner_sets(place)
        if n % 1000 == 999:
            print(f"{n + 1} profiles", flush=True)
    source = f"pref-voting {version('pref-voting')}"
    np.savez_compressed(
        file, place_NKC=place_NKC, voters_N=voters_N, winners_NR=winners_NR, rules=list(RULES), source=source
    )


if __name__ == "__main__":
    main()
