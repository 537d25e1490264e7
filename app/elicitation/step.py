"""One elicitation step of one case: what a table knows of it, and one question about what it lacks.

Without a table everything lacks, and the question is the paper's own.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from agents.metering import Terms
from anchor.elicitor import rank_question
from anchor.network import MISSING, RankArray
from anchor.ranks import Ranks
from anchor.table import Ratings, evenly_left_out, finding_key, unanswered
from app.asking import Outcome, ask_ranks
from app.elicitation.tables import Known
from app.inquiry import Inquiry
from domains.case import Finding, Kind
from domains.errors import AskFailed
from domains.question import Question
from domains.simplex import Mask


@dataclass(frozen=True, eq=False)
class Step:
    """What came of one step. `outcome` is None where nothing had to be asked.

    `rank_SJM` has a row for each of `findings` and a column for each label in question, and holds the answers of the
    table and of now; None where the step failed. `known` is what a table said, if one was looked at, and
    `table_unavailable` tells that its store could not be read or written.
    """

    findings: tuple[Finding, ...]
    outcome: Outcome[Ranks] | None
    rank_SJM: RankArray | None
    known: Known | None = None
    table_unavailable: bool = False

    @cached_property
    def missing(self) -> int:
        """Pairs that nobody rated."""
        return 0 if self.rank_SJM is None else int(unanswered(self.rank_SJM).sum())

    @property
    def stand_in(self) -> bool:
        """Whether a simulated model gave an answer that a table kept."""
        return self.known is not None and self.known.stand_in

    @property
    def deviations(self) -> frozenset[str]:
        """Sampling parameters that were not accepted when the answers of the table were given."""
        return frozenset() if self.known is None else self.known.deviations


async def take_step(inquiry: Inquiry, kind: Kind, label_M: Sequence[int], terms: Terms) -> Step:
    """One step over these labels: one question about the pairs without an answer, if there are any."""
    stated = inquiry.case.observations(kind)
    # The noisy-OR runs over the context that is present; stated absences count among the evidence only.
    findings = tuple([o.finding for o in stated if o.present or kind == "evidence"])
    if not findings or not label_M:
        return Step(findings, None, np.zeros((1, 0, len(label_M)), dtype=np.int8))
    known = await _known(inquiry, findings, label_M, terms)
    lacking_JM = unanswered(known.rank_SJM)
    table = known if inquiry.table else None
    if not np.count_nonzero(lacking_JM):
        return Step(findings, None, known.rank_SJM, table)
    asked = _asked(kind, findings, tuple(label_M), lacking_JM)
    question = partial(asked.question, inquiry)
    outcome = await ask_ranks(inquiry.backbone, question, asked.wanted_JM, terms, asked.key(inquiry))
    if outcome.value is None:
        left_SJM = evenly_left_out(known.rank_SJM)
        return Step(findings, outcome, left_SJM, table if left_SJM is not None else None, known.unavailable)
    kept = await _keep(inquiry, asked, outcome, outcome.value, terms)
    # Read again: of cases that asked for a pair at once the first to be answered is kept, and all go by that one, so
    # that the same case gets the same answer from then on.
    known_SJM = known.rank_SJM if inquiry.table is None else inquiry.table.table.ranks(findings, label_M)
    rank_SJM = asked.together(known_SJM, outcome.value.rank_JM)
    return Step(findings, outcome, rank_SJM, table, known.unavailable or not kept)


@dataclass(frozen=True, eq=False)
class _Asked:
    """The pairs [J, M] of a step that lack an answer, as one question: `rows` and `columns` are the findings and the
    labels that lack any, `wanted_JM` are the pairs of these that do."""

    kind: Kind
    findings: Sequence[Finding]
    label_M: tuple[int, ...]
    lacking_JM: Mask
    rows: Sequence[int]
    columns: Sequence[int]
    wanted_JM: Mask

    def key(self, inquiry: Inquiry) -> Hashable:
        """What settles everything that the question says (`Backbone.recall`): the seed is the case's content."""
        seed = inquiry.domain.case_seed(inquiry.case)
        return inquiry.domain, seed, self.kind, self.label_M, self.lacking_JM.tobytes()

    def question(self, inquiry: Inquiry, wanted_JM: Mask) -> Question[Ranks]:
        findings = [self.findings[row] for row in self.rows]
        label_M = [self.label_M[column] for column in self.columns]
        seed = inquiry.domain.case_seed(inquiry.case)
        return rank_question(self.kind, inquiry.domain, label_M, findings, seed, wanted_JM)

    def together(self, known_SJM: RankArray, answered_JM: RankArray) -> RankArray:
        """What is known, and what was answered now about pairs of which nothing is."""
        now_JM = answered_JM
        if now_JM.shape != self.lacking_JM.shape:
            now_JM = np.full(self.lacking_JM.shape, MISSING, dtype=np.int8)
            now_JM[np.ix_(self.rows, self.columns)] = answered_JM
        if not len(known_SJM):
            return now_JM[None]
        rank_SJM = known_SJM.copy()
        rank_SJM[0] = np.where(unanswered(known_SJM), now_JM, rank_SJM[0])
        return rank_SJM


def _asked(kind: Kind, findings: Sequence[Finding], label_M: tuple[int, ...], lacking_JM: Mask) -> _Asked:
    if np.count_nonzero(lacking_JM) == lacking_JM.size:
        return _Asked(kind, findings, label_M, lacking_JM, range(len(findings)), range(len(label_M)), lacking_JM)
    rows = np.flatnonzero(lacking_JM.any(axis=1)).tolist()
    columns = np.flatnonzero(lacking_JM.any(axis=0)).tolist()
    wanted_JM = np.asarray(lacking_JM[rows][:, columns])
    return _Asked(kind, findings, label_M, lacking_JM, rows, columns, wanted_JM)


async def _known(inquiry: Inquiry, findings: Sequence[Finding], label_M: Sequence[int], terms: Terms) -> Known:
    nothing = np.empty((0, len(findings), len(label_M)), dtype=np.int8)
    if inquiry.table is None:
        return Known(nothing)
    try:
        async with terms.deadline.scope():
            return await inquiry.table.known(findings, label_M)
    except AskFailed:
        return Known(nothing, unavailable=True)


async def _keep(inquiry: Inquiry, asked: _Asked, outcome: Outcome[Ranks], ranks: Ranks, terms: Terms) -> bool:
    """Whether the answers about findings of the domain could be kept; a case's own never are."""
    if inquiry.table is None:
        return True
    index = inquiry.domain.finding_index
    own = [place for place, row in enumerate(asked.rows) if asked.findings[row].id in index]
    if not own:
        return True
    ratings = Ratings(
        kind=asked.kind,
        sample=0,
        labels=tuple(inquiry.domain.label_names[asked.label_M[column]] for column in asked.columns),
        findings=tuple(finding_key(asked.findings[asked.rows[place]]) for place in own),
        rank_JM=ranks.rank_JM[own],
        stand_in=any(answer.stand_in for answer in outcome.answers),
        deviations=tuple(sorted({name for answer in outcome.answers for name in answer.deviations})),
    )
    try:
        async with terms.deadline.scope():
            return await inquiry.table.keep(ratings)
    except AskFailed:
        return False
