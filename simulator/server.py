"""The stand-in over HTTP: an OpenAI-compatible ASGI app, to be mounted in-process or served on a port.

Faults and a model of a provider's cache are other ASGI apps around this one.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from simulator import wire
from simulator.dictation import dictated
from simulator.prompt_reader import NotUnderstood
from simulator.replies import Reply, Shapes
from simulator.stand_in import StandIn, UnknownModel


def create_simulator(
    pack_paths: Sequence[Path],
    *,
    profile: str | None = None,
    seed: int = 0,
    shapes: Shapes = "usual",
    latency: float | None = None,
    obedience: float = 0.0,
) -> Starlette:
    """The ASGI app that answers about these packs.

    Every reply carries `system_fingerprint: "crosspath-stand-in"` and is the same for the same body. `latency`:
    seconds that every completion takes. `obedience`: the share of questions in which instructions in a case's text are
    obeyed. Keys are not looked at.

    Raises:
        BadInput: as `StandIn`.
    """
    stand_in = StandIn(pack_paths, profile=profile, seed=seed, shapes=shapes, obedience=obedience)
    endpoints = _Endpoints(stand_in, latency)
    return Starlette(
        routes=[
            Route("/v1/chat/completions", endpoints.complete, methods=["POST"]),
            Route("/v1/models", endpoints.models),
            Route("/v1/models/{name}", endpoints.model),
            Route("/health", _health),
        ],
        exception_handlers={404: _no_route, 405: _no_route},
    )


class _Endpoints:
    def __init__(self, stand_in: StandIn, latency: float | None) -> None:
        self._stand_in, self._latency = stand_in, latency

    async def complete(self, http: Request) -> Response:
        try:
            request = wire.read_request(await http.body())
        except wire.Invalid as error:
            return _refuse(400, str(error), None, error.param)
        try:
            reply = self._dictated(request)
            if reply is None:
                # The first question about a pack draws its misbeliefs; nobody else should wait for that.
                reply = await run_in_threadpool(self._stand_in.reply, request.ask())
        except UnknownModel as error:
            return _refuse(404, str(error), "model_not_found", "model")
        except NotUnderstood as error:
            return _refuse(400, str(error), "not_understood", "messages")
        if self._latency is not None:
            await asyncio.sleep(self._latency)
        reply = wire.shorten(reply, request.most_tokens)
        if request.stream:
            return StreamingResponse(_events(request, reply), media_type="text/event-stream")
        return JSONResponse(wire.completion(request, reply))

    def _dictated(self, request: wire.ChatRequest) -> Reply | None:
        ask = request.ask()
        known = ask.model in self._stand_in.models
        return dictated(ask.messages, ask.seed, ask.form, request.wanted_schema) if known else None

    async def models(self, http: Request) -> Response:
        return JSONResponse(wire.models_body(self._stand_in.models))

    async def model(self, http: Request) -> Response:
        name = http.path_params["name"]
        if name not in self._stand_in.models:
            return _refuse(404, "The model does not exist.", "model_not_found", "model")
        return JSONResponse(wire.model_body(name))


async def _health(http: Request) -> Response:
    return JSONResponse({"status": "ok", "system_fingerprint": wire.FINGERPRINT})


async def _events(request: wire.ChatRequest, reply: Reply) -> AsyncIterator[bytes]:
    for chunk in wire.chunks(request, reply):
        yield wire.event(chunk)
    yield b"data: [DONE]\n\n"


def _refuse(status: int, message: str, code: str | None, param: str | None) -> JSONResponse:
    return JSONResponse(wire.error_body(message, code, param), status)


async def _no_route(http: Request, error: Any) -> Response:
    return _refuse(error.status_code, "There is no such path, or not with this method.", "unknown_url", None)
