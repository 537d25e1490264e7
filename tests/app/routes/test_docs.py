"""`/docs` is a page to read: it shows every operation, runs nothing, and fetches nothing from another host."""

import base64
import hashlib
import re

from tests.app.conftest import Service


async def test_the_page_shows_every_operation(service: Service) -> None:
    page = (await service.client.get("/docs")).text
    paths = (await service.client.get("/openapi.json")).json()["paths"]

    assert all(f"<code>{path}</code>" in page for path in paths)


async def test_the_page_needs_nothing_from_anywhere(service: Service) -> None:
    page = (await service.client.get("/docs")).text

    assert "<script" not in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    assert not re.search(r"@import|url\(", page)


async def test_the_policy_lets_the_pages_own_style_through_and_nothing_else(service: Service) -> None:
    answer = await service.client.get("/docs")
    style = re.search(r"<style>(.*)</style>", answer.text)

    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]
