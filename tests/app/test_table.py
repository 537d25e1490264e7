"""The elicitation table in `POST /decide`: filled by use, full for five calls, and never the reason of a failure."""

import asyncio
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from app.records.record import decode
from app.records.replaying import replay
from app.settings import Settings, load_settings
from domains.catalogue import Catalogue
from tests.app.calibrated import keep
from tests.app.conftest import Service, running
from tests.app.jobs.batches import pack_cases, serving
from tests.processes import crosspath
from tests.redis_server import RunningRedis

Body = dict[str, Any]

PACK = Catalogue().get(Catalogue().names()[0])
BACKWARD = re.compile(r'"name":"(context|evidence)"')
EVIDENCE_STEP = "# Findings\\n"
OWN = {"id": "mine", "text": "Has walked on the moon"}


def steps(bodies: Iterable[str]) -> list[str]:
    """Which backward questions were sent."""
    return sorted(match.group(1) for body in bodies if (match := BACKWARD.search(body)))


def asked_about(body: str) -> set[str]:
    """The texts of the findings that one backward question shows."""
    user = json.loads(body)["messages"][1]["content"]
    section = re.split(r"^# (?:Findings|Background facts)$|^# What to rate$", user, flags=re.MULTILINE)[1]
    return {line.partition(": ")[2] for line in section.splitlines() if line.startswith("- F")}


def other(case: Body) -> Body:
    """Another case with the same findings: the last is absent where it was present."""
    *kept, last = case["evidence"]
    return case | {"evidence": [*kept, last | {"present": not last["present"]}]}


def numbers(answer: Body) -> Body:
    """What was made of the ranks."""
    return {name: answer["anchor"][name] for name in ("distribution", "likelihood", "prior", "missing_pairs")}


async def test_the_first_case_is_asked_about_as_in_the_paper(settings: Settings, case: Body) -> None:
    async with running(settings) as service:
        by_use = (await service.decide(case=case)).json()
    async with running(load_settings(data_dir=settings.data_dir / "other", elicitation="per_case")) as paper:
        per_case = (await paper.decide(case=case)).json()

    assert sorted(service.upstream.bodies) == sorted(paper.upstream.bodies)
    assert by_use["usage"]["calls"] == 7
    assert numbers(by_use) == numbers(per_case)  # to the last bit


async def test_with_a_full_table_a_decision_takes_five_calls(service: Service, case: Body) -> None:
    await service.decide(case=case)
    service.upstream.bodies.clear()

    answer = (await service.decide(case=other(case))).json()

    assert answer["usage"]["calls"] == 5
    assert steps(service.upstream.bodies) == []
    assert answer["status"] == "complete"


async def test_a_table_that_was_filled_ahead_serves_the_first_case(settings: Settings, case: Body) -> None:
    ended = await asyncio.to_thread(
        crosspath, "elicit", "--domain", PACK.name, CROSSPATH_DATA_DIR=str(settings.data_dir)
    )
    assert ended.returncode == 0, ended.stderr
    async with running(settings) as service:
        answer = (await service.decide(case=case)).json()

    assert answer["usage"]["calls"] == 5
    assert answer["degraded"] == []
    assert sum(answer["anchor"]["distribution"].values()) == pytest.approx(1.0)


async def test_a_table_of_the_same_answers_gives_the_same_anchor(service: Service, case: Body) -> None:
    fresh = (await service.decide(case=case)).json()
    again = (await service.decide(case=case)).json()

    for name in ("distribution", "likelihood", "prior"):
        assert again["anchor"][name] == pytest.approx(fresh["anchor"][name], abs=1e-12)


async def test_only_what_lacks_is_asked(service: Service, case: Body) -> None:
    *most, last = case["evidence"]
    await service.decide(case=case | {"evidence": most})
    service.upstream.bodies.clear()

    await service.decide(case=case)

    assert steps(service.upstream.bodies) == ["evidence"]
    (body,) = (body for body in service.upstream.bodies if BACKWARD.search(body))
    assert asked_about(body) == {PACK.findings[PACK.finding_index[last["id"]]].text}


async def test_a_finding_of_the_case_s_own_is_asked_each_time_and_never_kept(service: Service, case: Body) -> None:
    own = case | {"evidence": [*case["evidence"], OWN]}
    await service.decide(case=own)
    service.upstream.bodies.clear()

    await service.decide(case=other(case) | {"evidence": [*other(case)["evidence"], OWN]})

    (body,) = (body for body in service.upstream.bodies if BACKWARD.search(body))
    assert asked_about(body) == {OWN["text"]}


async def test_no_text_of_a_case_is_in_the_file_of_the_tables(service: Service, settings: Settings, case: Body) -> None:
    await service.decide(case=case | {"evidence": [*case["evidence"], OWN]})

    content = b"".join(path.read_bytes() for path in settings.data_dir.glob("tables.sqlite*"))
    assert case["evidence"][0]["id"].encode() in content
    assert b"moon" not in content
    assert b'"mine' not in content


async def test_a_caller_may_have_the_paper_s_way(service: Service, case: Body) -> None:
    await service.decide(case=case)
    service.upstream.bodies.clear()

    await service.decide(case=other(case), params={"elicitation": "per_case"})

    assert steps(service.upstream.bodies) == ["context", "evidence"]


async def test_the_operator_may_have_the_paper_s_way(settings: Settings, case: Body) -> None:
    async with running(load_settings(data_dir=settings.data_dir, elicitation="per_case")) as service:
        await service.decide(case=case)

    assert not settings.tables_file.exists()


async def test_a_large_label_set_is_asked_about_on_the_shortlist(settings: Settings, case: Body) -> None:
    async with running(load_settings(data_dir=settings.data_dir, whole_set=1)) as service:
        first = (await service.decide(case=case)).json()
        service.upstream.bodies.clear()
        again = (await service.decide(case=case)).json()

    assert first["usage"]["calls"] == 7
    assert service.upstream.bodies == []
    assert again["anchor"]["distribution"] == pytest.approx(first["anchor"]["distribution"], abs=1e-12)


async def test_two_who_lack_the_same_at_once_both_get_it(service: Service, case: Body) -> None:
    cases = [case, other(case)]
    answers = await asyncio.gather(*(service.decide(case=each) for each in cases))
    service.upstream.bodies.clear()
    third = (await service.decide(case=case | {"evidence": case["evidence"][1:]})).json()

    assert [answer.json()["degraded"] for answer in answers] == [[], []]
    assert third["usage"]["calls"] == 5


async def test_two_who_lacked_the_same_at_once_get_the_same_again(service: Service, case: Body) -> None:
    cases = [case, other(case), case | {"evidence": case["evidence"][1:]}]
    first = await asyncio.gather(*(service.decide(case=each) for each in cases))
    again = await asyncio.gather(*(service.decide(case=each) for each in cases))

    assert [numbers(answer.json()) for answer in again] == [numbers(answer.json()) for answer in first]


async def test_a_failed_question_about_one_finding_leaves_the_others(settings: Settings, case: Body) -> None:
    async with running(settings, spoils=lambda body: OWN["text"] in body and EVIDENCE_STEP in body) as service:
        await service.decide(case=case)
        answer = (await service.decide(case=case | {"evidence": [*case["evidence"], OWN]})).json()

    assert answer["status"] == "degraded"
    assert answer["degraded"] == ["missing_pairs"]
    assert answer["anchor"]["missing_pairs"] == len(PACK.labels)
    assert answer["anchor"]["likelihood"] is not None


async def test_a_step_of_which_nothing_is_known_fails_as_ever(settings: Settings, case: Body) -> None:
    async with running(settings, spoils=lambda body: EVIDENCE_STEP in body) as service:
        answer = (await service.decide(case=case)).json()

    assert answer["degraded"] == ["anchor_partial:prior_only"]


@pytest.mark.parametrize("content", [b"no database at all" * 50])
async def test_a_table_store_that_cannot_be_used_fails_no_decision(
    settings: Settings, case: Body, content: bytes
) -> None:
    settings.data_dir.mkdir(parents=True)
    settings.tables_file.write_bytes(content)
    async with running(settings) as service:
        answer = (await service.decide(case=case)).json()

    assert answer["degraded"] == ["table_unavailable"]
    assert answer["usage"]["calls"] == 7
    assert answer["notes"]


async def test_a_redis_that_dies_fails_no_decision(settings: Settings, case: Body, redis_server: RunningRedis) -> None:
    async with running(load_settings(data_dir=settings.data_dir, redis_url=redis_server.url)) as service:
        await service.decide(case=case)
        redis_server.process.kill()
        known = await service.decide(case=other(case))
        lacking = await service.decide(case=case | {"evidence": [*case["evidence"], OWN]})

    assert known.status_code == lacking.status_code == 200
    assert known.json()["usage"]["calls"] == 5  # the table is in memory
    assert "table_unavailable" not in known.json()["degraded"]


async def test_one_process_knows_what_another_asked(settings: Settings, case: Body, redis_server: RunningRedis) -> None:
    shared = load_settings(data_dir=settings.data_dir, redis_url=redis_server.url)
    async with running(shared) as one:
        await one.decide(case=case)
    async with running(shared) as two:
        answer = (await two.decide(case=other(case))).json()

    assert answer["usage"]["calls"] == 5


async def test_an_unstated_source_is_that_of_the_calibration(service: Service, settings: Settings, case: Body) -> None:
    keep(settings.data_dir, "paper")  # fitted to ranks of per_case

    answer = await service.decide(case=case, anchor="calibrated:paper")

    assert answer.status_code == 200
    assert not settings.tables_file.exists()


async def test_a_calibration_for_the_other_source_is_refused(service: Service, settings: Settings, case: Body) -> None:
    keep(settings.data_dir, "paper")

    answer = await service.decide(case=case, anchor="calibrated:paper", params={"elicitation": "table"})

    assert answer.status_code == 422
    assert "elicitation source" in answer.text


async def test_a_record_gives_the_same_numbers_again(settings: Settings, case: Body) -> None:
    await asyncio.to_thread(crosspath, "elicit", "--domain", PACK.name, CROSSPATH_DATA_DIR=str(settings.data_dir))
    async with running(load_settings(data_dir=settings.data_dir, records=7)) as service:
        answer = (await service.decide(case=case | {"evidence": [*case["evidence"], OWN]})).json()
        record = decode((await service.client.get(f"/decisions/{answer['id']}")).content, "the answer")

    assert record.said.ranks is not None
    assert record.said.ranks.source == "table"
    assert replay(record).differences == ()


async def test_a_batch_takes_its_ranks_from_the_table_of_now(settings: Settings) -> None:
    await asyncio.to_thread(crosspath, "elicit", "--domain", PACK.name, CROSSPATH_DATA_DIR=str(settings.data_dir))
    async with serving(settings) as batches:
        job = await batches.finished(cases=pack_cases()[:3], params={"elicitation": "table"})
        results = await batches.results(job["id"])

    assert job["state"] == "done"
    assert [result["usage"]["calls"] for result in results] == [5, 5, 5]
    assert len({result["ranks"]["table"] for result in results}) == 1


async def test_a_batch_asks_about_every_case_unless_it_is_told(settings: Settings) -> None:
    await asyncio.to_thread(crosspath, "elicit", "--domain", PACK.name, CROSSPATH_DATA_DIR=str(settings.data_dir))
    async with serving(settings) as batches:
        job = await batches.finished(cases=pack_cases()[:2])
        results = await batches.results(job["id"])

    assert [result["usage"]["calls"] for result in results] == [7, 7]


async def test_it_says_stand_in_where_only_the_table_comes_from_it(service: Service, case: Body) -> None:
    await service.decide(case=case)

    assert (await service.decide(case=other(case))).json()["stand_in"] is True


def test_the_decide_command_uses_the_same_table(tmp_path: Path, case: Body) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case))
    data = str(tmp_path / "data")
    crosspath("elicit", "--domain", PACK.name, "--samples", "1", CROSSPATH_DATA_DIR=data)

    ended = crosspath("decide", str(file), "--json", CROSSPATH_DATA_DIR=data)

    assert json.loads(ended.stdout)["usage"]["calls"] == 5
