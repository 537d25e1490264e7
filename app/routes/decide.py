"""`POST /decide`: one case, one decision."""

from fastapi import APIRouter, Request, Response

from app.bodies import DECIDE_LIMIT, parse_body, read_body
from app.council import Incomplete, decide
from app.inquiry import inquire
from app.problems import problem
from app.schemas.decide import DecideBody

router = APIRouter(tags=["decide"])


@router.post("/decide")
async def decide_case(request: Request) -> Response:
    """Ask five persona agents and the reverse elicitor about one case, and decide.

    `degraded` lists everything that was not as asked; `status` is `complete` only when it is empty. Fewer usable
    agents than the quorum is 503 with the agents' states.
    """
    body = parse_body(DecideBody, await read_body(request, DECIDE_LIMIT))
    inquiry = inquire(body, request.app.state.council)
    try:
        decision = await decide(inquiry)
    except Incomplete as refusal:
        return problem(503, str(refusal), members=refusal.members)
    return Response(decision.model_dump_json(), media_type="application/json")
