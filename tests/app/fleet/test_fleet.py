"""A fleet of real worker processes over a real Redis with AOF, small: the figures are in `benchmarks/chaos`."""

import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from app.fleet.fleet import with_connections
from app.fleet.run import begin_fleet_run, run_folder
from app.runs.folder import RunFolder
from benchmarks.chaos.fleet_site import LIGHTEST, Site, site, write_poisoned
from benchmarks.chaos.instant_model import InstantModel, serving
from benchmarks.chaos.killing_proxy import killing
from domains.errors import BadInput
from evaluation.manifest import read_manifest
from tests import redis_server as real_redis
from tests.processes import crosspath

LIMIT_S = 90.0
MARKER = b"it is this one that kills"
STOPS = 0


@pytest.fixture
def binary() -> Path:
    """The redis-server."""
    found = real_redis.find_redis()
    if found is None:
        pytest.skip(real_redis.NOT_RUN)
    return found


@pytest.fixture
def model() -> Iterator[InstantModel]:
    with serving(0.3) as model:
        yield model


@pytest.fixture
def fleet(binary: Path, model: InstantModel) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="fl") as folder, site(Path(folder), binary, model.base_url) as made:
        yield made


def results(fleet: Site, name: str) -> list[str]:
    """The ids in the results of a run."""
    lines = (fleet.run_folder(name) / "results.ndjson").read_bytes().splitlines()
    return [orjson.loads(line)["id"] for line in lines]


async def test_a_run_is_worked_off_and_its_results_are_written_in_case_order(fleet: Site) -> None:
    await fleet.begin("run", 60, asked=LIGHTEST)
    fleet.start_worker(50)
    async with fleet.fleet() as queue:
        assert await queue.enqueue("run") == 3
        assert await queue.enqueue("run") == 0
    progress = await fleet.until("run", 60, LIMIT_S)
    assert (progress.done, progress.stopped) == (60, None)
    assert results(fleet, "run") == [f"drawn-{place}" for place in range(60)]


@pytest.mark.slow
async def test_a_worker_and_redis_die_and_everything_is_there_once(fleet: Site, model: InstantModel) -> None:
    await fleet.begin("run", 150, asked=LIGHTEST)
    victim = fleet.start_worker(25, lease_s=3)
    fleet.start_worker(25, lease_s=3)
    async with fleet.fleet() as queue:
        await queue.enqueue("run")
        await fleet.until("run", 10, LIMIT_S)
        fleet.kill(victim)
        fleet.redis.kill()
        fleet.redis.restart()
        await fleet.until("run", 150, LIMIT_S)
    assert sorted(results(fleet, "run")) == sorted(f"drawn-{place}" for place in range(150))
    assert max(model.requests.values()) <= 3


async def test_what_a_flush_took_is_put_back(fleet: Site) -> None:
    await fleet.begin("run", 60, asked=LIGHTEST)
    async with fleet.fleet() as queue:
        await queue.enqueue("run")
        with fleet.redis.client() as client:
            client.flushall()
        assert await queue.reconcile() == 3
        assert await queue.reconcile() == 0
    fleet.start_worker(50)
    await fleet.until("run", 60, LIMIT_S)


@pytest.mark.slow
async def test_sigterm_finishes_what_is_in_flight_and_loses_and_repeats_nothing(
    fleet: Site, model: InstantModel
) -> None:
    await fleet.begin("run", 200, asked=LIGHTEST)
    first = fleet.start_worker(25)
    async with fleet.fleet() as queue:
        await queue.enqueue("run")
    await fleet.until("run", 10, LIMIT_S)
    first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=30) == STOPS
    with fleet.redis.client() as client:
        assert client.xpending("crosspath:fleet:stream", "docket-workers")["pending"] == 0
    fleet.start_worker(50)
    await fleet.until("run", 200, LIMIT_S)
    assert set(model.requests.values()) == {1}


async def test_a_stopped_run_takes_up_no_more_cases_until_it_is_put_in_again(fleet: Site) -> None:
    await fleet.begin("run", 50, asked=LIGHTEST)
    async with fleet.fleet() as queue:
        await queue.enqueue("run")
        await queue.stop("run", "cancelled")
        fleet.start_worker(50)
        await fleet.begin("other", 25, asked=LIGHTEST)
        await queue.enqueue("other")
        await fleet.until("other", 25, LIMIT_S)
        progress = await queue.progress("run")
        assert (progress.done, progress.stopped) == (0, "cancelled")
        await queue.enqueue("run")
    await fleet.until("run", 50, LIMIT_S)


@pytest.mark.slow
async def test_a_case_that_kills_its_worker_ends_in_a_failed_record_and_harms_no_other(
    binary: Path, model: InstantModel
) -> None:
    with (
        killing(model.base_url, MARKER) as proxy,
        tempfile.TemporaryDirectory(prefix="fl") as folder,
        site(Path(folder), binary, proxy.base_url) as fleet,
    ):
        write: Callable[[Path, int], str] = lambda path, count: write_poisoned(path, count, 7, MARKER.decode())  # noqa: E731
        await fleet.begin("run", 50, write, LIGHTEST)
        workers = [fleet.start_worker(25, lease_s=3) for _ in range(2)]
        async with fleet.fleet() as queue:
            await queue.enqueue("run")
        progress = await fleet.until("run", 50, LIMIT_S)
        record = orjson.loads((fleet.run_folder("run") / "results.ndjson").read_bytes().splitlines()[7])
        assert progress.outcomes == {"ok": 49, "failed": 1}
        assert record["causes"] == {"cot": "crashed"}
        assert len(proxy.killed) == 5
        assert [worker.poll() for worker in workers] == [None, None]


class TestRefusals:
    def test_a_fleet_needs_redis(self, tmp_path: Path) -> None:
        done = crosspath("worker", CROSSPATH_DATA_DIR=str(tmp_path))
        assert (done.returncode, done.stdout) == (2, "")
        assert "CROSSPATH_REDIS_URL: is not set" in done.stderr

    async def test_a_redis_that_evicts_is_refused(self, fleet: Site) -> None:
        with fleet.redis.client() as client:
            client.config_set("maxmemory", "100mb")
            client.config_set("maxmemory-policy", "allkeys-lru")
        with pytest.raises(BadInput, match="evicts keys"):
            async with fleet.fleet():
                pass

    async def test_a_run_of_one_process_is_refused(self, fleet: Site, tmp_path: Path) -> None:
        await fleet.begin("run", 1, asked=LIGHTEST)
        manifest = read_manifest(fleet.run_folder("run"))
        RunFolder(tmp_path).adopt(manifest)
        with pytest.raises(BadInput, match="begun in one process"):
            begin_fleet_run(RunFolder(tmp_path), manifest)

    async def test_beginning_again_resumes_and_other_settings_are_refused(self, fleet: Site) -> None:
        await fleet.begin("run", 1, asked=LIGHTEST)
        folder = RunFolder(fleet.run_folder("run"))
        kept = read_manifest(folder.path)
        assert begin_fleet_run(folder, kept.model_copy(update={"id": ""})) == kept
        other = kept.model_copy(update={"parameters": kept.parameters.model_copy(update={"tau": 7.0})})
        with pytest.raises(BadInput, match="tau"):
            begin_fleet_run(folder, other)

    @pytest.mark.parametrize("name", ["../elsewhere", "", ".hidden", "a/b", "x" * 200])
    def test_a_name_that_leaves_the_folder_is_none(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(BadInput):
            run_folder(tmp_path, name)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://u:p@h:1/0", "redis://u:p@h:1/0?max_connections=60"),
        ("unix:///s.sock", "unix:///s.sock?max_connections=60"),
        ("redis://h?max_connections=5&x=y", "redis://h?max_connections=60&x=y"),
        ("redis://h?max_connections=500", "redis://h?max_connections=500"),
    ],
)
def test_the_url_has_room_for_every_connection(url: str, expected: str) -> None:
    assert with_connections(url, 60) == expected
