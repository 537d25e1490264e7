"""A run with judges: its records hold their verdicts, and are decided again without asking anyone."""

from dataclasses import dataclass, replace

import httpx
import numpy as np
import pytest

from agents.deadline import Deadline
from aggregators import AGGREGATORS, JUDGES
from aggregators.decision import confidence, decide
from aggregators.judges import fallback_N, skipped_N
from anchor.anchors import ANCHORS
from app.assembly import open_council
from app.hearing import hear
from app.runs.dataset import find_dataset, open_dataset
from app.runs.manifest import describe_run
from app.runs.recording import write_record
from app.runs.run import Asked, resolve_run
from app.settings import Settings
from domains.errors import BadInput
from evaluation.arrays import gather
from evaluation.manifest import Manifest
from evaluation.records import Record, decode_record, encode_record
from tests.app.conftest import Spoiling

CASES = 6
ASKED = Asked(aggregators=tuple(AGGREGATORS))


@dataclass(frozen=True)
class Ran:
    """The manifest and the records of a run, and what was sent for it."""

    manifest: Manifest
    records: list[Record]
    bodies: list[str]


async def ran(settings: Settings, spoilt: str = "no such text", asked: Asked = ASKED, cases: int = CASES) -> Ran:
    """The first cases of the default pack with all aggregators; requests that hold a text fail."""
    between: list[Spoiling] = []

    def wrap(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        between.append(Spoiling(inner, lambda body: spoilt in body))
        return between[-1]

    async with open_council(settings, wrap) as council:
        path, owner = find_dataset(council.default_domain, council.catalogue)
        inquiry = resolve_run(replace(asked, domain=owner), council)
        records = []
        with open_dataset(path, inquiry.domain, cases) as dataset:
            manifest = describe_run(inquiry, dataset)
            for place in range(cases):
                case = dataset.case(place)
                hearing = await hear(replace(inquiry, case=replace(case, gold=None)), Deadline.after(30.0))
                records.append(decode_record(encode_record(write_record(hearing, case)), "line"))
        return Ran(manifest, records, between[0].bodies)


@pytest.fixture
async def run(settings: Settings) -> Ran:
    return await ran(settings)


async def test_every_aggregator_decides_again_what_it_decided(run: Ran) -> None:
    panel = gather(run.records, run.manifest).anchored(ANCHORS["reverse"])

    for name in AGGREGATORS:
        again = decide(name, panel)
        assert [panel.labels[label] for label in again.label_N] == [r.decisions[name].label for r in run.records]
        for case, record in enumerate(run.records):
            shown = {
                panel.labels[x]: again.distribution_NL[case, x] for x in np.flatnonzero(again.distribution_NL[case])
            }
            assert record.decisions[name].distribution == pytest.approx(shown, abs=1e-15)
        sure = confidence(panel, again)
        assert [r.decisions[name].margin for r in run.records] == pytest.approx(sure.margin_N, abs=1e-15)
        assert [r.decisions[name].vote_share for r in run.records] == sure.vote_share_N.tolist()


async def test_a_record_has_the_verdict_and_its_marks_and_no_text_of_the_case(run: Ran) -> None:
    for record in run.records:
        assert record.verdicts.keys() == JUDGES.keys()
        judged = record.verdicts["ach"]
        assert judged is not None
        assert judged.matrix is not None
        assert next(iter(judged.posterior)) == record.decisions["ach"].label
        assert {len(row) for row in judged.matrix.marks} == {len(judged.matrix.hypotheses)}


async def test_the_run_says_with_which_prompts_it_judged(run: Ran) -> None:
    assert run.manifest.judges == tuple(JUDGES)
    assert {name: run.manifest.versions.prompts[name] for name in JUDGES} == {
        name: judge.digest for name, judge in JUDGES.items()
    }


async def test_usage_counts_the_judges(run: Ran) -> None:
    assert {record.usage.calls for record in run.records} == {9}


async def test_no_gold_label_is_in_any_request(run: Ran) -> None:
    """Requests are the same bytes as those of a case that never had one; ids, which name no label, stay out too."""
    assert len([body for body in run.bodies if "How to judge" in body]) == 2 * CASES
    assert not any("gold" in body or record.id in body for body in run.bodies for record in run.records)


async def test_a_judge_that_fell_back_stays_in_the_pool_and_is_counted(settings: Settings) -> None:
    run = await ran(settings, spoilt="competing hypotheses")
    batch = gather(run.records, run.manifest)

    assert batch.pooled_N.all()
    assert fallback_N("ach", batch.panel).all()
    assert not fallback_N("informed_dictator", batch.panel).any()
    for record in run.records:
        assert (record.verdicts["ach"], record.causes) == (None, {"judge:ach": "refused"})
        assert record.degraded == ["judge_failed:ach"]
        assert (record.decisions["ach"].used, record.exclusions) == ("plurality", ())
        assert record.decisions["ach"].label == record.decisions["plurality"].label


async def test_judges_that_skip_unanimous_cases_have_no_verdict_on_them_and_did_not_fall_back(
    settings: Settings,
) -> None:
    run = await ran(settings, asked=replace(ASKED, skip_unanimous=True), cases=20)
    batch = gather(run.records, run.manifest)
    agreed = [len({next(iter(stated)) for stated in r.posteriors.values() if stated}) == 1 for r in run.records]

    assert run.manifest.parameters.skip_unanimous
    assert 0 < sum(agreed) < 20
    assert skipped_N("ach", batch.panel).tolist() == agreed
    assert not fallback_N("ach", batch.panel).any()
    for record, unanimous in zip(run.records, agreed, strict=True):
        assert record.verdicts.keys() == (set() if unanimous else JUDGES.keys())
        assert (record.outcome, record.exclusions, record.decisions["ach"].used) == ("ok", (), "ach")
        if unanimous:
            assert record.decisions["ach"].distribution == {record.decisions["plurality"].label: 1.0}
            assert record.usage.calls == 7


async def test_a_verdict_on_a_label_of_another_domain_is_of_another_run(run: Ran) -> None:
    line = encode_record(run.records[0]).decode()
    judged = run.records[0].verdicts["ach"]
    assert judged is not None
    foreign = judged.model_copy(update={"posterior": {"Elsewhere": 1.0}})
    record = decode_record(line, "line").model_copy(update={"verdicts": {"ach": foreign}})

    with pytest.raises(BadInput, match="of another run"):
        gather([record], run.manifest)
