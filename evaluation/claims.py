"""What the paper says in prose, as predicates over anyone's numbers: holds, does not, or cannot be told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from evaluation.methods import (
    CALIBRATED,
    CLASS_BIAS,
    EVERY_AGENT,
    FORWARD_RULES,
    HEADS,
    PAPER_JUDGES,
    RANDOM,
    alone,
    headed,
    ranked,
    swept,
)  # fmt: skip
from evaluation.numbers import Numbers
from evaluation.slices import SLICES, Slice

Predicate = Callable[[Numbers], bool | None]
Scope = Literal["every", "most", "some"]
"""Of how many backbones the paper says it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `holds` is None where a backbone's numbers do not tell."""

    name: str
    says: str
    where: str
    scope: Scope
    holds: Predicate


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim on one or several backbones: on each, and of as many of them as the claim is made for."""

    claim: Claim
    by_backbone: tuple[tuple[str, bool | None], ...]
    holds: bool | None


def judge_claims(backbones: Sequence[Numbers]) -> tuple[Verdict, ...]:
    """Every claim on these backbones: on *every* one, on *most* (more than half) or on *some* (one at least), as the
    paper says it. None where those backbones that do not tell could turn the verdict."""
    return tuple(_judge(claim, backbones) for claim in CLAIMS)


def _judge(claim: Claim, backbones: Sequence[Numbers]) -> Verdict:
    found = tuple((numbers.backbone, claim.holds(numbers)) for numbers in backbones)
    votes = [vote for _, vote in found]
    return Verdict(claim, found, _overall(claim.scope, votes.count(True), votes.count(False), len(votes)))


def _overall(scope: Scope, yes: int, no: int, total: int) -> bool | None:
    """What is settled whichever way the backbones that do not tell would go."""
    if not total:
        return None
    if scope == "every":
        return False if no else (True if yes == total else None)
    if scope == "some":
        return True if yes else (False if no == total else None)
    return True if 2 * yes > total else (False if 2 * no >= total else None)


def _above(first: float | None, second: float | None) -> bool | None:
    return None if first is None or second is None else first > second + 1e-12


def _all(votes: Sequence[bool | None]) -> bool | None:
    """False if one is; else None if one is, or there is none."""
    if False in votes:
        return False
    return None if None in votes or not votes else True


def _best_rule(numbers: Numbers, name: Slice) -> float | None:
    rates = [numbers.rate(rule, name) for rule in FORWARD_RULES]
    known = [rate for rate in rates if rate is not None]
    return max(known) if len(known) == len(rates) else None


def _beats_rules(method: str, name: Slice) -> Predicate:
    return lambda numbers: _above(numbers.rate(method, name), _best_rule(numbers, name))


def _beats(first: str, second: str, name: Slice) -> Predicate:
    return lambda numbers: _above(numbers.rate(first, name), numbers.rate(second, name))


def _both(*predicates: Predicate) -> Predicate:
    return lambda numbers: _all([predicate(numbers) for predicate in predicates])


def _on_both_slices(make: Callable[[Slice], Predicate]) -> Predicate:
    return _both(*(make(name) for name in SLICES))


def _not(predicate: Predicate) -> Predicate:
    def negated(numbers: Numbers) -> bool | None:
        vote = predicate(numbers)
        return None if vote is None else not vote

    return negated


def _gain_is_largest_on_disagree(numbers: Numbers) -> bool | None:
    gains: list[float] = []
    for name in ("disagree", "all"):
        fused, rule = numbers.rate("loglin", name), _best_rule(numbers, name)
        if fused is None or rule is None:
            return None
        gains.append(fused - rule)
    return _above(gains[0], gains[1])


def _collides_least(name: Slice) -> Predicate:
    def lowest(numbers: Numbers) -> bool | None:
        references = (alone("reverse"), alone("generic_forward"), EVERY_AGENT)
        pi = [numbers.collisions[key][name].pi if key in numbers.collisions else None for key in references]
        return _all([_above(other, pi[0]) for other in pi[1:]])

    return lowest


def _near_beats_far(numbers: Numbers) -> bool | None:
    if len(numbers.agents) < 2:
        return None
    near, far = (numbers.rate(ranked("reverse", place), "disagree") for place in (1, len(numbers.agents)))
    return _above(near, far)


def _falls_with_rank(anchor: str) -> Predicate:
    def falls(numbers: Numbers) -> bool | None:
        rates = [numbers.rate(ranked(anchor, place + 1), "disagree") for place in range(len(numbers.agents))]
        return _all([_above(near, far) for near, far in pairwise(rates)])

    return falls


def _breaks(numbers: Numbers, anchor: str) -> int | None:
    """Neighbouring places of which the farther agent is the better one, over both slices."""
    votes = [
        _above(numbers.rate(ranked(anchor, place + 1), name), numbers.rate(ranked(anchor, place), name))
        for name in SLICES
        for place in range(1, len(numbers.agents))
    ]
    return None if None in votes else votes.count(True)


def _ranks_best(numbers: Numbers) -> bool | None:
    own = _breaks(numbers, "reverse")
    others = [_breaks(numbers, anchor) for anchor in ("mean_forward", "generic_forward")]
    return _all([None if own is None or other is None else own <= other for other in others])


def _some_weight_beats_the_default(numbers: Numbers) -> bool | None:
    votes = [
        _above(numbers.rate(swept("loglin", "w_r", w_r), "disagree"), numbers.rate("loglin", "disagree"))
        for w_r in (0.3, 0.4, 0.5)
    ]
    return True if True in votes else (None if None in votes else False)


def _bias_repairs_more(numbers: Numbers) -> bool | None:
    return _all(
        [_beats(headed(head, CLASS_BIAS), headed(head, CALIBRATED), name)(numbers) for head in HEADS for name in SLICES]
    )


def _best_of_all(name: Slice) -> Predicate:
    return _both(_beats_rules("loglin", name), *(_beats("loglin", other, name) for other in (*PAPER_JUDGES, "fwdjs")))


def _weak_alone(name: Slice) -> Predicate:
    return _both(*(_beats(alone(other), alone("reverse"), name) for other in ("mean_forward", "generic_forward")))


def _better_anchor(name: Slice) -> Predicate:
    return _both(
        *(
            _beats(headed(head, "reverse"), headed(head, other), name)
            for head in ("fwdjs", "loglin")
            for other in ("mean_forward", "generic_forward")
        )
    )


def _gains(head: str, name: Slice) -> Predicate:
    return _beats(headed(head, CALIBRATED), headed(head, "reverse"), name)


CLAIMS: tuple[Claim, ...] = (
    Claim("minjs_beats_random", "MinJS is above a random agent, on both slices", "abstract, 5.1", "every",
          _on_both_slices(lambda name: _beats("minjs", RANDOM, name))),
    Claim("minjs_below_rules", "MinJS can stay below the best electoral rule (All)", "5.1", "some",
          _not(_beats_rules("minjs", "all"))),
    Claim("fwdjs_beats_rules", "FwdJS is above the best electoral rule on Disagree", "5.1", "every",
          _beats_rules("fwdjs", "disagree")),
    Claim("loglin_beats_rules", "LogLin is above the best electoral rule on Disagree", "5.1", "every",
          _beats_rules("loglin", "disagree")),
    Claim("loglin_beats_judges", "LogLin is above both LLM judges on Disagree", "5.1", "every",
          _both(*(_beats("loglin", judge, "disagree") for judge in PAPER_JUDGES))),
    Claim("loglin_best", "LogLin is the best method, on both slices", "introduction, 5.1", "every",
          _on_both_slices(_best_of_all)),
    Claim("fwdjs_not_uniform", "a judge can be above FwdJS on Disagree", "5.1", "some",
          _not(_both(*(_beats("fwdjs", judge, "disagree") for judge in PAPER_JUDGES)))),
    Claim("gain_on_disagree", "LogLin's gain over the best electoral rule is larger on Disagree than on All",
          "abstract, 5.1", "every", _gain_is_largest_on_disagree),
    Claim("progression", "MinJS < FwdJS < LogLin, on both slices", "5.1", "every",
          _on_both_slices(lambda name: _both(_beats("fwdjs", "minjs", name), _beats("loglin", "fwdjs", name)))),
    Claim("reverse_weak_alone", "R alone is below MeanF and GenF on All", "5.2", "every",
          _weak_alone("all")),
    Claim("reverse_weak_alone_disagree", "R alone is below MeanF and GenF on Disagree", "5.2", "most",
          _weak_alone("disagree")),
    Claim("reverse_best_anchor", "FwdJS and LogLin are higher beside R than beside MeanF or GenF, on both slices",
          "introduction, 5.2", "every", _on_both_slices(_better_anchor)),
    Claim("mean_forward_no_gain", "LogLin beside MeanF is not above the best electoral rule, on both slices", "5.2",
          "every", _on_both_slices(lambda name: _not(_beats_rules(headed("loglin", "mean_forward"), name)))),
    Claim("factors_below_reverse", "LogLin on Disagree is higher beside R than beside R_lik or R_prior", "5.2, C",
          "most", _both(*(_beats("loglin", headed("loglin", factor), "disagree")
                          for factor in ("reverse_likelihood", "reverse_prior")))),
    Claim("collides_least", "R shares plurality's wrong label less often than GenF or an agent, on both slices",
          "5.3, E", "every", _on_both_slices(_collides_least)),
    Claim("near_beats_far", "the agent nearest to R is more accurate than the farthest, on Disagree", "5.3, A", "every",
          _near_beats_far),
    Claim("ranks_fall", "accuracy falls with every place in the order by R, on Disagree", "5.3, A", "some",
          _falls_with_rank("reverse")),
    Claim("ranks_best", "the order by R is broken no more often than those by MeanF and GenF", "5.3", "most",
          _ranks_best),
    Claim("calibration_helps", "calibration raises R alone and all three heads on All", "5.4", "every",
          _both(_beats(alone(CALIBRATED), alone("reverse"), "all"), *(_gains(head, "all") for head in HEADS))),
    Claim("calibration_helps_disagree", "calibration raises LogLin on Disagree", "5.4", "most",
          _gains("loglin", "disagree")),
    Claim("class_bias_helps_more", "a bias for each class raises all three heads further, on both slices", "5.4, B",
          "every", _bias_repairs_more),
    Claim("larger_weight", "on Disagree a larger w_R can be better than 0.2", "D", "some",
          _some_weight_beats_the_default),
)  # fmt: skip
