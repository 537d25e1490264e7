"""The HTTP service: `create_app()` for uvicorn, its life, its errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException

from app import __version__
from app.access.door import Door
from app.access.gates import open_gates
from app.access.guard import Guard, Rules
from app.access.headers import AnswerHeaders
from app.access.keys import read_keys
from app.access.presence import ClientGone
from app.access.quota import Quota, QuotaKeeper
from app.assembly import Wrap, as_it_is, open_council
from app.idempotency import open_answers
from app.jobs.jobs import open_jobs
from app.jobs.reports import open_reports
from app.metrics import Metrics
from app.openapi import describe
from app.problems import Refused, for_error, parameter_path, problem
from app.records.keeping import open_records
from app.request_log import RequestLog
from app.routes import aggregate, batch, catalogue, decide, decisions, docs, health
from app.routes import metrics as metrics_route
from app.settings import Settings, load_settings
from app.watching import watch_service
from app.web import pages
from app.worker import ALONE, Worker
from domains.errors import BadInput, Fault, NoQuorum

ROUTES = (decide, aggregate, batch, decisions, catalogue, health, metrics_route, docs, pages)
"""What is asked for most stands first. A router that is included would be searched anew for each request."""
NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""The framework would tell whatever OpenTelemetry is set up in the process of queries, and of errors in their words:
either may quote a case."""


def create_app(
    settings: Settings | None = None, stand_in_transport: Wrap = as_it_is, worker: Worker = ALONE
) -> FastAPI:
    """The service, or one `worker` of it. `stand_in_transport` may put another transport before that of the stand-in in
    this process."""
    settings = settings or load_settings()
    metrics = Metrics(worker.name)
    rules = Rules(read_keys(settings.api_keys), settings.allowed_hosts, settings.allow_open)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with (
            open_council(settings, stand_in_transport, metrics, worker.of) as council,
            open_records(settings.records_file, settings.records_days, metrics.record_lost) as app.state.records,
            open_jobs(council, settings, worker.of) as app.state.jobs,
            open_answers(settings, council.redis) as app.state.answers,
            open_reports(settings.calibrations_dir) as app.state.reports,
        ):
            app.state.council = council
            watch_service(app.state)
            yield

    app = FastAPI(
        routes=[route for module in ROUTES for route in module.router.routes],
        title="Crosspath",
        version=__version__,
        summary="Several LLM agents decide one label out of a closed set; a label-free anchor says whom to trust.",
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.gates = gates = open_gates(settings)
    app.state.settings = settings
    app.state.metrics = metrics
    app.mount(pages.STATIC, pages.static_files)
    app.add_exception_handler(BadInput, _ours)
    app.add_exception_handler(NoQuorum, _ours)
    app.add_exception_handler(Refused, _ours)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(RequestValidationError, _parameters)
    app.add_exception_handler(ClientGone, _unheard)
    app.add_exception_handler(500, _unforeseen)
    describe(app)
    # Added last is met first.
    if quota := Quota(settings.owner_requests_per_minute, settings.owner_concurrency):
        app.add_middleware(QuotaKeeper, quota=quota)
    app.add_middleware(Door, path="/decide", admission=gates.decisions, patience_s=settings.deadline_s)
    app.add_middleware(Guard, rules=rules)
    app.add_middleware(AnswerHeaders, stopping=gates.stopping)
    app.add_middleware(RequestLog, metrics=metrics)
    return app


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadInput | NoQuorum | Refused)
    return for_error(error)


async def _unheard(request: Request, error: Exception) -> Response:
    """The client went away; 499 is for logs and metrics."""
    return Response(status_code=499)


async def _unforeseen(request: Request, error: Exception) -> Response:
    """A mistake of ours. The error itself goes to the log; its message may quote the case."""
    return problem(500, "the service made a mistake; its log says where")


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = {404: "no such path", 405: "this path does not take that method"}.get(error.status_code, "refused")
    return problem(error.status_code, detail, headers=error.headers)


async def _parameters(request: Request, error: Exception) -> Response:
    """A parameter of the path or the query; the framework's own answer would repeat it."""
    assert isinstance(error, RequestValidationError)
    return for_error(BadInput([Fault(parameter_path(each["loc"][1:]), each["msg"]) for each in error.errors()]))
