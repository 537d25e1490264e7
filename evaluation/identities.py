"""What must be so in any evaluation, whatever the data (method.md, Oracles). A report asserts it on its own numbers.

Two ways to look: `count_identities` sees counts, the paper's as well as ours; `case_identities` sees every case.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anchor.calibration import PREFIX
from domains.simplex import Index
from evaluation.methods import (
    CALIBRATED,
    CLASS_BIAS,
    EVERY_AGENT,
    FORWARD_RULES,
    HEADS,
    RANDOM,
    RANDOM_EXPECTED,
    alone,
    headed,
    ranked,
    swept,
)  # fmt: skip
from evaluation.numbers import Numbers
from evaluation.scoring import SEEDS, Evaluation
from evaluation.slices import SLICES, Slice

_CLOSE = 1e-6
"""Counts are whole, but where tied agents share a place."""
_PHI = 1e-9


@dataclass(frozen=True, slots=True)
class Identity:
    """One identity on one evaluation. `detail` has the numbers."""

    name: str
    holds: bool
    detail: str


def count_identities(numbers: Numbers) -> tuple[Identity, ...]:
    """Every identity that the numbers at hand can be held to; one that lacks a number is left out."""
    found = [*_pool(numbers), *_unanimity(numbers), *_skipped(numbers), *_same_counts(numbers), *_ranks(numbers)]
    found += _grids(numbers)
    named = [anchor for anchor in numbers.anchors if anchor.startswith(PREFIX)]
    for calibrated in (CALIBRATED, CLASS_BIAS, *named):
        found += calibration_identities(numbers, numbers, numbers.main_anchor, calibrated)
    return tuple(found)


def case_identities(evaluation: Evaluation) -> tuple[Identity, ...]:
    """The identities that hold case by case and not only in sum."""
    methods, unanimous_N = evaluation.methods, ~evaluation.pool.disagree_N
    top_N = evaluation.top_NK[:, 0]
    found = []
    skipping = [judge for judge, case_N in evaluation.skipped.items() if case_N.any()]
    for key in [*_unanimous_methods(evaluation.anchors), *skipping]:
        method = methods.get(key)
        if method is not None and method.label_N is not None:
            moved = int((unanimous_N & (method.label_N != top_N)).sum())
            found.append(Identity(f"unanimous_label:{key}", not moved, f"{moved} unanimous cases get another label"))
    if "range" in methods and alone("mean_forward") in methods:
        differ = _different(methods["range"].label_N, methods[alone("mean_forward")].label_N)
        found.append(Identity("range_label=mean_forward_label", not differ, f"{differ} cases differ"))
    nearest = ranked(evaluation.setting.main_anchor, 1)
    if "minjs" in methods and nearest in methods:
        differ_N = np.abs(methods[nearest].right_N - methods["minjs"].right_N) > _CLOSE
        wrong = int((differ_N & ~evaluation.unclear_N).sum())
        unclear = int(evaluation.unclear_N.sum())
        detail = f"{wrong} cases differ; {unclear} more have several nearest agents and may"
        found.append(Identity("rank1=minjs_where_one_agent_is_nearest", not wrong, detail))
    return tuple(found)


def calibration_identities(
    before: Numbers, after: Numbers, anchor_before: str, anchor_after: str
) -> tuple[Identity, ...]:
    """Another anchor changes `minjs` and `fwdjs` only where the agents disagree: their gain in cases is the same on
    both slices. The two numbers must be of the same pool, and may be the same."""
    found = []
    for head in ("minjs", "fwdjs"):
        gains = {
            name: _difference(before, after, headed(head, anchor_before), headed(head, anchor_after), name)
            for name in SLICES
        }
        on_all, on_disagree = gains["all"], gains["disagree"]
        if on_all is not None and on_disagree is not None:
            detail = f"All {on_all:+g}, Disagree {on_disagree:+g} cases"
            found.append(Identity(f"gain_on_disagree_only:{headed(head, anchor_after)}", on_all == on_disagree, detail))
    return tuple(found)


def phi_identity(name: str, printed: float | None, from_grid: float | None, tolerance: float = _PHI) -> Identity:
    """The φ printed is that of the grid printed."""
    if printed is None or from_grid is None:
        return Identity(name, printed is from_grid, f"grid {from_grid}, printed {printed}")
    close = math.isclose(printed, from_grid, rel_tol=0.0, abs_tol=tolerance)
    return Identity(name, close, f"grid {from_grid:.4f}, printed {printed:.4f}")


def _pool(numbers: Numbers) -> Iterator[Identity]:
    """Every method is scored on the same cases: `random` three times, its expectation for every agent."""
    wrong = [
        f"{key} {name} {share.of}"
        for key, slices in numbers.correct.items()
        for name, share in slices.items()
        if share.of != numbers.cases[name] * _draws(numbers, key)
    ]
    expected = ", ".join(f"{name} {numbers.cases[name]}" for name in SLICES)
    yield Identity("same_pool", not wrong, f"N: {expected}" + (f"; but {', '.join(wrong)}" if wrong else ""))


def _draws(numbers: Numbers, method: str) -> int:
    return {RANDOM: len(SEEDS), RANDOM_EXPECTED: len(numbers.agents)}.get(method, 1)


def _unanimous_methods(anchors: tuple[str, ...]) -> list[str]:
    """What must give the label that all agents give: without a judge that is asked, and without the anchor's own
    mass."""
    keys = [*FORWARD_RULES, RANDOM, RANDOM_EXPECTED, "minjs", "fwdjs", alone("mean_forward")]
    keys += [headed(head, anchor) for anchor in anchors for head in ("minjs", "fwdjs")]
    return [*keys, headed("loglin", "mean_forward")]


def _unanimity(numbers: Numbers) -> Iterator[Identity]:
    """correct(All) − correct(Disagree) is one constant U. What was scored on other cases is left to `same_pool`."""
    expected = numbers.unanimous_right
    for key in [*_unanimous_methods(numbers.anchors), *_skipping(numbers)]:
        on_all, on_disagree = numbers.share(key, "all"), numbers.share(key, "disagree")
        draws = _draws(numbers, key)
        if on_all is None or on_disagree is None or on_all.of != numbers.cases["all"] * draws:
            continue
        constant = on_all.correct - on_disagree.correct
        detail = f"All − Disagree = {constant:g}, U = {expected}" + (f" × {draws}" if draws > 1 else "")
        yield Identity(f"unanimous:{key}", constant == expected * draws, detail)


def _skipping(numbers: Numbers) -> list[str]:
    """The judges that were not to be asked where the agents agree."""
    return [judge for judge, slices in numbers.skipped.items() if any(slices.values())]


def _skipped(numbers: Numbers) -> Iterator[Identity]:
    """What is skipped is every unanimous case, and no other."""
    for judge in _skipping(numbers):
        skipped, unanimous = numbers.skipped[judge], numbers.cases["all"] - numbers.cases["disagree"]
        detail = f"skipped {skipped['all']} on All and {skipped['disagree']} on Disagree; {unanimous} are unanimous"
        yield Identity(f"skipped:{judge}", (skipped["all"], skipped["disagree"]) == (unanimous, 0), detail)


def _same_counts(numbers: Numbers) -> Iterator[Identity]:
    """What is the same quantity under two names."""
    parameters = numbers.parameters
    pairs = {"range": alone("mean_forward"), "loglin": swept("loglin", "w_r", parameters.w_r)}
    named = [*pairs.items()]
    named += [(head, headed(head, numbers.main_anchor)) for head in HEADS]
    named += [(head, swept(head, "tau", parameters.tau)) for head in ("fwdjs", "loglin")]
    for first, second in named:
        counts = [(numbers.share(first, name), numbers.share(second, name)) for name in SLICES]
        known = [(one.correct, two.correct) for one, two in counts if one is not None and two is not None]
        if known:
            detail = ", ".join(f"{one:g} and {two:g}" for one, two in known)
            yield Identity(f"{first}={second}", all(one == two for one, two in known), detail)


def _ranks(numbers: Numbers) -> Iterator[Identity]:
    for name in SLICES:
        nearest, minjs = numbers.share(ranked(numbers.main_anchor, 1), name), numbers.share("minjs", name)
        if nearest is not None and minjs is not None:
            unclear = numbers.unclear_nearest.get(name, 0)
            detail = f"{nearest.correct:g} and {minjs.correct:g}; {unclear} cases have several nearest agents"
            holds = abs(nearest.correct - minjs.correct) <= unclear + _CLOSE
            yield Identity(f"rank1=minjs:{name}", holds, detail)
        for anchor in numbers.anchors:
            yield from _mean_rank(numbers, anchor, name)


def _mean_rank(numbers: Numbers, anchor: str, name: Slice) -> Iterator[Identity]:
    """The agents in any order are the same agents."""
    expected = numbers.share(RANDOM_EXPECTED, name)
    shares = [numbers.share(ranked(anchor, place + 1), name) for place in range(len(numbers.agents))]
    known = [share.correct for share in shares if share is not None]
    if expected is not None and len(known) == len(shares):
        total = math.fsum(known)
        detail = f"all places {total:g}, all agents {expected.correct:g}"
        yield Identity(f"mean_of_ranks@{anchor}:{name}", abs(total - expected.correct) <= _CLOSE, detail)


def _grids(numbers: Numbers) -> Iterator[Identity]:
    """The margins of a grid are the two predictors' own counts, and its φ is the one printed."""
    for reference, slices in numbers.collisions.items():
        pooled = reference == EVERY_AGENT
        for name, collision in slices.items():
            grid = collision.grid
            if grid is None:
                continue
            margins = {
                "plurality": (grid.first_right, numbers.share("plurality", name), len(numbers.agents) if pooled else 1),
                reference: (grid.second_right, numbers.share(RANDOM_EXPECTED if pooled else reference, name), 1),
            }
            for predictor, (margin, share, times) in margins.items():
                if share is not None:
                    detail = f"grid {margin}, counted {share.correct * times:g}"
                    title = f"grid:{reference}:{name}:{predictor}"
                    yield Identity(title, margin == share.correct * times, detail)
            yield phi_identity(f"phi:{reference}:{name}", collision.phi, grid.phi())


def _difference(before: Numbers, after: Numbers, first: str, second: str, name: Slice) -> float | None:
    base, other = before.share(first, name), after.share(second, name)
    return None if base is None or other is None else other.correct - base.correct


def _different(first_N: Index | None, second_N: Index | None) -> int:
    return 0 if first_N is None or second_N is None else int((first_N != second_N).sum())
