"""The two backward questions, context → label and label → evidence: each a table of ordinal ranks (method.md, The
reverse posterior).

Both show the candidates, the findings' texts and nothing else: not which finding is present, and nobody's answer.
Temperature 0; repeats differ by the order of the candidates.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from anchor.ordinal import RANKS
from anchor.ranks import PARSER, Ids, Ranks, Sheet
from domains.case import KINDS, Domain, Finding, Kind
from domains.prompts import load_prompt
from domains.question import BACKWARD_SAMPLING, Message, Question, Sampling
from domains.rendering import shuffled
from domains.simplex import Mask

PROMPTS = {kind: load_prompt(Path(__file__).parent / "prompts" / f"{kind}.md") for kind in KINDS}


def rank_question(
    step: Kind,
    domain: Domain,
    candidates: Sequence[int],
    findings: Sequence[Finding],
    seed: str,
    wanted_JM: Mask | None = None,
    sample: int = 0,
) -> Question[Ranks]:
    """One elicitation step; with `wanted_JM`, only those pairs of it again, under the same ids.

    `candidates` are label indices in rising order, so that one set of labels is one question whoever named them
    first. `seed` is the case's and shuffles the order in which they are shown; `sample` tells repeats apart.
    The answer's ranks are in the order of `findings` and `candidates` as given here.

    Raises:
        ValueError: candidates that do not rise, or no pair to rate.
    """
    if list(candidates) != sorted(set(candidates)):
        raise ValueError("candidates must be distinct label indices in rising order")
    shape = (len(findings), len(candidates))
    wanted_JM = np.ones(shape, dtype=np.bool_) if wanted_JM is None else wanted_JM
    wanted = np.count_nonzero(wanted_JM)
    if wanted_JM.shape != shape or not wanted:
        raise ValueError("wanted_JM must ask for at least one pair of the findings and candidates")
    everything = wanted == wanted_JM.size
    column_M = shuffled(range(len(candidates)), f"{seed}:{sample}" if sample else seed)
    sheet = Sheet(
        findings=Ids("F", [finding.text for finding in findings]),
        candidates=Ids("C", [domain.label_names[candidates[column]] for column in column_M]),
        column_M=column_M,
        wanted_JM=wanted_JM,
    )
    asked = (sheet.findings.ids, sheet.candidates.ids) if everything else _asked_ids(sheet)
    prompt = PROMPTS[step]
    return Question(
        name=step,
        messages=(
            _system_message(step, domain),
            prompt.user_message(
                case_noun=domain.case_noun,
                label_noun=domain.label_noun,
                candidates=sheet.candidates.lines(),
                findings=sheet.findings.lines(),
                wanted="Every finding for every candidate." if everything else _wanted_lines(sheet),
            ),
        ),
        sampling=Sampling(BACKWARD_SAMPLING.temperature, BACKWARD_SAMPLING.top_p, sample),
        schema=_schema(*asked),
        parse=sheet.read,
        versions={"prompt": prompt.digest, "parser": PARSER, "labels": domain.digest},
    )


@lru_cache(maxsize=64)
def _system_message(step: Kind, domain: Domain) -> Message:
    """What every question of a step about a domain begins with."""
    return PROMPTS[step].system_message(
        case_noun=domain.case_noun, label_noun=domain.label_noun, description=domain.description or domain.title
    )


def _wanted_lines(sheet: Sheet) -> str:
    rows = zip(sheet.findings.ids, map(sheet.wanted_candidates, range(len(sheet.findings.ids))), strict=True)
    return "\n".join(f"- {finding}: {', '.join(candidates)}" for finding, candidates in rows if candidates)


def _asked_ids(sheet: Sheet) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The findings and the candidates with any pair wanted."""
    asked_J, asked_M = np.any(sheet.wanted_JM, axis=1), np.any(sheet.wanted_JM, axis=0)
    shown = zip(sheet.candidates.ids, sheet.column_M, strict=True)
    return (
        tuple(key for key, asked in zip(sheet.findings.ids, asked_J, strict=True) if asked),
        tuple(key for key, column in shown if asked_M[column]),
    )


@lru_cache(maxsize=64)
def _schema(findings: tuple[str, ...], candidates: tuple[str, ...]) -> Mapping[str, Any]:
    """The reply's JSON schema, from ids alone: no text of a caller becomes part of it.

    Every finding asked about has the same candidates, those with any pair wanted, so that its size grows with the
    findings plus the candidates and not with the pairs; a rank that was not wanted is not read.
    """
    rank = {"type": "integer", "enum": list(range(RANKS))}
    ranks = _closed(dict.fromkeys(candidates, rank))
    entry = _closed({"finding": {"type": "string", "enum": list(findings)}, "ranks": ranks})
    return _closed({"ratings": {"type": "array", "items": entry}})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, as strict structured output wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
