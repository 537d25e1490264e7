"""`GET /metrics`: what the service counts, for Prometheus."""

from collections import Counter

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from app.jobs.jobs import Jobs
from app.metrics import CONTENT_TYPE, Metrics

router = APIRouter(tags=["operations"])


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def show_metrics(request: Request) -> Response:
    """Everything that is counted, in Prometheus' text format (scope inspect where keys are set)."""
    metrics: Metrics = request.app.state.metrics
    jobs: Jobs = request.app.state.jobs
    metrics.jobs(await run_in_threadpool(_states, jobs))
    return Response(metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})


def _states(jobs: Jobs) -> Counter[str]:
    """How the jobs stand that have not ended, as the disk tells."""
    return Counter(job.state().state for job in jobs.store.unfinished())
