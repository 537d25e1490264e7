"""`POST /aggregate`: decisions from the caller's own posteriors; nobody is asked."""

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from app.access.admission import Admission
from app.access.gates import Gates
from app.access.presence import while_wanted
from app.bodies import AGGREGATE_LIMIT, parse_body, read_body
from app.own_agents import aggregate_own
from app.schemas.aggregate import AggregateBody

router = APIRouter(tags=["aggregate"])

PATIENCE_S = 120.0
"""How long a request waits for its turn at most."""


@router.post("/aggregate")
async def aggregate_posteriors(request: Request) -> Response:
    """Bring your own agents: posteriors (and an anchor) in, decisions of any aggregators out. No LLM is asked.

    A posterior is an object `{label: mass}` or a list of pairs, in the agent's own order (it breaks equal masses).
    Masses are scaled to sum to 1; no top-5 cut is made. A head (`minjs`, `fwdjs`, `loglin`) needs an anchor.
    """
    gates: Gates = request.app.state.gates
    gates.aggregations.check_room()
    content = await read_body(request, AGGREGATE_LIMIT)
    answer = await while_wanted(request, _aggregated(content, gates.aggregations), gates.stopping)
    return Response(answer, media_type="application/json")


async def _aggregated(content: bytes, admission: Admission) -> bytes:
    async with admission.turn(PATIENCE_S):
        return await run_in_threadpool(lambda: aggregate_own(parse_body(AggregateBody, content)))
