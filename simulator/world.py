"""What the stand-in believes: a pack's truth, fixed misbeliefs about it, and noise, all drawn by name.

Forward, in nats, for case n, agent i, label d (`Profile` names the sizes):

    u[n,d]   = ln prior[d] + sum over present roots j of ln σ(l + know·E)[d,j]  (stated absent: ln σ(-(l + know·E)))
    z[n,i,d] = sharp · (u + shared·C[n,d] + private·s_i·A[n,i,d] + tilt·t_i·ln prior[d])

with l the log-odds of P(finding | label); the stated posterior is softmax(z), its five best rounded to 0.05.
Backward, for the same pair:

    rank = round(x + 0.75·back·(rho·E + sqrt(1 - rho²)·E') + jitter·B), kept in 0...6
    x    = 6·(logit(p) + 4)/8, kept in 0...6; p = P(finding | label), or for context `context` times the x of
           P(label | finding) relative to the label that the finding favours most

E, E', C, A, B are standard normal. E and E' belong to (backbone, label, root of the finding) and never change; C to
(backbone, case, label); A also to the agent and the sample; B to (the findings of the question, pair, sample). A share
`hidden` of a case's roots is overlooked, in both directions; another sample overlooks others. So two backward questions
about one pair (a case's own and one that fills a table) share its misbelief, and differ by jitter and oversights. A
forward judgement counts the values of one root once; backward, each value is a finding of its own, rated as its root
is. Parameters are fitted (simulator/fitting.py). It is a world to test code in, not evidence about language models.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from domains.case import Domain, Kind
from domains.knowledge import Knowledge
from domains.simplex import Array, Index, Mask, softmax
from simulator import draws

HIGHEST_RANK = 6
FLAT_RANK: dict[Kind, int] = {"evidence": 3, "context": 0}
"""The rank that a finding gets for every candidate when it is overlooked or nothing is known of it."""
RANKS_PER_NAT = 0.75
"""The default ordinal curve spreads 8 nats over 6 ranks (method.md, The reverse posterior)."""
CURVE_SHIFT = 4.0
CLIP = 0.01
"""Nobody is surer of a finding than this; probabilities are kept in CLIP...1 - CLIP."""
RAREST = 1e-9
"""No label is rarer than this, so that logarithms stay finite."""
STEP = 0.05
"""Models state probabilities in multiples of this."""


class Manner(NamedTuple):
    """How a persona changes its backbone: the size of its private noise, and its pull towards common labels."""

    noise: float = 1.0
    tilt: float = 0.0


PLAIN = Manner()
MANNERS = {
    "tot": PLAIN,
    "medprompt": Manner(noise=0.8),
    "cot": PLAIN,
    "common_bias": Manner(tilt=1.0),
    "rare_bias": Manner(noise=1.2, tilt=-1.0),
}


@dataclass(frozen=True, slots=True)
class Profile:
    """The sizes of a backbone's errors, by the names of the formulas above.

    In nats: `know` (misbeliefs, forward), `back` (misbeliefs, backward), `shared` (noise of the case, in all agents
    alike), `private` (noise of the agent). Factors: `sharp` (of all scores), `tilt` (of the personas' pull to common or
    rare labels), `context` (of context ranks). Shares: `rho` (how much of the backward misbelief is the forward one),
    `hidden` (findings overlooked), `floor` (least mass of a listed label). `jitter` is in ranks. `seed` is whose
    misbeliefs they are.
    """

    know: float
    private: float
    tilt: float
    sharp: float
    back: float
    rho: float
    seed: int
    shared: float = 2.0
    hidden: float = 0.2
    context: float = 0.42
    jitter: float = 0.5
    floor: float = 0.05


@dataclass(frozen=True)
class Stated:
    """The known findings that N cases (or one backward question) state, flat: one row T for each.

    `case_T` is the row's case, `finding_T` its place in the pack, `present_T` whether it is stated present.
    `case_key_N` stands for all of a case; `kind_key_N` for what a backward question of that kind would show of it:
    all stated evidence, or the present context.
    """

    case_T: Index
    finding_T: Index
    present_T: Mask
    case_key_N: draws.Keys
    kind_key_N: dict[Kind, draws.Keys]


class Weighed(NamedTuple):
    """Cases as a backbone sees them, before any of its agents speaks: nats for each row and label, and their sum."""

    stated: Stated
    term_TL: Array
    score_NL: Array


@dataclass(frozen=True)
class World:
    """One backbone's beliefs about one pack; `backbone` is the name that its misbeliefs and noise belong to."""

    domain: Domain
    knowledge: Knowledge
    profile: Profile
    backbone: str

    @cached_property
    def log_prior_L(self) -> Array:
        """ln P(label)."""
        return np.log(self.knowledge.prior_L.clip(RAREST))

    @cached_property
    def label_key_L(self) -> draws.Keys:
        return draws.keys("label", self.domain.label_names)

    @cached_property
    def root_J(self) -> Index:
        """Each finding's root: findings of one group are several values of one thing and count once."""
        names = [finding.group or finding.id for finding in self.domain.findings]
        return np.unique(names, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def root_key_J(self) -> draws.Keys:
        return draws.keys("root", (finding.group or finding.id for finding in self.domain.findings))

    @cached_property
    def finding_key_J(self) -> draws.Keys:
        return draws.keys("finding", (finding.id for finding in self.domain.findings))

    @cached_property
    def is_evidence_J(self) -> Mask:
        return np.array([finding.kind == "evidence" for finding in self.domain.findings], dtype=np.bool_)

    @cached_property
    def believed_JL(self) -> Array:
        """l + know·E: the log-odds of a finding under a label as this backbone believes them."""
        return _logit(self.knowledge.probability_LJ.T) + self.profile.know * self._misbelief_JL

    @cached_property
    def term_2JL(self) -> Array:
        """What an absent [0] and a present [1] finding add to a label's evidence, in nats."""
        return np.stack([_log_sigmoid(-self.believed_JL), _log_sigmoid(self.believed_JL)])

    @cached_property
    def rated_JL(self) -> Array:
        """The rank of every pair before jitter and rounding."""
        rho, own_JL = self.profile.rho, self._misbeliefs("backward")
        error_JL = rho * self._misbelief_JL + np.sqrt(1.0 - rho**2) * own_JL
        evidence_JL = _curve(self.knowledge.probability_LJ.T)
        joint_JL = self.knowledge.probability_LJ.T * self.knowledge.prior_L.clip(RAREST)
        most_J = joint_JL.max(axis=1, keepdims=True, initial=RAREST**2)
        context_JL = self.profile.context * _curve(joint_JL / most_J)
        true_JL = np.where(self.is_evidence_J[:, None], evidence_JL, context_JL)
        return true_JL + RANKS_PER_NAT * self.profile.back * error_JL

    @cached_property
    def _misbelief_JL(self) -> Array:
        return self._misbeliefs("forward")

    def _misbeliefs(self, direction: str) -> Array:
        row_J = self.root_key_J ^ np.uint64(draws.key("misbelief", self.backbone, direction))
        return draws.normal(row_J[:, None], self.label_key_L)

    def noticed(self, stated: Stated, sample: int = 0) -> Mask:
        """Which stated findings count at all: those that are known of and not overlooked. Shape [T]."""
        evidence_T = self.is_evidence_J[stated.finding_T]
        key_T = np.where(
            evidence_T, stated.kind_key_N["evidence"][stated.case_T], stated.kind_key_N["context"][stated.case_T]
        )
        names = ("hidden", sample) if sample else ("hidden",)
        seen_T = draws.uniform(key_T ^ np.uint64(draws.key(*names)), self.root_key_J[stated.finding_T])
        return (seen_T >= self.profile.hidden) & self.knowledge.known_J[stated.finding_T]

    def terms(self, stated: Stated) -> Array:
        """What every stated finding adds to a case's evidence, in nats. Shape [T, L].

        The values of one root share one vote: present ones if there are any, else the absent ones.
        """
        noticed_T = self.noticed(stated)
        root_T = stated.case_T * len(self.root_J) + self.root_J[stated.finding_T]
        present_T = noticed_T & stated.present_T
        absent_T = noticed_T & ~stated.present_T & ~np.isin(root_T, root_T[present_T])
        share_T = _shares(root_T, present_T) + _shares(root_T, absent_T)
        return share_T[:, None] * self.term_2JL[stated.present_T.astype(np.int64), stated.finding_T]

    def weigh(self, stated: Stated) -> Weighed:
        """What all agents of this backbone see in the cases: u + shared·C, and what of it comes from which finding."""
        term_TL = self.terms(stated)
        score_NL = np.tile(self.log_prior_L, (len(stated.case_key_N), 1))
        np.add.at(score_NL, stated.case_T, term_TL)
        return Weighed(stated, term_TL, score_NL + self.profile.shared * self._noise(stated, "shared"))

    def opinions(self, weighed: Weighed, agent: str, manner: Manner, sample: int) -> Array:
        """softmax(z): one agent's posterior before it is put into words. Shape [N, L]."""
        private_NL = self.profile.private * manner.noise * self._noise(weighed.stated, "private", agent, sample)
        tilt_L = self.profile.tilt * manner.tilt * self.log_prior_L
        return softmax(self.profile.sharp * (weighed.score_NL + private_NL + tilt_L))

    def _noise(self, stated: Stated, *names: object) -> Array:
        row_N = stated.case_key_N ^ np.uint64(draws.key("noise", self.backbone, *names))
        return draws.normal(row_N[:, None], self.label_key_L)

    def shown(self, stated: Stated, kind: Kind) -> Index:
        """The rows T that a backward question of this kind shows: all evidence, or the context that is present."""
        evidence_T = self.is_evidence_J[stated.finding_T]
        return np.flatnonzero(evidence_T if kind == "evidence" else ~evidence_T & stated.present_T)

    def ranks(self, stated: Stated, kind: Kind, sample: int) -> Index:
        """The rank of every label for every row that `shown` gives. Shape [rows, L], values 0...6."""
        rows = self.shown(stated, kind)
        finding_T = stated.finding_T[rows]
        key_T = stated.kind_key_N[kind][stated.case_T[rows]] ^ self.finding_key_J[finding_T]
        key_T ^= np.uint64(draws.key("jitter", self.backbone, sample))
        jitter_TL = self.profile.jitter * draws.normal(key_T[:, None], self.label_key_L)
        rank_TL = np.rint(self.rated_JL[finding_T] + jitter_TL).clip(0, HIGHEST_RANK)
        return np.where(self.noticed(stated, sample)[rows, None], rank_TL, FLAT_RANK[kind]).astype(np.int64)


def state(domain: Domain, cases: list[list[tuple[int, bool]]]) -> Stated:
    """The arrays of cases given as (finding's place in the pack, present) pairs, in any order."""
    flat = [(case, place, present) for case, pairs in enumerate(cases) for place, present in sorted(set(pairs))]
    findings = domain.findings

    def shown(pairs: list[tuple[int, bool]], kind: Kind) -> list[str]:
        stated = {
            findings[j].id for j, present in pairs if findings[j].kind == kind and (present or kind == "evidence")
        }
        return sorted(stated)

    return Stated(
        case_T=np.array([row[0] for row in flat], dtype=np.int64),
        finding_T=np.array([row[1] for row in flat], dtype=np.int64),
        present_T=np.array([row[2] for row in flat], dtype=np.bool_),
        case_key_N=draws.keys("case", (sorted({(findings[j].id, present) for j, present in pairs}) for pairs in cases)),
        kind_key_N={
            "context": draws.keys("context", (shown(pairs, "context") for pairs in cases)),
            "evidence": draws.keys("evidence", (shown(pairs, "evidence") for pairs in cases)),
        },
    )


def spoken(opinion_NL: Array, top_k: int, floor: float) -> tuple[Index, Index]:
    """The ballot an agent states: its `top_k` best labels [N, M] and their masses in twentieths [N, M].

    Every listed label gets at least `floor`; what that adds beyond 1 is taken from the largest masses, so that the
    stated sum is at most 1 and the order is kept. With floor 0 a label that rounds to nothing has mass 0.
    """
    best_NM = np.argsort(-opinion_NL, axis=-1, kind="stable")[..., :top_k]
    mass_NM = np.take_along_axis(opinion_NL, best_NM, axis=-1)
    unit_NM = np.maximum(np.rint(mass_NM / STEP), round(floor / STEP)).astype(np.int64)
    unit_NM[:, 0] = np.maximum(unit_NM[:, 0], 1)
    row_N, most = np.arange(len(unit_NM)), round(1 / STEP)
    while np.any(excess_N := unit_NM.sum(axis=-1) > most):
        last_largest_N = unit_NM.shape[-1] - 1 - unit_NM[:, ::-1].argmax(axis=-1)
        unit_NM[row_N, last_largest_N] -= excess_N
    return best_NM, unit_NM


def _shares(root_T: Index, counted_T: Mask) -> Array:
    """1 / (how many counted rows have the same root), 0 for rows that are not counted. Shape [T]."""
    _, place_T, count_R = np.unique(root_T[counted_T], return_inverse=True, return_counts=True)
    share_T = np.zeros(len(root_T))
    share_T[counted_T] = 1.0 / count_R[place_T]
    return share_T


def _logit(probability: Array) -> Array:
    kept = probability.clip(CLIP, 1.0 - CLIP)
    return np.log(kept / (1.0 - kept))


def _curve(probability: Array) -> Array:
    """The rank, not yet rounded, of a probability on the default ordinal curve."""
    return (RANKS_PER_NAT * (_logit(probability) + CURVE_SHIFT)).clip(0.0, HIGHEST_RANK)


def _log_sigmoid(logit: Array) -> Array:
    return -np.logaddexp(0.0, -logit)
