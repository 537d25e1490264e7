"""Runs over an elicitation table: frozen when they begin, the same whenever they go on, named in what they leave."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.purse import Purse
from aggregators.decision import decide
from anchor.anchors import ANCHORS
from app.assembly import open_council
from app.elicitation.files import hand_out
from app.elicitation.fill import Filler
from app.fleet.index import open_queue
from app.fleet.run import begin_fleet_run, open_fleet_run
from app.inquiry import backbone_for
from app.runs.dataset import open_dataset
from app.runs.folder import open_run_folder
from app.runs.frozen import freeze
from app.runs.manifest import describe_run
from app.runs.run import Asked, Halt, resolve_run
from domains.errors import BadInput
from evaluation.manifest import read_manifest
from evaluation.runs import TABLE_FILE, load_run
from tests.app.runs.embedded import Bench, asks, bench
from tests.redis_server import RunningRedis

CASES = 12


@pytest.fixture
def twelve(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, CASES) as bench_of_twelve:
        yield bench_of_twelve


async def elicit(bench: Bench, answers: int = 3, export: Path | None = None) -> str:
    """Fill the table of the data folder; its digest."""
    async with open_council(bench.settings()) as council:
        domain = council.catalogue.get(bench.domain)
        backbone = backbone_for(domain, "default", council)
        live = council.tables.of(backbone, domain)
        filler = Filler(live, backbone, domain, answers)
        await filler.fill(await filler.need(), Purse(), Halt(), lambda answered: None)
        return hand_out(live, export or bench.folder / "table.json")


def forget(bench: Bench) -> None:
    """Count the requests from here on."""
    bench.model.requests.clear()


async def test_a_case_takes_five_calls(twelve: Bench) -> None:
    await elicit(twelve)
    forget(twelve)

    await twelve.evaluate(elicitation="table")

    assert twelve.requests == 5 * CASES
    assert {record.usage.calls for record in twelve.records()} == {5}


async def test_the_table_s_digest_stands_in_the_run_and_in_every_record(twelve: Bench) -> None:
    digest = await elicit(twelve)

    await twelve.evaluate(elicitation="table")

    parameters = read_manifest(twelve.run).parameters
    assert (parameters.elicitation, parameters.table) == ("table", digest)
    assert json.loads((twelve.run / TABLE_FILE).read_text())["digest"] == digest
    ranks = [record.ranks for record in twelve.records()]
    assert {(each.source, each.table) for each in ranks if each} == {("table", digest)}


async def test_per_case_stays_the_default_of_an_evaluation(twelve: Bench) -> None:
    await elicit(twelve)

    await twelve.evaluate()

    assert read_manifest(twelve.run).parameters.elicitation == "per_case"
    assert not (twelve.run / TABLE_FILE).exists()
    assert {record.usage.calls for record in twelve.records()} == {7}


async def test_every_answer_of_a_pair_is_in_the_records(twelve: Bench) -> None:
    await elicit(twelve, answers=3)

    await twelve.evaluate(elicitation="table")

    for record in twelve.records():
        assert record.ranks is not None
        assert record.ranks.evidence is not None
        assert len(record.ranks.evidence.more) == 2


async def test_scoring_the_records_again_gives_the_decisions_that_were_made(twelve: Bench) -> None:
    await elicit(twelve)
    await twelve.evaluate(elicitation="table")

    batch = load_run(twelve.run).whole()
    panel = batch.anchored(ANCHORS["reverse"])
    for head in ("minjs", "fwdjs", "loglin"):
        again = decide(head, panel)
        for place, record in enumerate(twelve.records()):
            decided = record.decisions[head]
            assert panel.labels[again.label_N[place]] == decided.label
            named = {
                label: mass for label, mass in zip(panel.labels, again.distribution_NL[place], strict=True) if mass
            }
            assert decided.distribution == pytest.approx(named, abs=1e-12)


async def test_a_run_goes_on_over_its_own_table_whatever_was_added_meanwhile(twelve: Bench) -> None:
    await elicit(twelve, answers=1)
    await twelve.evaluate(elicitation="table", into="straight")
    digest = read_manifest(twelve.folder / "straight").parameters.table
    twelve.model.refuses = lambda body: b"400 Bad Request" if asks("cot") in body else b""
    await twelve.evaluate(elicitation="table")
    twelve.model.refuses = lambda body: b""
    assert await elicit(twelve, answers=3) != digest

    await twelve.evaluate(elicitation="table", retry_failed=True)

    assert read_manifest(twelve.run).parameters.table == digest
    straight = (twelve.folder / "straight" / "results.ndjson").read_bytes()
    assert twelve.results == straight


async def test_two_runs_over_one_table_send_the_same_requests(twelve: Bench) -> None:
    await elicit(twelve, answers=1)
    forget(twelve)
    await twelve.evaluate(elicitation="table", into="one")
    first = dict(twelve.model.requests)
    forget(twelve)
    await twelve.evaluate(elicitation="table", into="two")

    assert dict(twelve.model.requests) == first


async def test_pairs_that_a_frozen_table_lacks_are_asked_for_each_case_and_not_kept(twelve: Bench) -> None:
    await twelve.evaluate(elicitation="table", into="one")
    first = twelve.requests
    await twelve.evaluate(elicitation="table", into="two")

    assert first == 7 * CASES
    assert twelve.requests == 2 * first


async def test_a_table_may_be_given_as_a_file(twelve: Bench) -> None:
    file = twelve.folder / "given.json"
    digest = await elicit(twelve, export=file)
    forget(twelve)

    elsewhere = twelve.settings().model_copy(update={"data_dir": twelve.folder / "elsewhere"})
    await twelve.evaluate(elsewhere, elicitation="table", table=file)

    assert twelve.requests == 5 * CASES
    assert read_manifest(twelve.run).parameters.table == digest


async def test_another_table_than_the_run_was_begun_with_is_refused(twelve: Bench) -> None:
    one, other = twelve.folder / "one.json", twelve.folder / "other.json"
    await elicit(twelve, answers=1, export=one)
    await elicit(twelve, answers=2, export=other)
    await twelve.evaluate(elicitation="table", table=one)

    with pytest.raises(BadInput, match="is not the table that the run was begun with"):
        await twelve.evaluate(elicitation="table", table=other)


async def test_every_machine_of_a_fleet_works_over_the_run_s_table(twelve: Bench, redis_server: RunningRedis) -> None:
    await elicit(twelve, answers=1)
    asked = Asked(domain=twelve.domain, elicitation="table")
    async with open_council(twelve.settings()) as council:
        with open_run_folder(twelve.run) as folder:
            frozen = await freeze(asked, council, folder.path)
            inquiry = resolve_run(asked, frozen)
            with open_dataset(twelve.cases, inquiry.domain) as dataset:
                begun = begin_fleet_run(folder, describe_run(inquiry, dataset))
    await elicit(twelve, answers=2)

    async with (
        open_council(twelve.settings()) as council,
        open_queue(redis_server.url) as redis,
        open_fleet_run(twelve.run, council, redis) as run,
    ):
        table = run.inquiry.table

    assert table is not None
    assert table.frozen == begun.parameters.table != ""


async def test_a_table_goes_with_the_table_only(twelve: Bench) -> None:
    file = twelve.folder / "given.json"
    await elicit(twelve, answers=1, export=file)

    with pytest.raises(BadInput, match="give --elicitation table"):
        await twelve.evaluate(table=file)


async def test_a_run_of_one_source_does_not_go_on_with_the_other(twelve: Bench) -> None:
    await elicit(twelve, answers=1)
    await twelve.evaluate(elicitation="table")

    with pytest.raises(BadInput, match=r"parameters\.elicitation"):
        await twelve.evaluate()


async def test_a_table_that_was_spoilt_in_the_folder_is_refused(twelve: Bench) -> None:
    await elicit(twelve, answers=1)
    await twelve.evaluate(elicitation="table")
    path = twelve.run / TABLE_FILE
    content = json.loads(path.read_text())
    finding, row = next(iter(content["ranks"].items()))
    label, ranks = next(iter(row.items()))
    content["ranks"][finding][label] = "0" if ranks != "0" else "1"
    path.write_text(json.dumps(content))

    with pytest.raises(BadInput, match="its digest is not that of its content"):
        await twelve.evaluate(elicitation="table")
