"""What the pages are made of: small, from here, nothing inline, and open to whoever has no key because they tell
nothing."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from app.access.keys import new_key
from app.settings import load_settings
from app.web.pages import HERE
from tests.app.jobs.batches import Batches, listening
from tests.app.web.browser import visiting

in_the_browsers_loop = pytest.mark.asyncio(loop_scope="module")
PAGES = pytest.mark.parametrize("path", ["/", "/jobs", "/jobs/some"])
FILES = sorted(path.name for path in (HERE / "static").iterdir())
MOST_BYTES = 200_000


@in_the_browsers_loop
@PAGES
async def test_a_page_has_nothing_inline(service: Batches, path: str) -> None:
    answer = await service.client.get(path)

    assert answer.headers["content-type"].startswith("text/html")
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", answer.text)


@in_the_browsers_loop
@PAGES
async def test_a_page_and_what_it_loads_come_from_here(service: Batches, path: str) -> None:
    text = (await service.client.get(path)).text

    for address in re.findall(r"""(?:src|href)=["']?([^"'>\s]+)""", text):
        assert address.startswith(("/", "#")), address
        assert not address.startswith("//")


def test_all_of_it_is_small() -> None:
    sizes = [path.stat().st_size for folder in ("static", "templates") for path in (HERE / folder).iterdir()]

    assert sum(sizes) < MOST_BYTES


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".js")])
def test_a_script_makes_no_markup_of_texts(name: str) -> None:
    text = (HERE / "static" / name).read_text("utf-8")

    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
    assert not re.search(r"https?://", text)


@in_the_browsers_loop
@pytest.mark.parametrize("name", FILES)
async def test_a_file_is_served_as_what_it_is(service: Batches, name: str) -> None:
    answer = await service.client.get(f"/static/{name}")

    kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
    assert answer.headers["content-type"].partition(";")[0] == kinds[name.rpartition(".")[2]]


@in_the_browsers_loop
@pytest.mark.parametrize("path", ["/static/../pages.py", "/static/..%2fpages.py", "/static/none", "/static/"])
async def test_no_other_file_is_served(service: Batches, path: str) -> None:
    assert (await service.client.get(path)).status_code == 404


class Guarded:
    """A service that asks for a key, and the key."""

    def __init__(self, service: Batches, key: str) -> None:
        self.address = str(service.client.base_url)
        self.key = key


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    key, entry = new_key("ward", ("decide",))
    async with listening(load_settings(data_dir=tmp_path_factory.mktemp("data"), api_keys=(str(entry),))) as (
        service,
        _,
    ):
        yield Guarded(service, key)


@in_the_browsers_loop
async def test_without_a_key_the_pages_are_there_and_tell_nothing(guarded: Guarded) -> None:
    async with httpx.AsyncClient(base_url=guarded.address, trust_env=False) as stranger:
        statuses = {path: (await stranger.get(path)).status_code for path in ("/", "/jobs", "/jobs/x", "/domains")}

    assert statuses == {"/": 200, "/jobs": 200, "/jobs/x": 200, "/domains": 401}


@in_the_browsers_loop
async def test_a_key_is_asked_for_and_then_used(guarded: Guarded, browser: Browser) -> None:
    async with visiting(browser, guarded.address) as visit:
        await visit.page.goto("/")
        await expect(visit.page.get_by_role("alert")).to_contain_text("send a key")

        await visit.page.get_by_label("Your API key").fill(guarded.key)
        await visit.page.get_by_role("button", name="Use this key").click()

        await visit.page.locator("#example option").nth(1).wait_for(state="attached")
        await expect(visit.page.get_by_role("alert")).to_have_count(0)
        await visit.page.goto("/jobs")
        await expect(visit.page.locator("#status")).to_have_text("There are none yet.")
        assert guarded.key not in await visit.page.content()
