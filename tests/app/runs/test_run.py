"""Runs in one process: each case once, nothing twice, and everything that is needed to score again."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregators.decision import decide
from anchor.anchors import ANCHORS
from app.assembly import open_council
from app.runs.dataset import open_dataset
from app.runs.journal import create_journal, open_journal
from app.runs.run import CALCULATED, Asked, Done, Halt, Halted, Run, resolve_run, run_chunk
from domains.errors import BadInput
from evaluation.runs import load_run
from tests.agents.asking import Away
from tests.app.runs.embedded import Bench, asks, bench

CALLS = 7
"""Five agents and two steps."""


@pytest.fixture
def twelve(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, 12) as bench_of_twelve:
        yield bench_of_twelve


async def test_every_case_has_one_record_in_the_order_of_the_file(twelve: Bench) -> None:
    await twelve.evaluate()

    assert [record.id for record in twelve.records()] == [f"drawn-{place}" for place in range(12)]
    assert {record.outcome for record in twelve.records()} == {"ok"}


async def test_a_run_that_is_done_asks_nobody_again(twelve: Bench) -> None:
    await twelve.evaluate()
    requests, results = twelve.requests, twelve.results

    await twelve.evaluate()

    assert twelve.requests == requests
    assert twelve.results == results


async def test_a_limit_takes_the_first_cases(twelve: Bench) -> None:
    await twelve.evaluate(limit=3)

    assert [record.id for record in twelve.records()] == ["drawn-0", "drawn-1", "drawn-2"]


@pytest.mark.parametrize("anchor", ["reverse", "mean_forward", "generic_forward", "reverse_prior"])
async def test_decisions_can_be_made_again_from_the_records_alone(twelve: Bench, anchor: str) -> None:
    await twelve.evaluate(anchors=(anchor,))
    whole = load_run(twelve.run).whole()

    panel = whole.anchored(ANCHORS[anchor])

    for name in CALCULATED:
        again = decide(name, panel)
        kept = [record.decisions[name] for record in twelve.records()]
        assert [panel.labels[label] for label in again.label_N] == [decided.label for decided in kept]
        distribution_NL = np.array([[decided.distribution.get(x, 0.0) for x in panel.labels] for decided in kept])
        assert (again.distribution_NL == distribution_NL).all()


async def test_an_anchor_that_was_asked_for_beside_the_first_is_scored_later(twelve: Bench) -> None:
    await twelve.evaluate(into="beside", anchors=("reverse", "generic_forward"))
    await twelve.evaluate(into="first", anchors=("generic_forward",))

    panel = load_run(twelve.folder / "beside").whole().anchored(ANCHORS["generic_forward"])

    decided = [panel.labels[label] for label in decide("loglin", panel).label_N]
    assert decided == [record.decisions["loglin"].label for record in twelve.records("first")]


async def test_an_anchor_that_was_not_asked_for_is_refused(twelve: Bench) -> None:
    await twelve.evaluate(anchors=("mean_forward",))

    with pytest.raises(BadInput, match="did not ask for the evidence step"):
        load_run(twelve.run).whole().anchored(ANCHORS["reverse_likelihood"])


async def test_gold_labels_reach_no_prompt(twelve: Bench) -> None:
    await twelve.evaluate()
    with_gold = set(twelve.model.requests)
    stated = [json.loads(line) for line in twelve.cases.read_text("utf-8").splitlines()]
    twelve.cases.write_text("".join(json.dumps(case | {"gold": None}) + "\n" for case in stated), "utf-8")

    await twelve.evaluate(into="without")

    assert set(twelve.model.requests) == with_gold


async def test_accuracy_counts_the_labelled_cases_of_the_pool(twelve: Bench) -> None:
    summary = await twelve.evaluate()

    right = sum(record.decisions["range"].label == record.gold for record in twelve.records())
    assert (summary.accuracies["range"].correct, summary.accuracies["range"].n) == (right, 12)
    assert summary.coverage == 1.0


async def test_a_case_below_the_quorum_is_a_record_with_its_causes(twelve: Bench) -> None:
    refused = [asks(name) for name in ("tot", "cot", "medprompt")]
    twelve.model.refuses = lambda body: b"400 No" if any(name in body for name in refused) else b""

    summary = await twelve.evaluate()

    record = twelve.records()[0]
    assert (record.outcome, record.decisions, record.ranks) == ("failed", {}, None)
    assert record.causes == {"tot": "refused", "medprompt": "refused", "cot": "refused"}
    assert summary.exclusions == {"agent_failed:tot": 12, "agent_failed:medprompt": 12, "agent_failed:cot": 12}


async def test_a_case_without_one_agent_is_decided_and_not_in_the_pool(twelve: Bench) -> None:
    twelve.model.refuses = lambda body: b"400 No" if asks("tot") in body else b""

    summary = await twelve.evaluate()

    assert {record.outcome for record in twelve.records()} == {"degraded"}
    assert twelve.records()[0].degraded == ["agent_failed:tot"]
    assert (summary.pooled, summary.coverage, summary.accuracies) == (0, 0.0, {})


async def test_a_failed_step_is_null_and_told(twelve: Bench) -> None:
    twelve.model.refuses = lambda body: b"400 No" if asks("evidence") in body else b""

    await twelve.evaluate()

    record = twelve.records()[0]
    assert record.ranks is not None
    assert record.ranks.evidence is not None
    assert record.ranks.evidence.ranks is None
    assert record.causes == {"evidence": "refused"}


async def test_retrying_asks_what_failed_and_nothing_else(twelve: Bench) -> None:
    twelve.model.refuses = lambda body: b"400 No" if asks("tot") in body else b""
    await twelve.evaluate()
    twelve.model.refuses = lambda body: b""
    requests = twelve.requests

    await twelve.evaluate(retry_failed=True)

    assert twelve.requests - requests == 12
    assert {record.outcome for record in twelve.records()} == {"ok"}


async def test_without_being_told_to_what_failed_is_not_asked_again(twelve: Bench) -> None:
    twelve.model.refuses = lambda body: b"400 No" if asks("tot") in body else b""
    await twelve.evaluate()
    requests = twelve.requests

    await twelve.evaluate()

    assert twelve.requests == requests


async def test_a_run_retried_into_wholeness_ends_as_one_that_never_failed(twelve: Bench) -> None:
    await twelve.evaluate(into="undisturbed")
    twelve.model.refuses = lambda body: b"400 No" if asks("tot") in body else b""
    await twelve.evaluate()
    twelve.model.refuses = lambda body: b""

    await twelve.evaluate(retry_failed=True)

    assert twelve.results == (twelve.folder / "undisturbed" / "results.ndjson").read_bytes()


async def test_a_refused_key_stops_the_run_and_records_nothing(twelve: Bench) -> None:
    twelve.model.refuses = lambda body: b"401 No"

    with pytest.raises(Halted, match="unauthorised"):
        await twelve.evaluate()

    twelve.model.refuses = lambda body: b""
    await twelve.evaluate()
    assert {record.outcome for record in twelve.records()} == {"ok"}


async def test_a_spent_budget_stops_the_run_and_more_of_it_goes_on(twelve: Bench) -> None:
    with pytest.raises(Halted, match="budget"):
        await twelve.evaluate(budget_usd=0.08)
    paid = twelve.requests

    summary = await twelve.evaluate(budget_usd=10.0)

    assert 0 < paid < 12 * CALLS
    assert twelve.requests == 12 * CALLS
    assert summary.outcomes == {"ok": 12}


async def test_what_was_spent_before_counts_towards_the_budget(twelve: Bench) -> None:
    with pytest.raises(Halted):
        await twelve.evaluate(budget_usd=0.08)
    paid = twelve.requests

    with pytest.raises(Halted):
        await twelve.evaluate(budget_usd=0.08)

    assert twelve.requests == paid


async def test_the_estimate_names_what_is_left(twelve: Bench) -> None:
    await twelve.evaluate()

    assert "cases: 2" in twelve.said
    assert any(line.startswith("cost: about $") for line in twelve.said)


async def test_a_run_of_a_fresh_folder_reads_all_cases_before_it_asks(twelve: Bench) -> None:
    with twelve.cases.open("a", encoding="utf-8") as file:
        file.write('{"id": "bad"}\n')

    with pytest.raises(BadInput, match=r"cases\.ndjson:13"):
        await twelve.evaluate()

    assert twelve.requests == 0


async def test_replies_are_kept_in_memory_only_where_none_are_to_be_kept(twelve: Bench) -> None:
    await twelve.evaluate(twelve.settings(replies=0))

    async with open_journal(twelve.run / "journal.sqlite", load_run(twelve.run).manifest.id) as journal:
        assert await journal.read(lambda c: c.execute("SELECT count(*) FROM replies").fetchone()) == (0,)


@pytest.fixture
async def chunked(twelve: Bench) -> AsyncIterator[Run]:
    path = twelve.folder / "journal.sqlite"
    create_journal(path, "run-1")
    async with open_council(twelve.settings()) as council, open_journal(path, "run-1") as journal:
        inquiry = resolve_run(Asked(domain=twelve.domain), council, lambda b: journal.replies(b.settings.prices))
        with open_dataset(twelve.cases, inquiry.domain) as dataset:
            yield Run(dataset, inquiry, journal.results)


async def test_a_chunk_runs_its_own_cases(chunked: Run) -> None:
    await run_chunk(chunked, 3, 6)

    assert await chunked.results.missing(0, 12) == [0, 1, 2, 6, 7, 8, 9, 10, 11]


async def test_a_chunk_run_again_asks_nobody(chunked: Run, twelve: Bench) -> None:
    await run_chunk(chunked, 0, 12)
    requests = twelve.requests

    await run_chunk(chunked, 0, 12)

    assert twelve.requests == requests


async def test_a_chunk_run_twice_at_once_leaves_one_record_a_case(chunked: Run) -> None:
    await asyncio.gather(run_chunk(chunked, 0, 12), run_chunk(chunked, 0, 12))

    assert (await chunked.results.counts()).total() == 12


async def test_a_halted_run_takes_up_no_more_cases_and_finishes_those_in_flight(chunked: Run) -> None:
    halt, kept = Halt(), list[int]()

    async def watch(done: Done) -> None:
        kept.append(done.place)
        halt.call("enough")

    run = Run(chunked.dataset, chunked.inquiry, chunked.results, halt, watch)
    with pytest.raises(Halted, match="enough"):
        await run_chunk(run, 0, 12, in_flight=2)

    assert 1 <= len(kept) <= 3
    assert (await chunked.results.counts()).total() == len(kept)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"agents": ("nobody",)}, "agents.0"),
        ({"aggregators": ("nothing",)}, "aggregator"),
        ({"anchors": ("reverse", "nothing")}, "anchors"),
        ({"anchors": ()}, "aggregator"),
        ({"backbone": "nowhere"}, "backbone"),
        ({"agents": ("cot",) * 30}, "agents"),
        ({"aggregators": ()}, "aggregators"),
    ],
)
async def test_a_name_that_nothing_has_is_told(twelve: Bench, asked: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInput) as refused:
        await twelve.evaluate(**asked)

    assert refused.value.faults[0].where.startswith(named)


async def test_a_record_does_not_tell_of_a_reply_store_that_was_away(twelve: Bench, tmp_path: Path) -> None:
    await twelve.evaluate()
    create_journal(tmp_path / "journal.sqlite", "run")

    async with open_council(twelve.settings()) as council, open_journal(tmp_path / "journal.sqlite", "run") as journal:
        inquiry = resolve_run(Asked(domain=twelve.domain), council, lambda backbone: Away())
        with open_dataset(twelve.cases, inquiry.domain) as dataset:
            seen: list[Done] = []

            async def watch(done: Done) -> None:
                seen.append(done)

            await run_chunk(Run(dataset, inquiry, journal.results, watch=watch), 0, 12)
        kept = [line for _, line in await journal.results.lines(0, 12)]

    assert all(outcome.answers[0].cache_unavailable for done in seen for outcome in done.hearing.forward)
    assert kept == twelve.results.splitlines()
