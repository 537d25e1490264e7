"""Is the process alive, and does it take work?"""

from fastapi import APIRouter, Request

router = APIRouter(prefix="/health", tags=["operations"])


@router.get("/live")
async def live() -> dict[str, str]:
    """The process answers."""
    return {"status": "live"}


@router.get("/ready")
async def ready(request: Request) -> dict[str, str]:
    """The service takes decisions. A cache that is away does not make it unready: no decision depends on it."""
    return {"status": "ready" if request.app.state.council else "starting"}
