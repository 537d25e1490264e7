"""A job's events as server-sent events: nothing is kept for a client, so one that vanishes leaves nothing behind."""

import asyncio
from collections.abc import AsyncGenerator

import orjson
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import StreamingResponse

from app.jobs.event_log import Event
from app.jobs.jobs import Jobs
from app.jobs.schemas import ENDED
from app.jobs.store import JobFolder

HEARTBEAT_S = 10.0
"""Proxies cut a silent connection, often after 30 s."""
RETRY_MS = 1_000
"""How soon a browser comes back."""

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """Server-sent events. (FastAPI's own class is for generators, whose errors come after the 200.)"""

    media_type = "text/event-stream"


def seen_by(last_event_id: str | None) -> int | None:
    """The id in a `Last-Event-ID` header; None where there is none. What is no id of ours counts as 0: all events."""
    if last_event_id is None:
        return None
    return int(last_event_id) if last_event_id.isascii() and last_event_id.isdigit() else 0


def is_over(folder: JobFolder, seen: int | None) -> bool:
    """Whether a client that has seen this event has seen them all, and no more will come."""
    last = folder.events.last()
    return last is not None and last.id == seen and _ends(last)


async def job_events(
    folder: JobFolder, jobs: Jobs, seen: int | None, heartbeat_s: float = HEARTBEAT_S
) -> AsyncGenerator[bytes, None]:
    """Every event after `seen` (0: from the first; None: from the newest on), as it comes, until the job or the
    service ends. A comment is sent where nothing else was for `heartbeat_s`."""
    yield format_sse_event(retry=RETRY_MS)
    clock = asyncio.get_running_loop().time
    newest = folder.events.last() if seen is None else None
    if newest is not None:
        seen = newest.id
        yield _format(newest)
    ended, spoke = newest is not None and _ends(newest), clock()
    while True:
        change = jobs.watch(folder)
        fresh = False
        for event in folder.events.after(seen or 0):
            seen, ended, fresh, spoke = event.id, _ends(event), True, clock()
            yield _format(event)
        if fresh:
            continue
        if ended or jobs.closing:
            return
        await change.within(max(0.0, spoke + heartbeat_s - clock()))
        if clock() - spoke >= heartbeat_s:
            spoke = clock()
            yield KEEPALIVE_COMMENT


def _ends(event: Event) -> bool:
    return orjson.loads(event.data)["state"] in ENDED


def _format(event: Event) -> bytes:
    name = "end" if _ends(event) else "progress"
    return format_sse_event(data_str=event.data.decode(), event=name, id=str(event.id))
