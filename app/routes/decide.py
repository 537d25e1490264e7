"""`POST /decide`: one case, one decision."""

import math
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from app.access.gates import Gates, decide_in_turn
from app.access.presence import while_wanted
from app.announcing import DecisionStream, wants_events
from app.bodies import DECIDE_LIMIT, parse_body, read_body
from app.clerk import Clerk
from app.council import Incomplete
from app.idempotency.rule import answer_once
from app.inquiry import Council, Inquiry, inquire, looks_into_files
from app.minutes import minutes_of
from app.problems import Refused, for_error, problem
from app.schemas.decide import DecideBody


class Direct(APIRoute):
    """FastAPI describes the route; its function gets the request as it is, and nothing is done before or after it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See `APIRoute`."""
        return self.endpoint


router = APIRouter(tags=["decide"], route_class=Direct)


@router.post("/decide")
async def decide_case(request: Request) -> Response:
    """Ask five persona agents and the reverse elicitor about one case, and decide.

    `degraded` lists everything that was not as asked; `status` is `complete` only when it is empty. Fewer usable
    agents than the quorum is 503 with the agents' states.

    With `Accept: text/event-stream` the same comes as events: `agent` for each as it answers, `anchor`, and at the end
    `decision`, or `problem` with what would have been the error answer.
    """
    return await answer_once(request, request.app.state.answers, _decide, strict=False)


async def _decide(request: Request) -> Response:
    gates: Gates = request.app.state.gates
    gates.decisions.check_room()
    body = parse_body(DecideBody, await read_body(request, DECIDE_LIMIT))
    council: Council = request.app.state.council
    beside = looks_into_files(body, council)
    inquiry = await run_in_threadpool(inquire, body, council) if beside else inquire(body, council)
    minutes = minutes_of(request)
    if wants_events(request):
        return DecisionStream(lambda clerk: _told(inquiry, gates, clerk), minutes, gates.stopping)
    return await while_wanted(request, _answer(inquiry, gates, minutes), gates.stopping)


async def _told(inquiry: Inquiry, gates: Gates, clerk: Clerk) -> Response:
    """As `_answer`, and the refusals too are answers: the status was sent before."""
    try:
        return await _answer(inquiry, gates, clerk)
    except Refused as refusal:
        return for_error(refusal)


async def _answer(inquiry: Inquiry, gates: Gates, clerk: Clerk) -> Response:
    try:
        decision = await decide_in_turn(inquiry, gates.decisions, clerk)
    except Incomplete as refusal:
        return problem(refusal.http, str(refusal), headers=_come_back(refusal), members=refusal.members)
    return Response(orjson.dumps(decision), media_type="application/json")


def _come_back(refusal: Incomplete) -> dict[str, str]:
    wait = refusal.members.get("retry_after")
    return {"Retry-After": str(math.ceil(wait))} if isinstance(wait, float) else {}
