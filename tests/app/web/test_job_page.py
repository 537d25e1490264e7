"""`GET /jobs/{id}` in a real browser: a job is followed while it runs, and its report is shown."""

import pytest
from playwright.async_api import expect

from tests.app.jobs.batches import Batches, pack_cases, without_gold
from tests.app.web.browser import Visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = pack_cases()[:6]


async def test_a_job_is_followed_to_its_report(visit: Visit, service: Batches) -> None:
    service.gate.close(after=7)
    job = await service.submit(cases=CASES)
    await visit.page.goto(f"/jobs/{job['id']}")

    await expect(visit.page.locator("#status")).to_contain_text("running")
    service.gate.open()
    await expect(visit.page.locator("#status")).to_have_text(f"done: {len(CASES)} of {len(CASES)} cases have a result.")
    await expect(visit.page.get_by_role("heading", name="Accuracy against the gold labels")).to_be_visible()
    report = (await service.client.get(f"/batch/{job['id']}/report")).json()
    assert await visit.page.locator("#report tbody tr").count() == len(report["accuracy"])
    await expect(visit.page.locator("#report")).to_contain_text(report["evaluation"]["headline"]["sentence"])
    await expect(visit.page.locator("#report")).to_contain_text("It is no language model")

    await visit.page.get_by_role("link", name="The whole report").click()
    await expect(visit.page.locator("h1, h2").first).to_be_visible()
    assert visit.page.url.endswith(f"/batch/{job['id']}/report")


@pytest.mark.slow
async def test_without_gold_labels_it_says_why_there_is_no_report(visit: Visit, service: Batches) -> None:
    job = await service.finished(cases=without_gold(CASES[:1]))
    await visit.page.goto(f"/jobs/{job['id']}")

    await expect(visit.page.locator("#report")).to_contain_text("gold label")


async def test_a_job_found_in_the_list_can_be_cancelled(visit: Visit, service: Batches) -> None:
    service.gate.close()
    job = await service.submit(cases=without_gold(pack_cases()[6:10]))
    await visit.page.goto("/jobs")
    await visit.page.get_by_role("link", name=job["id"][:12]).click()
    await visit.page.get_by_role("button", name="Cancel the job").click()

    service.gate.open()
    await expect(visit.page.locator("#status")).to_contain_text("cancelled")


async def test_an_unknown_job_is_said_to_be_none(visit: Visit) -> None:
    await visit.page.goto("/jobs/nothing")

    await expect(visit.page.get_by_role("alert")).to_contain_text("you have no such job")
