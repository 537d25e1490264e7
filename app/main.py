"""The HTTP service: `create_app()` for uvicorn, its life, its errors."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app import __version__
from app.assembly import open_council
from app.inquiry import Council
from app.jobs.jobs import open_jobs
from app.openapi import describe
from app.problems import Refused, field_path, for_error, problem
from app.routes import aggregate, batch, catalogue, decide, health
from app.settings import Settings, load_settings
from domains.errors import BadInput, Fault, NoQuorum

Opener = Callable[[], AbstractAsyncContextManager[Council]]


def create_app(settings: Settings | None = None, opener: Opener | None = None) -> FastAPI:
    """The service. `opener` gives the council for the service's life; by default the settings' own."""
    settings = settings or load_settings()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with (opener or (lambda: open_council(settings)))() as council:
            app.state.council = council
            async with open_jobs(council, settings) as app.state.jobs:
                yield

    app = FastAPI(
        title="Crosspath",
        version=__version__,
        summary="Several LLM agents decide one label out of a closed set; a label-free anchor says whom to trust.",
        lifespan=life,
        redoc_url=None,
    )
    for route in (decide, aggregate, batch, catalogue, health):
        app.include_router(route.router)
    app.add_exception_handler(BadInput, _ours)
    app.add_exception_handler(NoQuorum, _ours)
    app.add_exception_handler(Refused, _ours)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(RequestValidationError, _parameters)
    describe(app)
    return app


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadInput | NoQuorum | Refused)
    return for_error(error)


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = {404: "no such path", 405: "this path does not take that method"}.get(error.status_code, "refused")
    return problem(error.status_code, detail, headers=error.headers)


async def _parameters(request: Request, error: Exception) -> Response:
    """A parameter of the path or the query; the framework's own answer would repeat it."""
    assert isinstance(error, RequestValidationError)
    return for_error(BadInput([Fault(field_path(each["loc"][1:]), each["msg"]) for each in error.errors()]))
