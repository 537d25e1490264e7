"""The service stops in order, and what nobody waits for is not worked on."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.presence import ClientGone, while_wanted
from app.access.stopping import Stopping
from app.main import create_app
from app.problems import Refused
from app.settings import load_settings
from benchmarks.chaos.instant_model import serving as model_server
from tests.processes import serving, started

Body = dict[str, Any]
HANG_S = 60.0


class Connection:
    """What `while_wanted` uses of a request: it hears from the client when the test says so."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.left.wait()
        return {"type": "http.disconnect"}


class Work:
    """Work that goes on until it is cancelled."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.cancelled = False

    async def do(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


async def test_work_is_cancelled_when_its_client_goes() -> None:
    connection, work = Connection(), Work()
    wanted = asyncio.create_task(while_wanted(connection, work.do(), Stopping()))  # type: ignore[arg-type]
    await work.began.wait()

    connection.left.set()

    with pytest.raises(ClientGone):
        await wanted
    assert work.cancelled
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_work_is_cancelled_when_the_service_waits_no_longer() -> None:
    stopping, work = Stopping(), Work()
    wanted = asyncio.create_task(while_wanted(Connection(), work.do(), stopping))  # type: ignore[arg-type]
    await work.began.wait()

    stopping.cut.set()

    with pytest.raises(Refused, match="stops"):
        await wanted
    assert work.cancelled


async def test_work_is_not_begun_in_earnest_when_the_service_waits_no_longer_already() -> None:
    stopping, work = Stopping(), Work()
    stopping.cut.set()

    with pytest.raises(Refused, match="stops"):
        await while_wanted(Connection(), work.do(), stopping)  # type: ignore[arg-type]
    assert work.cancelled


async def test_whoever_waited_is_not_cancelled_himself() -> None:
    connection, task = Connection(), asyncio.current_task()
    connection.left.set()

    with pytest.raises(ClientGone):
        await while_wanted(connection, Work().do(), Stopping())  # type: ignore[arg-type]

    assert task is not None
    assert task.cancelling() == 0


async def test_who_is_cancelled_when_his_client_goes_is_cancelled() -> None:
    connection, work = Connection(), Work()
    wanted = asyncio.create_task(while_wanted(connection, work.do(), Stopping()))  # type: ignore[arg-type]
    await work.began.wait()

    connection.left.set()
    wanted.cancel()

    with pytest.raises(asyncio.CancelledError):
        await wanted
    assert work.cancelled


async def test_work_is_cancelled_with_whoever_waits_for_it() -> None:
    work = Work()
    wanted = asyncio.create_task(while_wanted(Connection(), work.do(), Stopping()))  # type: ignore[arg-type]
    await work.began.wait()

    wanted.cancel()

    with pytest.raises(asyncio.CancelledError):
        await wanted
    assert work.cancelled
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_work_gives_or_raises_is_given_on() -> None:
    async def answer() -> int:
        return 7

    async def failure() -> int:
        raise Refused(413, "no")

    assert await while_wanted(Connection(), answer(), Stopping()) == 7  # type: ignore[arg-type]
    with pytest.raises(Refused, match="no"):
        await while_wanted(Connection(), failure(), Stopping())  # type: ignore[arg-type]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_ready_says_why_it_is_not(tmp_path: Path) -> None:
    app = create_app(load_settings(data_dir=tmp_path / "data", replies=0))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
    ):
        assert (await client.get("/health/ready")).json() == {"status": "ready"}
        app.state.gates.stopping.begin()
        answer = await client.get("/health/ready")

    assert answer.status_code == 503
    assert "stops" in answer.json()["detail"]
    assert answer.headers["Connection"] == "close"


async def test_ready_needs_a_data_folder_that_can_be_written(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path / "data", replies=0)
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
    ):
        app.state.settings = settings.model_copy(update={"data_dir": tmp_path / "file" / "data"})
        (tmp_path / "file").write_text("no folder")
        answer = await client.get("/health/ready")

    assert answer.status_code == 503
    assert "data folder" in answer.json()["detail"]
    assert str(tmp_path) not in answer.text


def test_sigterm_is_told_before_the_port_closes_and_ends_well(tmp_path: Path) -> None:
    settings = {"CROSSPATH_DATA_DIR": str(tmp_path), "CROSSPATH_STOP_NOTICE_S": "2"}
    with started("serve", "/health/ready", settings) as (address, process):
        process.send_signal(signal.SIGTERM)
        ready = _first_not_ready(address)
        code = process.wait(timeout=HANG_S)

    assert ready == 503
    assert code == 0


def _first_not_ready(address: str) -> int:
    give_up = time.monotonic() + HANG_S
    while time.monotonic() < give_up:
        status = httpx.get(f"{address}/health/ready", trust_env=False).status_code
        if status != 200:
            return status
    raise AssertionError("it stays ready")


def test_a_decision_whose_caller_hangs_up_asks_nobody_any_more(tmp_path: Path, case: Body) -> None:
    with model_server(latency_s=HANG_S) as model:
        settings = {
            "CROSSPATH_DATA_DIR": str(tmp_path),
            "CROSSPATH_LLM_BASE_URL": model.base_url,
            "CROSSPATH_LLM_MODEL": "m",
        }
        with serving("serve", "/health/ready", settings) as address:
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(
                    f"{address}/decide", json={"case": case}, timeout=httpx.Timeout(HANG_S, read=1), trust_env=False
                )
            asked = model.requests.total()
            give_up = time.monotonic() + HANG_S / 2
            while model.open and time.monotonic() < give_up:
                time.sleep(0.05)

            assert asked > 0
            assert not model.open
            assert model.requests.total() == asked
