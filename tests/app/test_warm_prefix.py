"""`warm_prefix`: one agent of a case is asked first, the others when it has answered."""

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import orjson
import pytest

from app.assembly import open_council
from app.council import decide
from app.inquiry import resolve
from app.schemas.decide import CaseBody, DecideBody
from app.settings import STAND_IN_URL, DeclaredBackbone, load_settings
from domains.catalogue import CASES_FILE, load_cases


class Noting(httpx.AsyncBaseTransport):
    """How many agents had been answered when each was asked."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.ended = 0
        self.began: list[int] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = orjson.loads(await request.aread())
        if body["response_format"]["json_schema"]["name"] in ("evidence", "context"):
            return await self._inner.handle_async_request(request)
        self.began.append(self.ended)
        await asyncio.sleep(0.01)
        response = await self._inner.handle_async_request(request)
        self.ended += 1
        return response


@pytest.mark.parametrize("warm", [False, True])
async def test_the_others_begin_when_the_first_has_answered(tmp_path: Path, *, warm: bool) -> None:
    notes: list[Noting] = []
    backbone = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", warm_prefix=warm)
    settings = load_settings(data_dir=tmp_path, replies=0, domain="chest_pain", backbones={"default": backbone})

    def noted(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        notes.append(Noting(inner))
        return notes[-1]

    async with open_council(settings, noted) as council:
        inquiry = resolve(DecideBody(case=CaseBody()), council, [])
        case = next(iter(load_cases(council.catalogue.path("chest_pain") / CASES_FILE, inquiry.domain)))
        decision = await decide(replace(inquiry, case=case))

    assert decision.status == "complete"
    assert notes[0].began == ([0, 1, 1, 1, 1] if warm else [0, 0, 0, 0, 0])
