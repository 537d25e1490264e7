"""R1: many decisions while a fifth of all requests meets one fault or another: none is wrong, lost or quietly degraded.

Every posterior and every decision is made again from what the stand-in's journal says it answered, in plain Python
(`journal`), and compared to 1e-12. `CHAOS_R1_DECISIONS` sets how many.
"""

import asyncio
import itertools
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import httpx

from agents.personas import POOL
from app.settings import DeclaredBackbone
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.in_process import CATALOGUE, DOMAIN, before, body_of
from benchmarks.chaos.journal import Distribution, Journal, Remade, close, log_linear, mean
from benchmarks.chaos.rehearsal import simulating
from domains.case import KINDS, Case, Kind, Observation
from domains.knowledge import load_knowledge
from simulator.drawn_cases import draw_cases

UNTIMED = True

DECISIONS = int(os.environ.get("CHAOS_R1_DECISIONS", "10000"))
AT_ONCE = 128
MIX: Mapping[str, float] = {
    "429": 0.02, "429_seconds": 0.002, "429_date": 0.0002, "500": 0.04, "502": 0.03, "503": 0.03, "reset": 0.01,
    "reset_body": 0.01, "silent_headers": 0.0005, "silent_body": 0.0005, "drip": 0.0005, "slow": 0.01,
    "error_200": 0.01, "null_choices": 0.004, "empty_choices": 0.004, "html_200": 0.004, "malformed_json": 0.005,
    "cut_off": 0.005, "refusal": 0.002, "outside": 0.005, "non_finite": 0.003, "duplicates": 0.002, "huge": 0.0002,
    "refused": 0.0001,
}  # fmt: skip
PACE = "retry_after_s=0.05,slow_s=0.2,drip_s=0.2,shut_s=0.1"
ATTEMPT_S, DEADLINE_S = 10.0, 120.0


async def measure() -> list[Figure]:
    """What was wrong, lost and silently degraded, and how often each fault came."""
    domain = CATALOGUE.get(DOMAIN)
    faults = ",".join(f"{name}={rate}" for name, rate in MIX.items())
    with tempfile.TemporaryDirectory(prefix="crosspath-r1-") as folder:
        path = Path(folder) / "journal.ndjson"
        async with simulating("--seed", "1", "--journal", str(path), "--faults", f"{faults},{PACE}") as upstream:
            settings = DeclaredBackbone(
                base_url=upstream,
                model="stand-in",
                attempt_timeout_s=ATTEMPT_S,
                structured="json_schema",
                concurrency=4 * AT_ONCE,
            )
            answers = await _decide_all(settings)
        journal = Journal(path)
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    whole = len(domain.labels) <= 16
    for number, (case, answer) in enumerate(answers):
        for fault, where in judge(answer, Remade(journal, settings, domain, case, whole)):
            found[fault] += 1
            examples.setdefault(fault, f"{where} of decision {number}")
    share = 1 - journal.faults["ok"] / sum(journal.faults.values())
    told = f"{len(answers):,} decisions, {share:.1%} of {sum(journal.faults.values()):,} requests met a fault"
    statuses = Counter(str(answer.get("status")) for _, answer in answers)
    return [
        *(
            Figure(
                f"R1 {fault}",
                "0",
                f"{found[fault]}" + (f" ({examples[fault]})" if found[fault] else ""),
                not found[fault],
            )
            for fault in ("wrong", "lost", "silently degraded")
        ),
        Figure("R1 asked", "10,000 decisions, 20 % faults", f"{told}; {dict(statuses)}", len(answers) >= 10_000),
    ]


def drawn() -> Iterator[Case]:
    """Cases that are all different, each with context and evidence."""
    domain = CATALOGUE.get(DOMAIN)
    knowledge = load_knowledge(CATALOGUE.path(DOMAIN), domain)
    assert knowledge is not None
    seen: set[str] = set()
    for seed in itertools.count():
        for number, observed in enumerate(draw_cases(domain, knowledge, 2 * DECISIONS, seed)[0]):
            stated = [Observation(domain.findings[place], present) for place, present in observed]
            halves = {kind: tuple(o for o in stated if o.finding.kind == kind) for kind in KINDS}
            case = Case(f"{seed}-{number}", halves["context"], halves["evidence"])
            key = domain.case_seed(case)
            if key not in seen and case.evidence and any(o.present for o in case.context):
                seen.add(key)
                yield case


async def _decide_all(settings: DeclaredBackbone) -> list[tuple[Case, dict[str, Any]]]:
    cases = itertools.islice(drawn(), DECISIONS)
    answers: list[tuple[Case, dict[str, Any]]] = []
    async with before(
        settings.base_url, replies=0, deadline_s=DEADLINE_S, backbones={"default": settings}, llm_base_url=None,
        llm_model=None,
    ) as client:  # fmt: skip

        async def ask() -> None:
            for case in cases:
                answers.append((case, await _decide(client, case)))

        for case in itertools.islice(cases, 1):  # the stand-in draws its misbeliefs: nobody should time out on that
            answers.append((case, await _decide(client, case)))
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    return answers


async def _decide(client: httpx.AsyncClient, case: Case) -> dict[str, Any]:
    """The answer; empty where there was none."""
    try:
        response = await client.post("/decide", json=body_of(case, params={"elicitation": "per_case"}))
    except httpx.HTTPError:
        return {}
    return cast(dict[str, Any], response.json()) if response.status_code in (200, 503) else {}


def judge(answer: dict[str, Any], remade: Remade) -> Iterator[tuple[str, str]]:
    """What is wrong, lost or silently degraded in an answer, and where."""
    if not answer:
        yield "lost", "the answer"
        return
    agents = {each["agent"]: each for each in answer["agents"]}
    for agent in POOL:
        given = agents[agent].get("posterior")
        if given is None:
            if f"agent_failed:{agent}" not in answer["degraded"]:
                yield "silently degraded", agent
        elif not any(close(given, stated) for stated in remade.posteriors(agent)):
            yield "wrong", agent
    if "label" in answer:
        yield from _judge_decision(answer, [a["posterior"] for a in agents.values() if a["posterior"]], remade)
    elif sum(each["status"] == "ok" for each in agents.values()) >= 3:
        yield "lost", "a decision that had its quorum"


def _judge_decision(
    answer: dict[str, Any], posteriors: list[Distribution], remade: Remade
) -> Iterator[tuple[str, str]]:
    shortlist = {name for posterior in posteriors for name in posterior}
    anchor = answer["anchor"]["distribution"]
    if anchor is None:
        expected, flags = mean(posteriors), {"anchor_missing", "fallback:range"}
    else:
        expected, flags = log_linear(posteriors, anchor), set()
        made = next((f for tables, f in _anchors(remade, shortlist) if close(anchor, tables)), None)
        if made is None:
            yield "wrong", "the anchor"
        else:
            flags = made
    if not close(answer["distribution"], expected):
        yield "wrong", "the decision's distribution"
    if answer["label"] not in _best(expected):
        yield "wrong", "the label"
    if not flags <= set(answer["degraded"]) or (answer["status"] == "complete") != (not answer["degraded"]):
        yield "silently degraded", "the anchor"


def _best(distribution: Distribution) -> set[str]:
    top = max(distribution.values())
    return {name for name, mass in distribution.items() if mass >= top - 1e-11}


def _anchors(remade: Remade, shortlist: set[str]) -> Iterator[tuple[Distribution, set[str]]]:
    """Every anchor that the journal allows, whole ones first, and what an answer with it must say of itself."""
    tables: dict[Kind, list[Any]] = {kind: remade.ranks(kind, shortlist) for kind in KINDS}
    for evidence, context in itertools.product([*tables["evidence"], None], [*tables["context"], None]):
        steps = {kind: table for kind, table in (("evidence", evidence), ("context", context)) if table is not None}
        if not steps:
            continue
        flags = {"missing_pairs"} if any((table < 0).any() for table in steps.values()) else set()
        if len(steps) == 1:
            flags.add("anchor_partial:likelihood_only" if "evidence" in steps else "anchor_partial:prior_only")
        yield remade.reverse(cast(dict[Kind, Any], steps), shortlist), flags
