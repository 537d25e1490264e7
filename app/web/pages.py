"""`GET /` and the pages of jobs. They are the same for everybody and tell nothing: what they show, their scripts ask
for, with the key of whoever looks."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from app import __version__
from app.settings import Settings

HERE = Path(__file__).parent
STATIC = "/static"

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
static_files = StaticFiles(directory=HERE / "static")

_PAGES = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@router.get("/")
async def show_decide_page(request: Request) -> HTMLResponse:
    """Build a case, decide it, and see why the agents disagree."""
    return _page(request, "decide.html")


@router.get("/jobs")
async def show_jobs_page(request: Request) -> HTMLResponse:
    """The caller's batch jobs."""
    return _page(request, "jobs.html")


@router.get("/jobs/{job_id}")
async def show_job_page(job_id: str, request: Request) -> HTMLResponse:
    """One batch job, followed while it runs. Its id is read from the address by the page's script."""
    return _page(request, "job.html")


def _page(request: Request, template: str) -> HTMLResponse:
    settings: Settings = request.app.state.settings
    page = _PAGES.get_template(template)
    return HTMLResponse(page.render(version=__version__, keys=bool(settings.api_keys)))
