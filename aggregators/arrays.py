"""Bring your own agents: every aggregator on plain arrays, with no language model and no I/O.

This is `crosspath.aggregate` in Python, and what `POST /aggregate` calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aggregators import AGGREGATORS, ANCHORED, JUDGES, Panel, Parameters
from aggregators.decision import Decisions, decide
from aggregators.heads import weight_NK
from aggregators.panel import bare_panel, prepare_anchor
from domains.errors import BadInput, Fault, NotFound
from domains.simplex import Array, Index, Mask, freeze, normalise

_CHUNK = 1 << 22
"""Numbers of the largest temporary array: the memory used beside input and result stays near 200 MB."""
_MOST_FAULTS = 20
_SUM_SLACK = 1e-10
NO_JUDGE = "is a judge, which must ask a language model; no model is asked about posteriors of one's own"


@dataclass(frozen=True, eq=False, slots=True)
class Aggregated:
    """What the aggregators make of N cases, read-only.

    `js_NK`: each agent's divergence from the anchor in nats; `weight_NK`: its weight in `fwdjs`. They mean nothing,
    and are 0 and equal weights, where `anchored_N` is false; both are 0 where `usable_NK` is false. `floored_N` counts
    the labels that the caller's anchor was floored on. `decisions` has one entry for each aggregator asked for.
    """

    labels: tuple[str, ...]
    usable_NK: Mask
    anchored_N: Mask
    floored_N: Index
    js_NK: Array
    weight_NK: Array
    decisions: Mapping[str, Decisions]


@dataclass(frozen=True, eq=False, slots=True)
class _Given:
    """The caller's arrays, of the right shape and type, their values not looked at yet."""

    labels: tuple[str, ...]
    forward_NKL: Array
    usable_NK: Mask
    anchor_NL: Array | None
    place_NKL: Index | None
    shortlist_NL: Mask | None
    ids: tuple[str, ...]
    log_anchor_NL: Array | None

    @property
    def anchored_N(self) -> Mask:
        """The cases that have an anchor, in either form."""
        anchored_N = np.zeros(len(self.ids), dtype=np.bool_)
        if self.anchor_NL is not None:
            anchored_N |= self.anchor_NL.any(axis=-1)
        if self.log_anchor_NL is not None:
            anchored_N |= (self.log_anchor_NL > -np.inf).any(axis=-1)
        return anchored_N


def aggregate(
    labels: Sequence[str],
    forward_NKL: ArrayLike,
    *,
    anchor_NL: ArrayLike | None = None,
    log_anchor_NL: ArrayLike | None = None,
    usable_NK: ArrayLike | None = None,
    place_NKL: ArrayLike | None = None,
    shortlist_NL: ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    aggregators: Sequence[str] | None = None,
    tau: float = 5.0,
    w_r: float = 0.2,
) -> Aggregated:
    """Decides N cases from the posteriors of K agents over L labels, by any of the aggregators.

    Args:
        labels: names of the L labels; their order is the domain order of the last tie-break.
        forward_NKL: what each agent gives each label; scaled here so that every usable row sums to 1. All labels with
            mass count: no top-5 cut is made.
        anchor_NL: the distribution to compare with, scaled and prepared here (method.md, The three heads). A row of
            zeros: that case has none.
        log_anchor_NL: ln of an anchor that is ready, such as a decision's: it is used as given, without scaling or
            floor. A row of -inf: that case has none of this kind; one that has both kinds is refused.
        usable_NK: false where an agent gave no answer; its row is not looked at. Default: all true.
        place_NKL: the order in which an agent listed its labels, which orders equal masses. Default: domain order.
        shortlist_NL: labels that stand for election. Default: those with mass from a usable agent.
        ids: case ids, which key the draws of `random` (agents are named by position). Default: "0", "1", ...
        aggregators: names out of the table, but no judge: nobody is asked here. Default: all that the input allows
            (without an anchor for every case: those that need none).
        tau, w_r: see `Parameters`.

    Raises:
        NotFound: an aggregator that is not in the table.
        BadInput: wrong shapes; a number that is negative or not finite; a usable row or a whole case without mass; a
            shortlist that leaves out a label with mass; a head asked for where a case has no anchor; a judge; bad tau
            or w_r.
    """
    parameters = Parameters(tau=tau, w_r=w_r)
    given = _given(labels, forward_NKL, usable_NK, anchor_NL, place_NKL, shortlist_NL, ids, log_anchor_NL)
    names = _names(given, aggregators)
    cases, agents, width = given.forward_NKL.shape
    result = _empty(given, names)
    step = max(1, _CHUNK // (width * (width + agents)))
    for start in range(0, cases, step):
        rows = slice(start, start + step)
        panel = _panel(given, rows)
        result.anchored_N[rows], result.floored_N[rows] = panel.anchored_N, panel.floored_N
        result.js_NK[rows], result.weight_NK[rows] = panel.divergence_NK, weight_NK(panel, tau)
        for name in names:
            decisions, filled = decide(name, panel, parameters), result.decisions[name]
            filled.distribution_NL[rows], filled.label_N[rows] = decisions.distribution_NL, decisions.label_N
            filled.tied_NL[rows] = decisions.tied_NL
    return _frozen(result)


def _given(
    labels: Sequence[str],
    forward_NKL: ArrayLike,
    usable_NK: ArrayLike | None,
    anchor_NL: ArrayLike | None,
    place_NKL: ArrayLike | None,
    shortlist_NL: ArrayLike | None,
    ids: Sequence[str] | None,
    log_anchor_NL: ArrayLike | None,
) -> _Given:
    faults: list[Fault] = []
    forward = _array("forward_NKL", forward_NKL, np.float64, None, faults)
    if forward is None or forward.ndim != 3 or 0 in forward.shape[1:]:
        raise BadInput.at("forward_NKL", "must be numbers in [cases, agents, labels], with an agent and a label")
    cases, agents, width = forward.shape
    if len(labels) != width or len(set(labels)) != width:
        faults.append(Fault("labels", f"must be {width} different names, one for each label of forward_NKL"))
    if ids is not None and len(ids) != cases:
        faults.append(Fault("ids", f"must be {cases}, one for each case of forward_NKL"))
    usable = _array("usable_NK", usable_NK, np.bool_, (cases, agents), faults)
    anchor = _array("anchor_NL", anchor_NL, np.float64, (cases, width), faults)
    log_anchor = _array("log_anchor_NL", log_anchor_NL, np.float64, (cases, width), faults)
    place = _array("place_NKL", place_NKL, np.int64, (cases, agents, width), faults)
    shortlist = _array("shortlist_NL", shortlist_NL, np.bool_, (cases, width), faults)
    if faults:
        raise BadInput(faults)
    if usable is None:
        usable = np.ones((cases, agents), dtype=np.bool_)
    seeds = tuple(map(str, range(cases) if ids is None else ids))
    return _Given(tuple(labels), forward, usable, anchor, place, shortlist, seeds, log_anchor)


def _array(
    name: str, value: ArrayLike | None, kind: type, shape: tuple[int, ...] | None, faults: list[Fault]
) -> NDArray[Any] | None:
    """The value as an array of that type, without loss; None, and a fault, where it is none."""
    if value is None:
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        array = np.asarray(None)
    if not np.can_cast(array.dtype, kind, casting="same_kind"):
        faults.append(Fault(name, f"must be an array of {_KINDS[kind]}"))
    elif shape is not None and array.shape != shape:
        faults.append(Fault(name, f"has shape {list(array.shape)}, not {list(shape)}"))
    else:
        return array.astype(kind, copy=False)
    return None


_KINDS: dict[type, str] = {np.float64: "numbers", np.bool_: "true and false", np.int64: "integers"}


def _names(given: _Given, asked: Sequence[str] | None) -> tuple[str, ...]:
    """The aggregators to run, each once."""
    missing_N = ~given.anchored_N
    if asked is None:
        able = [name for name in AGGREGATORS if name not in JUDGES]
        return tuple(name for name in able if name not in ANCHORED or not missing_N.any())
    unknown = [Fault(f"aggregators.{i}", "is no aggregator") for i, name in enumerate(asked) if name not in AGGREGATORS]
    if unknown:
        raise NotFound(unknown)
    judges = [Fault(f"aggregators.{i}", NO_JUDGE) for i, name in enumerate(asked) if name in JUDGES]
    if judges:
        raise BadInput(judges)
    headless = [name for name in dict.fromkeys(asked) if name in ANCHORED]
    if headless and missing_N.any():
        case = int(missing_N.argmax())
        raise BadInput(
            [Fault(f"anchor_NL[{case}]", f"the case has no anchor, which {name} needs") for name in headless]
        )
    return tuple(dict.fromkeys(asked))


def _panel(given: _Given, rows: slice) -> Panel:
    """The checked, scaled and prepared panel of some of the cases."""
    usable_NK = given.usable_NK[rows]
    forward_NKL = given.forward_NKL[rows]
    if not usable_NK.all():
        forward_NKL = np.where(usable_NK[:, :, None], forward_NKL, 0.0)
    _check_mass("forward_NKL", forward_NKL, rows.start)
    _refuse("forward_NKL", usable_NK & ~np.any(forward_NKL, axis=-1), rows.start, "an agent's masses are all 0")
    _refuse("usable_NK", ~np.any(usable_NK, axis=-1), rows.start, "the case has no usable agent")
    stated_NKL, forward_NKL = forward_NKL, _scaled(forward_NKL)
    shortlist_NL = np.any(forward_NKL > 0, axis=1)
    if given.shortlist_NL is not None:
        missing_NL = shortlist_NL & ~given.shortlist_NL[rows]
        _refuse("shortlist_NL", missing_NL, rows.start, "leaves out a label that an agent gave mass to")
        shortlist_NL = given.shortlist_NL[rows]
    place_NKL = _places(stated_NKL, None if given.place_NKL is None else given.place_NKL[rows])
    place_NKL[forward_NKL == 0] = forward_NKL.shape[-1]
    agents = forward_NKL.shape[1]
    names = [str(agent).zfill(len(str(agents))) for agent in range(agents)]  # so that names sort as positions do
    answers = forward_NKL, place_NKL, usable_NK
    panel = bare_panel(given.labels, names, answers, given.ids[rows], shortlist_NL)
    if given.anchor_NL is not None:
        _check_mass("anchor_NL", given.anchor_NL[rows], rows.start)
        panel = panel.with_anchor(*prepare_anchor(_scaled(given.anchor_NL[rows]), shortlist_NL))
    return panel if given.log_anchor_NL is None else _with_ready(panel, given.log_anchor_NL[rows], rows.start)


def _with_ready(panel: Panel, log_anchor_NL: Array, start: int) -> Panel:
    """The panel with the anchors that are ready in the place of those that are not there."""
    ready_N = np.any(log_anchor_NL > -np.inf, axis=-1)
    _refuse("log_anchor_NL", np.isnan(log_anchor_NL) | (log_anchor_NL == np.inf), start, "is no logarithm of a mass")
    lacking_NL = panel.shortlist_NL & ready_N[:, None] & (log_anchor_NL == -np.inf)
    _refuse("log_anchor_NL", lacking_NL, start, "leaves out a label of the shortlist")
    total_N = np.logaddexp.reduce(log_anchor_NL, axis=-1)
    _refuse("log_anchor_NL", ready_N & ~(np.abs(total_N) <= _SUM_SLACK), start, "the masses do not sum to 1")
    _refuse("log_anchor_NL", ready_N & panel.anchored_N, start, "the case has an anchor already")
    log_NL = np.where(ready_N[:, None], log_anchor_NL, panel.log_anchor_NL)
    return panel.with_anchor(log_NL, panel.anchored_N | ready_N, panel.floored_N)


def _scaled(mass: Array) -> Array:
    """Rows that sum to 1, of masses of any size: first by their greatest, so that the sum is finite."""
    peak = mass.max(axis=-1, keepdims=True)
    return normalise(np.divide(mass, peak, out=np.zeros_like(mass), where=peak > 0))


def _places(stated_NKL: Array, listed_NKL: Index | None) -> Index:
    """The one total order: by mass, falling, then as listed, then in domain order."""
    falling_NKL = -stated_NKL
    if listed_NKL is None:
        order_NKL = falling_NKL.argsort(axis=-1, kind="stable")
    else:
        order_NKL = np.lexsort((listed_NKL, falling_NKL), axis=-1)
    place_NKL = np.empty(order_NKL.shape, dtype=np.int64)
    np.put_along_axis(place_NKL, order_NKL, np.broadcast_to(np.arange(order_NKL.shape[-1]), order_NKL.shape), axis=-1)
    return place_NKL


def _check_mass(name: str, mass: Array, start: int) -> None:
    _refuse(name, ~(np.isfinite(mass) & (mass >= 0)), start, "is negative or not finite")


def _refuse(name: str, wrong: Mask, start: int, problem: str) -> None:
    if wrong.any():
        places = np.argwhere(wrong)[:_MOST_FAULTS]
        places[:, 0] += start
        raise BadInput([Fault(f"{name}{place.tolist()}".replace(" ", ""), problem) for place in places])


def _empty(given: _Given, names: Sequence[str]) -> Aggregated:
    cases, agents, width = given.forward_NKL.shape
    return Aggregated(
        labels=given.labels,
        usable_NK=given.usable_NK.copy(),
        anchored_N=np.zeros(cases, dtype=np.bool_),
        floored_N=np.zeros(cases, dtype=np.int64),
        js_NK=np.zeros((cases, agents)),
        weight_NK=np.zeros((cases, agents)),
        decisions={
            name: Decisions(
                np.zeros((cases, width)), np.zeros(cases, dtype=np.int64), np.zeros((cases, width), dtype=np.bool_)
            )
            for name in names
        },
    )


def _frozen(result: Aggregated) -> Aggregated:
    return Aggregated(
        labels=result.labels,
        usable_NK=freeze(result.usable_NK),
        anchored_N=freeze(result.anchored_N),
        floored_N=freeze(result.floored_N),
        js_NK=freeze(result.js_NK),
        weight_NK=freeze(result.weight_NK),
        decisions={
            name: Decisions(freeze(each.distribution_NL), freeze(each.label_N), freeze(each.tied_NL))
            for name, each in result.decisions.items()
        },
    )
