"""What a reverse anchor was made of, finding by finding: the ranks that were given, and what the anchor takes them for.

For each label the values of its findings make its two factors again (method.md, The reverse posterior): P(e|d) is the
product of the values of present evidence and of 1 − value of absent evidence, and the activation of the context is
1 − (1 − λ)·Π(1 − value).
"""

from collections.abc import Sequence

import numpy as np

from anchor.network import MISSING, RankArray
from anchor.ordinal import Curve
from app.hearing import Hearing
from app.schemas.common import Members
from domains.case import KINDS, Kind
from domains.simplex import Array, Mask


def rated_findings(hearing: Hearing) -> list[Members]:
    """A `RatedFinding` for each finding that the anchor rests on, context first, with its ranks and values by label. A
    step that failed has none, and a pair that nobody rated has no entry."""
    return [rated for kind in KINDS for rated in _rated(hearing, kind)]


def _rated(hearing: Hearing, kind: Kind) -> list[Members]:
    step = hearing.steps.get(kind)
    if step is None or step.rank_SJM is None:
        return []
    inquiry = hearing.inquiry
    maps = inquiry.anchors[inquiry.anchor or ""].maps
    names = [inquiry.domain.label_names[label] for label in hearing.label_M]
    present_by_id = {o.finding.id: o.present for o in inquiry.case.observations(kind)}
    present_J = np.array([present_by_id[finding.id] for finding in step.findings], dtype=np.bool_)
    rated_JM = (step.rank_SJM != MISSING).any(axis=0)
    rank_JM = _mean(step.rank_SJM, np.arange(7.0))
    product = present_J & (kind == "evidence")
    value_JM = _values(step.rank_SJM, product, maps.evidence if kind == "evidence" else maps.context)
    return [
        {
            "id": finding.id,
            "text": finding.text,
            "kind": kind,
            "present": bool(present_J[row]),
            "ranks": _by_label(rank_JM[row], rated_JM[row], names),
            "values": _by_label(value_JM[row], rated_JM[row], names),
        }
        for row, finding in enumerate(step.findings)
    ]


def _values(rank_SJM: RankArray, product_J: Mask, curve: Curve) -> Array:
    """[J, M]: what several answers together are taken for. The network averages logs: of v where the finding's factor
    is v, of 1 − v where it is 1 − v."""
    of_v_JM = np.exp(_mean(rank_SJM, curve.log_values()))
    of_complement_JM = -np.expm1(_mean(rank_SJM, curve.log_complements()))
    return np.where(product_J[:, None], of_v_JM, of_complement_JM)


def _mean(rank_SJM: RankArray, per_rank_7: Array) -> Array:
    """[J, M]: the mean over the answers there are of what each rank stands for; 0 where there is none."""
    rated_SJM = rank_SJM != MISSING
    total_JM = np.where(rated_SJM, per_rank_7[rank_SJM], 0.0).sum(axis=0)
    return np.asarray(total_JM / np.maximum(rated_SJM.sum(axis=0), 1))


def _by_label(number_M: Array, rated_M: Mask, names: Sequence[str]) -> dict[str, float]:
    return {name: float(number_M[place]) for place, name in enumerate(names) if rated_M[place]}
