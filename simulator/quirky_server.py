"""The stand-in with a server's quirks around it, as an ASGI app. Only chat completions are touched, and of these
neither streams nor what the stand-in itself refuses."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from domains.errors import BadInput
from simulator.quirks import QUIRKS, Context, Quirks, changed, digest_of, overheard, refusal_of
from simulator.refusing import Chat
from simulator.wire import Invalid, read_request

COMPLETIONS = "/v1/chat/completions"


def named_quirks(name: str) -> Quirks:
    """The profile of this name.

    Raises:
        BadInput: there is none.
    """
    if name not in QUIRKS:
        raise BadInput.at("--quirks", f"no such profile; there are: {', '.join(QUIRKS)}")
    return QUIRKS[name]


class QuirkyServer:
    """An ASGI app that serves another one with quirks. It remembers which requests came before, by their bytes."""

    def __init__(self, app: ASGIApp, quirks: Quirks) -> None:
        self._app = app
        self._inner = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://stand-in.invalid")
        self._quirks = quirks
        self._came: Counter[int] = Counter()
        self._slots = None if quirks.slots is None else asyncio.Semaphore(quirks.slots)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["path"] != COMPLETIONS:
            await self._app(scope, receive, send)
            return
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, http: Request) -> Response:
        body = await http.body()
        try:
            streamed = read_request(body).stream
        except Invalid:
            streamed = True
        if streamed:  # the stand-in's own answer: quirks are those of whole replies
            return await self._passed(body)
        request = json.loads(body)
        refusal = refusal_of(self._quirks, request, http.headers.get("authorization", ""))
        if refusal is not None:
            return JSONResponse(refusal.body, refusal.status)
        digest = digest_of(body)
        context = Context(request, digest, self._came[digest])
        self._came[digest] += 1
        response = await self._worked(overheard(self._quirks, request))
        if response.status_code != 200:
            return response
        completion = changed(self._quirks, json.loads(bytes(response.body)), context)
        if not self._quirks.blank_lines:
            return JSONResponse(completion)
        return StreamingResponse(self._kept_alive(completion), media_type="application/json")

    async def _worked(self, body: bytes) -> Response:
        """The model's answer, when its turn has come and its time is over."""
        if self._slots is None:
            return await self._paced(body)
        async with self._slots:
            return await self._paced(body)

    async def _paced(self, body: bytes) -> Response:
        response = await self._passed(body)
        if self._quirks.token_s and response.status_code == 200:
            tokens = json.loads(bytes(response.body))["usage"]["completion_tokens"]
            await asyncio.sleep(tokens * self._quirks.token_s)
        return response

    async def _passed(self, body: bytes) -> Response:
        answer = await self._inner.post(COMPLETIONS, content=body, timeout=None)
        return Response(answer.content, answer.status_code, media_type=answer.headers["content-type"])

    async def _kept_alive(self, completion: Chat) -> AsyncIterator[bytes]:
        for _ in range(self._quirks.blank_lines):
            yield b"\n"
            await asyncio.sleep(self._quirks.blank_s)
        yield json.dumps(completion, ensure_ascii=False).encode()
