"""Writes the record of a decision from what was heard and ruled."""

import math
import platform
from datetime import UTC, datetime

import numpy as np

from aggregators.heads import weight_NK
from aggregators.verdict import PARSER as VERDICT_PARSER
from anchor.anchors import Anchor
from anchor.ranks import PARSER as RANKS_PARSER
from app import __version__
from app.answers import Ruling, questions
from app.hearing import Hearing
from app.inquiry import Inquiry
from app.records.record import FORMAT
from app.runs.recording import record_of
from app.schemas.common import Members
from domains.case import Kind
from domains.posterior import PARSER as POSTERIOR_PARSER
from domains.simplex import Array

_READ_AND_COMPUTED_BY: Members = {
    "parsers": [POSTERIOR_PARSER, RANKS_PARSER, VERDICT_PARSER],
    "numpy": np.__version__,
    "python": platform.python_version(),
}


def write_record(hearing: Hearing, ruling: Ruling, decision: Members, owner: str, now: datetime) -> Members:
    """The record of a decision that was given to `owner`: the members of a `DecisionRecord`."""
    inquiry = hearing.inquiry
    return {
        "format": FORMAT,
        "id": decision["id"],
        "owner": owner,
        "created": now.astimezone(UTC).isoformat(timespec="milliseconds"),
        "asked": _asked(inquiry),
        "context": _stated(inquiry, "context"),
        "evidence": _stated(inquiry, "evidence"),
        "replies": _replies(hearing),
        "said": record_of(hearing, inquiry.case, ruling, decision["degraded"]),
        "numbers": numbers(ruling, inquiry.parameters.tau),
        "answer": decision,
        "versions": {"service": __version__, "prompts": decision["versions"]["prompts"], **_READ_AND_COMPUTED_BY},
    }


def numbers(ruling: Ruling, tau: float) -> Members:
    """Everything that was computed about the first case."""
    panel, factors, sure = ruling.convened.panel, ruling.convened.factors, ruling.confidence
    anchored = bool(panel.anchored_N[0])
    return {
        "usable": panel.usable_NK[0].tolist(),
        "forward": panel.forward_NKL[0].tolist(),
        "place": panel.place_NKL[0].tolist(),
        "shortlist": panel.shortlist_NL[0].tolist(),
        "log_anchor": _logs(panel.log_anchor_NL) if anchored else None,
        "log_likelihood": _logs(factors.get("evidence")),
        "log_prior": _logs(factors.get("context")),
        "divergence": panel.divergence_NK[0].tolist() if anchored else None,
        "weight": weight_NK(panel, tau)[0].tolist() if anchored else None,
        "decisions": {name: _ruled(name, ruling) for name in ruling.decided},
        "margin": float(sure.margin_N[0]),
        "vote_share": float(sure.vote_share_N[0]),
        "js_min": float(sure.js_min_N[0]),
        "js_spread": float(sure.js_spread_N[0]),
        "abstained": bool(ruling.abstained_N[0]),
    }


def _ruled(name: str, ruling: Ruling) -> Members:
    decided, labels = ruling.decided[name], ruling.convened.panel.labels
    return {
        "used": ruling.used[name],
        "distribution": decided.distribution_NL[0].tolist(),
        "label": labels[decided.label_N[0]],
        "tied": [labels[label] for label in decided.tied_NL[0].nonzero()[0].tolist()],
    }


def _logs(log_NL: Array | None) -> list[float | None] | None:
    """The first case's logarithms, null for ln 0; None where it has none."""
    if log_NL is None:
        return None
    log_L = [log if log > -math.inf else None for log in log_NL[0].tolist()]
    return None if log_L.count(None) == len(log_L) else log_L


def _asked(inquiry: Inquiry) -> Members:
    return {
        "domain": inquiry.domain.name,
        "labels": inquiry.domain.label_names,
        "digest": inquiry.domain.digest,
        "agents": [
            {
                "agent": agent.name,
                "prompt": agent.persona.digest,
                "backbone": agent.backbone.name,
                "model": agent.backbone.settings.model,
            }
            for agent in inquiry.agents
        ],
        "judges": inquiry.judges,
        "aggregator": inquiry.aggregator,
        "compare": inquiry.compare,
        "anchor": _asked_anchor(inquiry.anchors[inquiry.anchor]) if inquiry.anchor else None,
        "tau": inquiry.parameters.tau,
        "w_r": inquiry.parameters.w_r,
        "abstain_below": dict(inquiry.abstain_below),
        "quorum": inquiry.quorum,
    }


def _asked_anchor(anchor: Anchor) -> Members:
    return {
        "name": anchor.name,
        "maps": anchor.maps,
        "offset": None if anchor.offset_L is None else anchor.offset_L.tolist(),
        "calibration": anchor.digest,
    }


def _stated(inquiry: Inquiry, kind: Kind) -> list[Members]:
    return [{"id": o.finding.id, "text": o.finding.text, "present": o.present} for o in inquiry.case.observations(kind)]


def _replies(hearing: Hearing) -> list[Members]:
    return [
        {
            "asked": asked,
            "digest": answer.digest,
            "model": answer.model,
            "fingerprint": answer.fingerprint,
            "deviations": answer.deviations,
            "amended": answer.amended,
            "cached": answer.cached,
        }
        for asked, outcome in questions(hearing).items()
        for answer in outcome.answers
    ]
