"""Markup in any text that comes from a case, a pack or a model is shown as the text that it is, and never becomes part
of the page."""

import csv
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from app.settings import Settings, load_settings
from domains.catalogue import Catalogue
from tests.app.jobs.batches import Batches, Gate, listening
from tests.app.web.browser import Visit, visiting

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
MARK = "<img src=x onerror="
PACK = "evil"
SHOWN = (
    ".verdict .label", ".camps", ".posteriors tbody", ".posteriors thead", ".card", ".ratios", ".contrast select",
    ".compare", ".heat thead", ".heat tbody", ".reason .pre", ".reason .hint", ".facts .hint", ".facts pre",
)  # fmt: skip
"""Where a decision shows what a pack or a model wrote."""


class Lying(Gate):
    """A model that puts markup wherever it may write."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        reply = await super().handle_async_request(request)
        body = json.loads(await reply.aread())
        body["model"] = EVIL
        message = body["choices"][0]["message"]
        message["content"] = message["content"].replace('"reasoning": "', f'"reasoning": "{EVIL} ')
        return httpx.Response(200, json=body)


def write_evil_pack(folder: Path) -> None:
    """A sound pack with markup in every text of it that a page shows."""
    catalogue = Catalogue()
    pack = folder / PACK
    shutil.copytree(catalogue.path(catalogue.names()[-1]), pack)
    toml = (pack / "domain.toml").read_text("utf-8")
    lines = [_spoiled_setting(line) for line in toml.splitlines()]
    (pack / "domain.toml").write_text("\n".join(lines), "utf-8")
    for name, columns in {"labels.csv": ["label"], "findings.csv": ["text"], "knowledge.csv": ["label"]}.items():
        _spoil_column(pack / name, columns[0])
    for name in ("exemplars.ndjson", "cases.ndjson"):
        rows = [json.loads(line) for line in (pack / name).read_text("utf-8").splitlines() if line]
        changed = [row | {"id": row["id"] + EVIL, "gold": f"{row['gold']} {EVIL}"} for row in rows]
        (pack / name).write_text("\n".join(map(json.dumps, changed)), "utf-8")


def _spoiled_setting(line: str) -> str:
    key, equals, _ = line.partition(" = ")
    if not equals:
        return line
    spoiled = {"name": PACK, "title": f"Title {EVIL}", "case_noun": f"case {EVIL}", "label_noun": f"label {EVIL}"}
    return f'{key} = "{spoiled[key]}"' if key in spoiled else line


def _spoil_column(path: Path, column: str) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {column: f"{row[column]} {EVIL}"} for row in rows)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("evil")
    write_evil_pack(folder / "packs")
    return load_settings(data_dir=folder / "data", domains_dir=folder / "packs", domain=PACK)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(settings: Settings) -> AsyncIterator[Batches]:
    async with listening(settings, Lying) as (service, _):
        yield service


@pytest_asyncio.fixture(loop_scope="module")
async def visit(browser: Browser, service: Batches) -> AsyncIterator[Visit]:
    async with visiting(browser, str(service.client.base_url)) as visit:
        yield visit
        assert visit.errors == [], "a policy that had to step in is a page that let something through"
        assert await visit.page.title() != "owned"
        assert await visit.page.locator("main img, main script, main iframe, main [onerror]").count() == 0


async def evil_case(service: Batches) -> dict[str, Any]:
    """An example of the pack, with a finding of its own and an id that are markup."""
    case = dict((await service.client.get(f"/domains/{PACK}")).json()["examples"][0]["case"])
    return case | {"id": f"id {EVIL}"}


async def open_with(page: Page, case: dict[str, Any]) -> None:
    await page.goto("/")
    await page.locator("#example option").nth(1).wait_for(state="attached")
    await page.select_option("#domain", PACK)
    await page.locator("#paste summary").click()
    await page.fill("#case-json", json.dumps(case))
    await page.click("#load-json")


async def test_a_packs_texts(visit: Visit, service: Batches) -> None:
    await open_with(visit.page, await evil_case(service))
    await visit.page.fill("#search", "a")

    for place in ("#domain", "#example", "#domain-about", "#found", "#evidence"):
        await expect(visit.page.locator(place)).to_contain_text(MARK)


async def test_a_models_texts(visit: Visit, service: Batches) -> None:
    await open_with(visit.page, await evil_case(service))
    await visit.page.click("#decide")
    await expect(visit.page.locator(".facts")).to_be_visible()

    for place in SHOWN:
        await expect(visit.page.locator(place).first).to_contain_text(MARK)
    await visit.page.locator("#knob-w_r").fill("1")
    await expect(visit.page.locator(".verdict h2")).to_contain_text("What if")
    await expect(visit.page.locator(".verdict .label")).to_contain_text(MARK)


async def test_a_cases_texts(visit: Visit, service: Batches) -> None:
    own = {"id": "own", "text": f"My own {EVIL}"}
    await open_with(visit.page, {"id": f"id {EVIL}", "context": [], "evidence": [own, {"id": EVIL}]})
    await expect(visit.page.locator("#evidence")).to_contain_text(f"My own {MARK}")
    await visit.page.fill("#search", EVIL)
    await visit.page.get_by_role("button", name="as context").click()
    await expect(visit.page.locator("#context")).to_contain_text(MARK)

    await visit.page.click("#decide")
    await expect(visit.page.get_by_role("alert")).to_contain_text("case.evidence.1")
    await visit.page.get_by_label(f"Remove {EVIL}", exact=True).last.click()
    await visit.page.click("#decide")
    await expect(visit.page.locator(".heat")).to_contain_text(f"My own {MARK}")


async def test_a_jobs_texts(visit: Visit, service: Batches) -> None:
    job = await service.finished(cases=[await evil_case(service)], domain=PACK)
    await visit.page.goto(f"/jobs/{job['id']}")
    await expect(visit.page.locator("#status")).to_contain_text("1 of 1")


async def test_a_jobs_address(visit: Visit) -> None:
    await visit.page.goto(f"/jobs/{quote(MARK + 'alert(1)>')}")
    await expect(visit.page.get_by_role("alert")).to_contain_text("you have no such job")
