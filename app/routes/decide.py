"""`POST /decide`: one case, one decision."""

import math

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from app.access.gates import Gates, decide_in_turn
from app.access.presence import while_wanted
from app.bodies import DECIDE_LIMIT, parse_body, read_body
from app.council import Incomplete
from app.idempotency.rule import answer_once
from app.inquiry import inquire
from app.minutes import minutes_of
from app.problems import problem
from app.schemas.decide import DecideBody

router = APIRouter(tags=["decide"])


@router.post("/decide")
async def decide_case(request: Request) -> Response:
    """Ask five persona agents and the reverse elicitor about one case, and decide.

    `degraded` lists everything that was not as asked; `status` is `complete` only when it is empty. Fewer usable
    agents than the quorum is 503 with the agents' states.
    """
    return await answer_once(request, request.app.state.answers, _decide, strict=False)


async def _decide(request: Request) -> Response:
    gates: Gates = request.app.state.gates
    gates.decisions.check_room()
    body = parse_body(DecideBody, await read_body(request, DECIDE_LIMIT))
    inquiry = await run_in_threadpool(inquire, body, request.app.state.council)  # it looks into folders
    try:
        deciding = decide_in_turn(inquiry, gates.decisions, minutes_of(request))
        decision = await while_wanted(request, deciding, gates.stopping)
    except Incomplete as refusal:
        return problem(refusal.http, str(refusal), headers=_come_back(refusal), members=refusal.members)
    return Response(decision.model_dump_json(), media_type="application/json")


def _come_back(refusal: Incomplete) -> dict[str, str]:
    wait = refusal.members.get("retry_after")
    return {"Retry-After": str(math.ceil(wait))} if isinstance(wait, float) else {}
