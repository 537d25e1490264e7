"""`GET /decisions/{id}`: the record of a decision."""

from fastapi import APIRouter, Request, Response

from app.access.caller import caller_of
from app.problems import Refused
from app.records.keeping import Records, RecordsUnavailable

router = APIRouter(prefix="/decisions", tags=["decisions"])


@router.get("/{decision_id}")
async def show_decision(decision_id: str, request: Request) -> Response:
    """What a decision of yours rested on: what was asked, said and computed, with the digests of the replies.

    It is kept for `CROSSPATH_RECORDS` days; by default 7 where the service is bound to loopback, else not at all.
    """
    records: Records | None = request.app.state.records
    try:
        content = await records.get(decision_id, caller_of(request).owner) if records else None
    except RecordsUnavailable as error:
        raise Refused(503, str(error)) from None
    if content is None:
        raise Refused(404, "you have no record of such a decision")
    return Response(content, media_type="application/json")
