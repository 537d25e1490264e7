"""Labelled cases drawn from a pack's knowledge, for fitting where a pack has too few of its own."""

import numpy as np

from domains.case import Domain
from domains.knowledge import Knowledge
from domains.simplex import Index, Mask
from simulator import draws

PRESENT_TOLD = 0.8
ABSENT_TOLD = 0.03
"""Shares of what is so, and of what is not, that a case states. With them a drawn case is about as hard as the built-in
packs' own cases: exact knowledge names the right label in some 85 of 100."""

Observed = list[tuple[int, bool]]


def draw_cases(domain: Domain, knowledge: Knowledge, count: int, seed: int) -> tuple[list[Observed], Index]:
    """`count` cases as (finding's place, present) pairs, and their labels [N].

    A label by its share of cases, each finding by its probability under it, of one group at most one, and of these a
    part is stated. Only evidence is ever stated absent.
    """
    case_N = draws.keys(f"drawn case {seed}", range(count))
    finding_J = draws.keys("drawn finding", (finding.id for finding in domain.findings))
    label_key_1 = draws.keys("drawn", ["label"])
    threshold_L = np.cumsum(knowledge.prior_L)
    gold_N = np.searchsorted(threshold_L, draws.uniform(case_N, label_key_1) * threshold_L[-1]).astype(np.int64)
    present_NJ = _present(domain, knowledge, case_N, finding_J, gold_N)
    told_NJ = draws.uniform((case_N ^ np.uint64(draws.key("told")))[:, None], finding_J)
    evidence_J = np.array([finding.kind == "evidence" for finding in domain.findings])
    absent_NJ = ~present_NJ & evidence_J & knowledge.known_J & (told_NJ < ABSENT_TOLD)
    stated_NJ = (present_NJ & (told_NJ < PRESENT_TOLD)) | absent_NJ
    cases = [[(int(j), bool(present_NJ[n, j])) for j in np.flatnonzero(stated_NJ[n])] for n in range(count)]
    kept = [n for n, case in enumerate(cases) if case]
    return [cases[n] for n in kept], gold_N[kept]


def _present(domain: Domain, knowledge: Knowledge, case_N: draws.Keys, finding_J: draws.Keys, gold_N: Index) -> Mask:
    """Which findings are so [N, J]: each by its probability; of a group the value into whose share a draw falls."""
    probability_NJ = knowledge.probability_LJ[gold_N] * knowledge.known_J
    present_NJ = draws.uniform(case_N[:, None], finding_J) < probability_NJ
    groups = sorted({finding.group for finding in domain.findings if finding.group})
    for group, column in zip(groups, draws.keys("drawn group", groups), strict=True):
        members = [place for place, finding in enumerate(domain.findings) if finding.group == group]
        end_NV = np.cumsum(probability_NJ[:, members], axis=1)
        fall_N1 = draws.uniform(case_N, column[None])[:, None] * np.maximum(end_NV[:, -1:], 1.0)
        present_NJ[:, members] = (fall_N1 < end_NV) & (fall_N1 >= end_NV - probability_NJ[:, members])
    return present_NJ
