"""`/batch`: many cases as a job that survives its client and the service."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from app.access.caller import caller_of
from app.idempotency.rule import answer_once
from app.jobs.events import HEADERS, EventStream, is_over, job_events, seen_by
from app.jobs.intake import NDJSON, take_in
from app.jobs.jobs import Jobs
from app.jobs.reports import NothingLabelled, Reports
from app.jobs.results import job_results
from app.jobs.schemas import BatchReport, Job
from app.jobs.store import JobFolder, NoSuchJob
from app.problems import Refused

PAGE = "text/html"
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The report has its styles in itself, and needs and may load nothing else."""
VARIES = {"Vary": "Accept"}

router = APIRouter(prefix="/batch", tags=["batch"])


def the_jobs(request: Request) -> Jobs:
    """The service's jobs."""
    jobs: Jobs = request.app.state.jobs
    return jobs


def the_job(job_id: str, request: Request) -> JobFolder:
    """The caller's job of this id.

    Raises:
        Refused: 404.
    """
    try:
        return the_jobs(request).store.get(job_id, caller_of(request).owner)
    except NoSuchJob:
        raise Refused(404, "you have no such job") from None


Known = Annotated[JobFolder, Depends(the_job)]
All = Annotated[Jobs, Depends(the_jobs)]


@router.post("", status_code=202)
async def create_job(request: Request, jobs: All) -> Response:
    """Run many cases: `cases` or the name of a `dataset` as JSON, or cases as NDJSON with the rest in the query.

    The answer comes at once; `Location` is where to look. Lists in the query are repeated or comma-separated
    (`?aggregators=loglin,range`), `anchor=null` asks for none, and `params` are `tau`, `w_r` and `elicitation`.
    """

    async def create(once: Request) -> Response:
        job = await take_in(once, jobs)
        return Response(job.model_dump_json(), 202, {"Location": f"/batch/{job.id}"}, media_type="application/json")

    return await answer_once(request, request.app.state.answers, create, strict=True)


@router.get("")
async def list_jobs(request: Request, jobs: All, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[Job]:
    """Your jobs, newest first."""
    owner = caller_of(request).owner
    return await run_in_threadpool(lambda: [folder.state() for folder in jobs.store.newest(owner, limit)])


@router.get("/{job_id}")
async def show_job(folder: Known) -> Job:
    """How far a job is, what it has cost, and an estimate of the time left. Unknown is null, never 0."""
    return folder.state()


@router.get("/{job_id}/events", response_class=EventStream)
async def follow_job(folder: Known, jobs: All, last_event_id: Annotated[str | None, Header()] = None) -> Response:
    """The same as server-sent events: `progress` as it goes on, `end` as the last one.

    A client that comes back with `Last-Event-ID` gets every event since; `0` asks for all from the first, none for the
    newest and what follows. One that has seen the `end` gets 204, after which browsers stay away.
    """
    seen = seen_by(last_event_id)
    if is_over(folder, seen):
        return Response(status_code=204)
    return EventStream(job_events(folder, jobs, seen), headers=HEADERS)


@router.get("/{job_id}/results")
async def stream_results(folder: Known, jobs: All, follow: bool = True) -> StreamingResponse:
    """The results as NDJSON, in case order: to the end of the job, or with `follow=false` those that are there.

    A job that was cancelled or stopped has fewer results than cases.
    """
    return StreamingResponse(job_results(folder, jobs, follow), media_type=NDJSON, headers=HEADERS)


@router.get("/{job_id}/report", response_model=BatchReport, responses={200: {"content": {PAGE: {}}}})
async def show_report(folder: Known, request: Request, accept: Annotated[str, Header()] = "*/*") -> Response:
    """The evaluation of the results so far, which needs gold labels: accuracy by aggregator with n, coverage and
    exclusions, and everything that `crosspath report` makes of them. `Accept: text/html` gives its page.

    It is worked out apart in a process of its own, which takes seconds, and kept until a result is added.
    """
    reports: Reports = request.app.state.reports
    try:
        made = await reports.of(folder)
    except NothingLabelled:
        raise Refused(409, "no case that has a result yet was given with a gold label") from None
    if PAGE not in accept:
        return Response(made.json, media_type="application/json", headers=VARIES)
    if made.page is None:
        raise Refused(409, "there is nothing to compare yet; as JSON the report says why")
    return Response(made.page, media_type=PAGE, headers=VARIES | {"Content-Security-Policy": PAGE_POLICY})


@router.delete("/{job_id}")
async def cancel_job(folder: Known, jobs: All) -> Job:
    """Cancel a job. Its results so far stay; one that has ended stays as it is."""
    return await jobs.cancel(folder)
