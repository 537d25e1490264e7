"""The rule of `Idempotency-Key` (docs/decisions/0016): one work for one key, and its answer for whoever asks again.

    nothing held ──► taken, renewed while it is worked on ──► answered, kept a day
                         │ no success, or the work was broken off: nothing is held, and the key is free again
                         │ somebody else comes: 409
    answered ──► the same request: the first answer, byte for byte · another: 422

Only successes are kept: whoever was told 4xx may mend the request, and whoever was told 503 shall try again.
"""

import asyncio
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from fastapi import Request, Response
from starlette.types import Message

from app.access.caller import caller_of
from app.idempotency.answers import Answered, AnswersAway, AnswerStore, Held, Taken
from app.problems import Refused
from domains.errors import BadInput

KEY = "Idempotency-Key"
REPLAYED, UNPROTECTED = "Idempotency-Replayed", "Idempotency-Unavailable"
"""Headers of an answer: it was given before; or, nobody knows whether it was, since what is held cannot be read."""
TAKEN_S = 30.0
"""How long a key stays taken when its holder dies; one that lives renews it every third of it."""
RETRY_AFTER_S = 2
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT_HEADERS = ("content-type", "location")

Work = Callable[[Request], Awaitable[Response]]


async def answer_once(request: Request, answers: AnswerStore, work: Work, *, strict: bool) -> Response:
    """The answer of `work`, or the first one to the same key and request.

    `strict`: where what is held cannot be looked at, nothing is begun; otherwise the work is done and its answer says
    that it may not be the first.

    Raises:
        Refused: 409, somebody works on it; 422, the key was used for another request; 503, `strict` and unavailable.
        BadInput: the key is none.
    """
    key = _read_key(request)
    if key is None:
        return await work(request)
    holding = _Holding(answers, _slip(request, key))
    try:
        held = await holding.take()
    except AnswersAway:
        return await _unprotected(request, work, strict=strict)
    if isinstance(held, Taken):
        raise Refused(409, f"a request with this {KEY} is being worked on", {"Retry-After": str(RETRY_AFTER_S)})
    if held is not None:
        return await _again(request, held)
    return await _first(request, work, holding)


def _read_key(request: Request) -> str | None:
    stated = request.headers.getlist(KEY)
    if not stated:
        return None
    if len(stated) > 1 or not _KEY.fullmatch(stated[0]):
        raise BadInput.at(KEY, "must be one text of 1 to 255 visible ASCII characters")
    if "text/event-stream" in request.headers.get("accept", ""):
        raise BadInput.at(KEY, "an answer that is streamed cannot be given again; leave the key out")
    return stated[0]


def _slip(request: Request, key: str) -> str:
    """What is held is found under this: a hash, since a caller may put anything into a key."""
    whose = (caller_of(request).owner, request.method, request.url.path, key)
    return hashlib.sha256("\0".join(whose).encode()).hexdigest()


class _Holding:
    """One slip, and what this request holds under it."""

    def __init__(self, answers: AnswerStore, slip: str) -> None:
        self._answers = answers
        self._slip = slip
        self._own = Taken(secrets.token_hex(16))

    async def take(self) -> Held | None:
        return await self._answers.swap(self._slip, None, self._own, TAKEN_S)

    async def keep(self, answered: Answered) -> None:
        held = await self._answers.swap(self._slip, self._own, answered, self._answers.kept_s)
        if held is None:  # what was held was lost while this worked
            await self._answers.swap(self._slip, None, answered, self._answers.kept_s)

    async def give_up(self) -> None:
        with suppress(AnswersAway):  # then it ends by itself
            await self._answers.swap(self._slip, self._own, None, 0.0)

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        renewing = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(TAKEN_S / 3.0)
            with suppress(AnswersAway):
                await self._answers.swap(self._slip, self._own, self._own, TAKEN_S)


async def _first(request: Request, work: Work, holding: _Holding) -> Response:
    fingerprint = Fingerprint(request)
    kept = False
    try:
        async with holding.renewed():
            response = await work(fingerprint.request)
        if 200 <= response.status_code < 300:
            kept = True
            await _keep(response, fingerprint, holding)
    finally:
        if not kept:
            await holding.give_up()
    return response


async def _keep(response: Response, fingerprint: "Fingerprint", holding: _Holding) -> None:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    answered = Answered(
        request=fingerprint.digest(),
        size=fingerprint.size,
        status=response.status_code,
        headers=headers,
        body=bytes(response.body).decode(),
    )
    try:
        await holding.keep(answered)
    except AnswersAway:
        response.headers[UNPROTECTED] = "true"


async def _again(request: Request, held: Answered) -> Response:
    fingerprint = Fingerprint(request)
    async for _ in fingerprint.request.stream():
        if fingerprint.size > held.size:
            break
    if fingerprint.digest() != held.request:
        raise Refused(422, f"this {KEY} was used for another request")
    return Response(held.body, held.status, {**held.headers, REPLAYED: "true"})


async def _unprotected(request: Request, work: Work, *, strict: bool) -> Response:
    if strict:
        raise Refused(
            503,
            f"whether this {KEY} was used before cannot be looked up now, and nothing was begun",
            {"Retry-After": str(RETRY_AFTER_S)},
        )
    response = await work(request)
    response.headers[UNPROTECTED] = "true"
    return response


class Fingerprint:
    """What makes two requests the same: the body's bytes, its type, and the query. The body is read by whoever reads
    `request`, once, and may be of any size."""

    def __init__(self, request: Request) -> None:
        self.size = 0
        self.request = Request(request.scope, self._receive)
        self._receives = request.receive
        self._body = hashlib.sha256()
        self._rest = f"{request.headers.get('content-type', '')}\0{request.url.query}"

    def digest(self) -> str:
        """The SHA-256 of what was read up to now, and the rest."""
        return hashlib.sha256(f"{self._rest}\0{self._body.hexdigest()}".encode()).hexdigest()

    async def _receive(self) -> Message:
        message = await self._receives()
        chunk = message.get("body", b"")
        self.size += len(chunk)
        self._body.update(chunk)
        return message
