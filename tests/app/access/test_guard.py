"""Who may come in: keys and scopes, other callers' things, hosts, pages, and the headers on every answer."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.access.conftest import Keys, bearing, client

Body = dict[str, Any]
OPEN = ("/health/live", "/health/ready", "/openapi.json", "/docs")


@pytest.mark.parametrize("path", OPEN)
async def test_some_paths_are_for_everybody(guarded: httpx.AsyncClient, path: str) -> None:
    assert (await guarded.get(path)).status_code == 200


@pytest.mark.parametrize("path", ["/domains", "/batch", "/metrics", "/decisions/x", "/aggregators", "/nowhere"])
async def test_no_key_is_401_and_says_what_is_wanted(guarded: httpx.AsyncClient, path: str) -> None:
    answer = await guarded.get(path)

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("value", ["Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "cpk_x", "Bearer wrong", "Bearer ü"])
async def test_a_wrong_key_is_401_and_is_not_repeated(guarded: httpx.AsyncClient, value: str) -> None:
    answer = await guarded.get("/domains", headers={b"Authorization": value.encode()})

    assert answer.status_code == 401
    assert "wrong" not in answer.text


async def test_a_body_is_not_looked_at_without_a_key(guarded: httpx.AsyncClient) -> None:
    assert (await guarded.post("/decide", content=b"not json")).status_code == 401


async def test_the_hash_that_the_service_keeps_is_no_key(guarded: httpx.AsyncClient, keys: Keys) -> None:
    kept = keys.entries[0].rpartition(":")[2]

    assert (await guarded.get("/domains", headers=bearing(kept))).status_code == 401


async def test_a_key_is_good_for_its_scopes_only(guarded: httpx.AsyncClient, keys: Keys) -> None:
    assert (await guarded.get("/domains", headers=bearing(keys.decide))).status_code == 200
    assert (await guarded.get("/metrics", headers=bearing(keys.inspect))).status_code == 200
    refused = await guarded.get("/metrics", headers=bearing(keys.decide))
    assert refused.status_code == 403
    assert 'scope="inspect"' in refused.headers["WWW-Authenticate"]
    assert (await guarded.get("/domains", headers=bearing(keys.inspect))).status_code == 403


async def test_a_job_is_its_owners_whichever_of_his_keys_is_used(
    guarded: httpx.AsyncClient, keys: Keys, case: Body
) -> None:
    made = await guarded.post("/batch", json={"cases": [case]}, headers=bearing(keys.decide))
    path = made.headers["Location"]

    assert made.status_code == 202
    assert (await guarded.get(path, headers=bearing(keys.renewed))).status_code == 200
    for method, below in [("GET", ""), ("GET", "/results"), ("GET", "/events"), ("GET", "/report"), ("DELETE", "")]:
        answer = await guarded.request(method, path + below, headers=bearing(keys.other))
        assert answer.status_code == 404
        assert answer.json() == (await guarded.get(f"/batch/{'0' * 32}", headers=bearing(keys.other))).json()
    assert (await guarded.get("/batch", headers=bearing(keys.other))).json() == []
    assert len((await guarded.get("/batch", headers=bearing(keys.renewed))).json()) == 1


async def test_a_record_is_its_owners(guarded: httpx.AsyncClient, keys: Keys, case: Body) -> None:
    made = await guarded.post("/decide", json={"case": case}, headers=bearing(keys.both))
    path = f"/decisions/{made.json()['id']}"

    assert (await guarded.get(path, headers=bearing(keys.other))).status_code == 404
    assert (await guarded.get(path, headers=bearing(keys.inspect))).status_code == 200


async def test_the_document_shows_no_cases_of_the_packs_where_keys_are_asked_for(guarded: httpx.AsyncClient) -> None:
    body = (await guarded.get("/openapi.json")).json()["paths"]["/decide"]["post"]["requestBody"]

    assert list(body["content"]["application/json"]["examples"]) == ["labels of your own"]


async def test_what_was_made_without_keys_belongs_to_the_owner_default(tmp_path: Path, case: Body) -> None:
    async with client(tmp_path) as anyone:
        path = (await anyone.post("/batch", json={"cases": [case]})).headers["Location"]
    keys = Keys()
    key = keys.make("default", "decide")

    async with client(tmp_path, api_keys=tuple(keys.entries)) as caller:
        assert (await caller.get(path, headers=bearing(key))).status_code == 200
        assert (await caller.get(path, headers=bearing(keys.both))).status_code == 404


async def test_from_outside_nothing_is_answered_without_keys(tmp_path: Path) -> None:
    async with client(tmp_path, "http://10.0.0.7") as outsider:
        assert (await outsider.get("/domains")).status_code == 403
        assert (await outsider.get("/health/live")).status_code == 403


async def test_from_outside_an_open_service_answers_to_its_address_and_its_names(tmp_path: Path) -> None:
    async with client(tmp_path, "http://10.0.0.7", allow_open=True, allowed_hosts=("decide.example",)) as outsider:
        assert (await outsider.get("/domains")).status_code == 200
        assert (await outsider.get("/domains", headers={"Host": "decide.example"})).status_code == 200
        assert (await outsider.get("/domains", headers={"Host": "evil.example"})).status_code == 403


async def test_dns_rebinding_is_refused(tmp_path: Path) -> None:
    async with client(tmp_path, "http://127.0.0.1") as browser:
        answer = await browser.get("/domains", headers={"Host": "evil.example:8000"})

    assert answer.status_code == 403
    assert "evil" not in answer.text


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
async def test_a_page_elsewhere_cannot_drive_the_service(tmp_path: Path, headers: dict[str, str], case: Body) -> None:
    async with client(tmp_path) as browser:
        assert (await browser.post("/decide", json={"case": case}, headers=headers)).status_code == 403
        assert (await browser.delete(f"/batch/{'0' * 32}", headers=headers)).status_code == 403
        assert (await browser.get("/domains", headers=headers)).status_code == 200


async def test_our_own_page_can(tmp_path: Path, case: Body) -> None:
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}

    async with client(tmp_path) as browser:
        assert (await browser.post("/decide", json={"case": case}, headers=own)).status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
@pytest.mark.parametrize("path", ["/decide", "/aggregate", "/batch"])
async def test_a_form_is_no_json(guarded: httpx.AsyncClient, keys: Keys, path: str, content_type: str) -> None:
    answer = await guarded.post(path, content=b"{}", headers={"Content-Type": content_type, **bearing(keys.decide)})

    assert answer.status_code == 415


@pytest.mark.parametrize("path", ["/health/live", "/domains", "/nowhere", "/docs"])
async def test_every_answer_tells_browsers_to_be_careful(guarded: httpx.AsyncClient, path: str) -> None:
    headers = (await guarded.get(path)).headers

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]


async def test_one_owner_may_ask_so_much(tmp_path: Path, keys: Keys, case: Body) -> None:
    async with client(tmp_path, api_keys=tuple(keys.entries), owner_requests_per_minute=2) as caller:
        statuses = [
            (await caller.post("/decide", json={"case": case}, headers=bearing(key))).status_code
            for key in (keys.decide, keys.renewed, keys.both, keys.other)
        ]

    assert statuses == [200, 200, 429, 200]
