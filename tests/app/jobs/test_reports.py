"""`GET /batch/{id}/report`: the whole evaluation, worked out in a process of its own."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.jobs.reports import Reports
from app.jobs.store import JobFolder
from app.runs.journal_file import JOURNAL_FILE
from app.settings import Settings
from evaluation.report.files import FORMAT
from tests.app.jobs.batches import Batches, Body, pack_cases, serving, without_gold

ROOT = Path(__file__).resolve().parents[3]
HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def cases() -> list[Body]:
    return pack_cases()


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Batches]:
    async with serving(settings) as service:
        yield service


async def test_it_holds_what_crosspath_report_makes_of_the_same_cases(service: Batches, cases: list[Body]) -> None:
    job = await service.finished(cases=cases[:20])

    report = (await service.client.get(f"/batch/{job['id']}/report")).json()

    (run,) = report["evaluation"]["runs"]
    assert report["evaluation"]["format"] == FORMAT
    assert run["numbers"]["correct"]["loglin"]["all"]["correct"] == report["accuracy"]["loglin"]["correct"]
    assert {"main_all", "anchors", "w_r_sweep", "phi"} <= {table["name"] for table in report["evaluation"]["tables"]}
    assert report["evaluation"]["identities_hold"]
    assert len(run["identities"]) > 50
    assert report["evaluation_missing"] is None


@pytest.mark.slow
async def test_a_browser_gets_the_page_which_loads_nothing(service: Batches, cases: list[Body]) -> None:
    job = await service.finished(cases=cases[:12])

    answer = await service.client.get(f"/batch/{job['id']}/report", headers=HTML)

    assert answer.headers["content-type"].startswith("text/html")
    assert answer.text.startswith("<!doctype html>")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "stand-in: no language model" in answer.text
    assert answer.headers["vary"] == "Accept"


@pytest.mark.slow
async def test_while_the_job_runs_it_says_how_far_it_is(service: Batches, cases: list[Body]) -> None:
    service.gate.close(after=7 * len(cases) - 7)
    job = await service.submit(cases=cases)
    await service.until_done(job["id"], 4)

    report = (await service.client.get(f"/batch/{job['id']}/report")).json()

    service.gate.open()
    assert 4 <= report["cases"] < len(cases)
    (run,) = report["evaluation"]["runs"]
    assert f"Not finished: {report['cases']} of {len(cases)} cases have a result." in run["notes"]


async def test_it_is_worked_out_once_for_the_same_results(
    settings: Settings, service: Batches, cases: list[Body], tmp_path: Path
) -> None:
    job = await service.finished(cases=cases[:12])
    folder = JobFolder(settings.data_dir / "runs" / job["id"])
    reports = Reports(tmp_path)

    first, second = await asyncio.gather(reports.of(folder), reports.of(folder))

    assert first is second is await reports.of(folder)
    await reports.close()


@pytest.mark.slow
async def test_where_nothing_can_be_compared_it_counts_and_says_why(service: Batches, cases: list[Body]) -> None:
    service.gate.status = 400
    job = await service.finished(cases=cases[:3])

    report = (await service.client.get(f"/batch/{job['id']}/report")).json()
    page = await service.client.get(f"/batch/{job['id']}/report", headers=HTML)

    assert (report["labelled"], report["pooled"], report["evaluation"]) == (3, 0, None)
    assert report["evaluation_missing"].startswith("no case got every answer")
    assert page.status_code == 409


@pytest.mark.slow
async def test_without_gold_labels_there_is_none(service: Batches, cases: list[Body]) -> None:
    job = await service.finished(cases=without_gold(cases[:2]))

    answer = await service.client.get(f"/batch/{job['id']}/report", headers=HTML)

    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_job_that_has_not_begun_has_none_yet(settings: Settings, cases: list[Body]) -> None:
    async with serving(settings.model_copy(update={"batch_jobs": 1})) as service:
        service.gate.close()
        await service.submit(cases=cases[:1])
        waiting = await service.submit(cases=cases[:1])

        answer = await service.client.get(f"/batch/{waiting['id']}/report")

        service.gate.open()
    assert answer.status_code == 409


@pytest.mark.slow
async def test_without_the_extra_it_lacks_calibration_and_says_so(
    settings: Settings, service: Batches, cases: list[Body], tmp_path: Path
) -> None:
    """The image of the service has no SciPy, polars or matplotlib."""
    job = await service.finished(cases=cases[:20])
    blocked = "import sys; sys.modules.update(dict.fromkeys(('scipy', 'scipy.optimize', 'polars', 'matplotlib')))"
    run = "from pathlib import Path; from app.jobs.report_process import main; main(*map(Path, sys.argv[1:]))"
    folder = settings.data_dir / "runs" / job["id"]

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", f"{blocked}; {run}", str(folder), "none", str(tmp_path), cwd=ROOT
    )
    assert await process.wait() == 0

    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (
        "No calibration: needs SciPy, of the extra `evaluation`: pip install -e '.[evaluation]'."
        in report["evaluation"]["runs"][0]["notes"]
    )
    assert report["evaluation"]["identities_hold"]


@pytest.mark.slow
async def test_an_evaluation_that_fails_is_a_503_and_is_tried_again(
    settings: Settings, service: Batches, cases: list[Body]
) -> None:
    job = await service.finished(cases=cases[:3])
    journal = settings.data_dir / "runs" / job["id"] / JOURNAL_FILE
    whole = journal.read_bytes()
    journal.write_bytes(b"no database" * 1000)

    failed = await service.client.get(f"/batch/{job['id']}/report")
    journal.write_bytes(whole)
    again = await service.client.get(f"/batch/{job['id']}/report")

    assert (failed.status_code, again.status_code) == (503, 200)
