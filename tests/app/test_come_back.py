"""What a caller is told when the endpoint asks for more time than the decision has."""

from typing import Any

import httpx

from app.main import create_app
from app.settings import Settings


class Busy(httpx.AsyncBaseTransport):
    """Asks everyone to come back in a quarter of an hour."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(429, headers={"Retry-After": "900"})


async def test_the_answer_says_when_to_come_back(settings: Settings, case: dict[str, Any]) -> None:
    app = create_app(settings, stand_in_transport=lambda inner: Busy())
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client,
    ):
        answer = await client.post("/decide", json={"case": case})
    assert answer.status_code == 503
    assert 890 <= int(answer.headers["Retry-After"]) <= 900
    agents = answer.json()["agents"]
    assert {agent["cause"] for agent in agents} == {"rate_limited"}
    assert all(890.0 < agent["retry_after"] <= 900.0 for agent in agents)
