"""The panel: everything the agents and the anchor said about a batch of cases, as read-only arrays.

One case is a batch of one; there is no other code path. Axes are those of `domains.simplex`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aggregators.ballots import Ballots, over_shortlist
from aggregators.entries import Entries, arrays_of, entries_of
from domains.kept import kept
from domains.posterior import Posterior
from domains.simplex import Array, Index, Mask, freeze, log, normalise

FLOOR = 1e-6
"""What a shortlisted label has at least in an anchor from elsewhere, and in `log_pool` (method.md, The three heads)."""


@dataclass(frozen=True, eq=False, slots=True)
class Verdicts:
    """What one judge made of N cases, as arrays; read-only.

    `posterior_NL`: a usable row sums to 1, another is all 0. `place_NL`: each label's place in the judge's own order,
    0 its first; L if it did not list it. `usable_N`: whether it gave a usable verdict. `asked_N`: whether it was asked;
    it may skip the cases in which the agents agree.
    """

    posterior_NL: Array
    place_NL: Index
    usable_N: Mask
    asked_N: Mask

    def __post_init__(self) -> None:
        for name in ("posterior_NL", "place_NL", "usable_N", "asked_N"):
            object.__setattr__(self, name, freeze(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Panel:
    """What K agents and the anchor said of N cases over L labels.

    Attributes:
        labels: names of the L labels, in the domain's order.
        agents: names of the K agents, all different.
        forward_NKL: forward posteriors; a usable row sums to 1, an unusable one is all 0.
        place_NKL: each label's place on the agent's own ballot, 0 its top-1 (the one total order); L if not on it.
        usable_NK: whether the agent gave a usable answer.
        log_anchor_NL: ln of the anchor, -inf off its support; all -inf where the case has none.
        anchored_N: whether the case has an anchor.
        shortlist_NL: the labels that stand for election; every label with mass is among them.
        seed_N: what every shuffle of the case is keyed by.
        floored_N: labels that were floored when the anchor was prepared.
        verdicts: what the judges that were asked made of the cases, by the judge's name.
        weights: where `heads.weight_NK` keeps the agents' weights [N, K], by τ.

    Raises:
        ValueError: a shape does not fit the others, two agents share a name, or there is no agent or label.
    """

    labels: tuple[str, ...]
    agents: tuple[str, ...]
    forward_NKL: Array
    place_NKL: Index
    usable_NK: Mask
    log_anchor_NL: Array
    anchored_N: Mask
    shortlist_NL: Mask
    seed_N: tuple[str, ...]
    floored_N: Index
    verdicts: Mapping[str, Verdicts] = field(default_factory=lambda: MappingProxyType({}))
    weights: dict[float, Array] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.labels or not self.agents:
            raise ValueError("a panel needs a label and an agent")
        if len(set(self.agents)) != len(self.agents):
            raise ValueError("two agents of a panel share a name")
        cases, agents, labels = len(self.seed_N), len(self.agents), len(self.labels)
        shapes = {"NKL": (cases, agents, labels), "NK": (cases, agents), "NL": (cases, labels), "N": (cases,)}
        for name, axes in _AXES.items():
            array: NDArray[np.generic] = getattr(self, name)
            if array.shape != shapes[axes]:
                raise ValueError(f"{name} has shape {array.shape}, not {shapes[axes]}")
            if array.flags.writeable:
                object.__setattr__(self, name, freeze(array))
        for judge, verdicts in self.verdicts.items():
            over_labels = {verdicts.posterior_NL.shape, verdicts.place_NL.shape}
            over_cases = {verdicts.usable_N.shape, verdicts.asked_N.shape}
            if over_labels != {shapes["NL"]} or over_cases != {shapes["N"]}:
                raise ValueError(f"the verdicts of {judge} are not of this panel's cases and labels")

    def __len__(self) -> int:
        """N, the number of cases."""
        return len(self.seed_N)

    def with_anchor(
        self, log_anchor_NL: Array, anchored_N: Mask | None = None, floored_N: Index | None = None
    ) -> "Panel":
        """The same answers beside another anchor, given as natural logarithms of probabilities [N, L].

        `anchored_N` defaults to the cases with any support. What `prepare_anchor` returns can be passed on whole.

        Raises:
            ValueError: an anchor does not sum to 1, or has no support on the case's shortlist.
        """
        support_NL = log_anchor_NL > -np.inf
        anchored_N = np.logical_or.reduce(support_NL, axis=-1) if anchored_N is None else anchored_N
        lacking_N = anchored_N & ~np.logical_or.reduce(support_NL & self.shortlist_NL, axis=-1)
        if np.count_nonzero(lacking_N) and (lacking_N & self.shortlist_NL.any(axis=-1)).any():
            raise ValueError("an anchor has no support on the shortlist")
        panel = replace(
            self,
            log_anchor_NL=np.where(anchored_N[:, None], log_anchor_NL, -np.inf),
            anchored_N=anchored_N,
            floored_N=np.zeros(len(self), dtype=np.int64) if floored_N is None else floored_N,
        )
        if np.count_nonzero(np.abs(np.add.reduce(panel.anchor_NL, axis=-1) - anchored_N) > 1e-9):
            raise ValueError("an anchor does not sum to 1")
        return panel

    def with_verdicts(self, verdicts: Mapping[str, Verdicts]) -> "Panel":
        """The same answers with what judges made of them, by the judge's name.

        Raises:
            ValueError: verdicts of another shape.
        """
        return replace(self, verdicts=MappingProxyType(dict(verdicts))) if verdicts or self.verdicts else self

    def take(self, row_N: Index) -> "Panel":
        """Some of the cases, given by their places, in that order."""
        verdicts = {
            judge: Verdicts(*(getattr(each, part.name)[row_N] for part in fields(Verdicts)))
            for judge, each in self.verdicts.items()
        }
        return replace(
            self,
            forward_NKL=self.forward_NKL[row_N],
            place_NKL=self.place_NKL[row_N],
            usable_NK=self.usable_NK[row_N],
            log_anchor_NL=self.log_anchor_NL[row_N],
            anchored_N=self.anchored_N[row_N],
            shortlist_NL=self.shortlist_NL[row_N],
            seed_N=tuple(self.seed_N[row] for row in row_N.tolist()),
            floored_N=self.floored_N[row_N],
            verdicts=MappingProxyType(verdicts),
        )

    def verdicts_of(self, judge: str) -> Verdicts:
        """What one judge made of the cases.

        Raises:
            LookupError: it was not asked. That is not the same as having no usable verdict, and is never passed over.
        """
        if judge not in self.verdicts:
            raise LookupError(f"the panel has no verdicts of {judge}: it was not asked")
        return self.verdicts[judge]

    @kept
    def anchor_NL(self) -> Array:
        """The anchor as probabilities; a row of zeros where there is none."""
        return freeze(np.exp(self.log_anchor_NL))

    @kept
    def usable_N(self) -> Index:
        """The number of usable agents."""
        return freeze(np.add.reduce(self.usable_NK, axis=-1))

    @kept
    def entries(self) -> Entries:
        """What the agents gave mass to, entry by entry."""
        return entries_of(self.forward_NKL, self.place_NKL)

    @kept
    def pooled_NL(self) -> Array:
        """The range score Σ_i F_i."""
        return freeze(self.entries.pooled())

    @kept
    def mean_forward_NL(self) -> Array:
        """MeanF: the mean over the usable agents; a row of zeros where there is none."""
        return freeze(self.pooled_NL / np.maximum(self.usable_N, 1)[:, None])

    @kept
    def divergence_NK(self) -> Array:
        """D_i = JS(F_i, A) in nats (paper eq. 3); 0 where there is nothing to compare (`usable_NK`, `anchored_N`)."""
        divergence_NK = self.entries.divergence(self.anchor_NL, self.log_anchor_NL)
        return freeze(np.where(self.usable_NK & self.anchored_N[:, None], divergence_NK, 0.0))

    @kept
    def nearest_N(self) -> Array:
        """The least D among the usable agents; 0 where there is none."""
        distance_NK = np.where(self.usable_NK, self.divergence_NK, np.inf)
        return freeze(np.where(self.usable_N > 0, np.minimum.reduce(distance_NK, axis=-1), 0.0))

    @kept
    def top_NK(self) -> Index:
        """Each agent's top-1 label; -1 where it is not usable."""
        return freeze(self.entries.tops())

    @kept
    def votes_NL(self) -> Index:
        """The number of agents whose top-1 a label is."""
        return freeze(self.entries.votes())

    @kept
    def unanimous_N(self) -> Mask:
        """The cases in which all usable agents have the same top-1, and there is one."""
        return freeze((self.votes_NL.max(axis=-1) == self.usable_N) & (self.usable_N > 0))

    @kept
    def ballots(self) -> Ballots:
        """The ballots over the shortlist, for the rules that count places."""
        return over_shortlist(self.entries, self.usable_N, self.shortlist_NL)


_AXES = {
    "forward_NKL": "NKL", "place_NKL": "NKL", "usable_NK": "NK", "log_anchor_NL": "NL", "anchored_N": "N",
    "shortlist_NL": "NL", "floored_N": "N",
}  # fmt: skip


class PreparedAnchor(NamedTuple):
    """An anchor as the heads use it; the arguments of `Panel.with_anchor`."""

    log_anchor_NL: Array
    anchored_N: Mask
    floored_N: Index


def prepare_anchor(anchor_NL: Array, shortlist_NL: Mask) -> PreparedAnchor:
    """An anchor from elsewhere (`GenF`, a caller's own), as probabilities or weights [N, L], made ready for the heads:
    scaled, floored at 1e-6 on the shortlist, its mass outside kept, scaled again (method.md, The three heads). A row
    of zeros is no anchor.
    """
    anchor_NL = normalise(anchor_NL)
    anchored_N = np.any(anchor_NL, axis=-1)
    floored_NL = shortlist_NL & (anchor_NL < FLOOR) & anchored_N[:, None]
    prepared_NL = normalise(np.where(floored_NL, FLOOR, anchor_NL))
    return PreparedAnchor(log(prepared_NL), anchored_N, floored_NL.sum(axis=-1))


def bare_panel(
    labels: Sequence[str],
    agents: Sequence[str],
    answers: tuple[Array, Index, Mask],
    seed_N: Sequence[str],
    shortlist_NL: Mask | None = None,
) -> Panel:
    """A panel without an anchor from the answers (forward_NKL, place_NKL, usable_NK) as `Panel` defines them.

    The shortlist is the union of the labels that a usable agent gave mass to, unless it is given.
    """
    forward_NKL, place_NKL, usable_NK = answers
    cases, _, width = forward_NKL.shape
    return Panel(
        labels=tuple(labels),
        agents=tuple(agents),
        forward_NKL=forward_NKL,
        place_NKL=place_NKL,
        usable_NK=usable_NK,
        log_anchor_NL=np.full((cases, width), -np.inf),
        anchored_N=np.zeros(cases, dtype=np.bool_),
        shortlist_NL=np.logical_or.reduce(forward_NKL > 0, axis=1) if shortlist_NL is None else shortlist_NL,
        seed_N=tuple(seed_N),
        floored_N=np.zeros(cases, dtype=np.int64),
    )


def assemble(
    labels: Sequence[str],
    agents: Sequence[str],
    posteriors_NK: Sequence[Sequence[Posterior | None]],
    seed_N: Sequence[str],
    shortlist_NL: Mask | None = None,
) -> Panel:
    """A panel without an anchor from what the agents stated; None where an agent gave no usable answer."""
    shape = len(seed_N), len(agents), len(labels)
    flat = [posterior for posterior_K in posteriors_NK for posterior in posterior_K]
    forward_BL, place_BL, usable_B = arrays_of(flat, len(labels))
    answers = forward_BL.reshape(shape), place_BL.reshape(shape), usable_B.reshape(shape[:2])
    return bare_panel(labels, agents, answers, seed_N, shortlist_NL)


def assemble_verdicts(
    posterior_N: Sequence[Posterior | None], labels: int, asked_N: Sequence[bool] | None = None
) -> Verdicts:
    """One judge's verdicts from what it stated about N cases; None where it gave no usable one. Unless it is said
    otherwise it was asked about each."""
    asked = [True] * len(posterior_N) if asked_N is None else asked_N
    return Verdicts(*arrays_of(posterior_N, labels), np.array(asked, dtype=np.bool_))
