"""`POST /aggregate`: decisions from the caller's own posteriors; nobody is asked."""

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from app.bodies import AGGREGATE_LIMIT, parse_body, read_body
from app.own_agents import aggregate_own
from app.schemas.aggregate import AggregateBody

router = APIRouter(tags=["aggregate"])


@router.post("/aggregate")
async def aggregate_posteriors(request: Request) -> Response:
    """Bring your own agents: posteriors (and an anchor) in, decisions of any aggregators out. No LLM is asked.

    A posterior is an object `{label: mass}` or a list of pairs, in the agent's own order (it breaks equal masses).
    Masses are scaled to sum to 1; no top-5 cut is made. A head (`minjs`, `fwdjs`, `loglin`) needs an anchor.
    """
    content = await read_body(request, AGGREGATE_LIMIT)
    answer = await run_in_threadpool(lambda: aggregate_own(parse_body(AggregateBody, content)))
    return Response(answer, media_type="application/json")
