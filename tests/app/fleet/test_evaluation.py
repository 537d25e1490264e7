"""`crosspath evaluate` in the folder of a fleet's run."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from benchmarks.chaos.fleet_site import LIGHTEST, Site, site
from benchmarks.chaos.instant_model import InstantModel, serving
from evaluation.runs import load_run
from tests import redis_server as real_redis
from tests.processes import crosspath

ASKED = ("--agents", "cot", "--anchors", "", "--aggregators", "plurality,range")


@pytest.fixture
def model() -> Iterator[InstantModel]:
    with serving() as model:
        yield model


@pytest.fixture
def fleet(model: InstantModel) -> Iterator[Site]:
    binary = real_redis.find_redis()
    if binary is None:
        pytest.skip(real_redis.NOT_RUN)
    with tempfile.TemporaryDirectory(prefix="fe") as folder, site(Path(folder), binary, model.base_url) as made:
        yield made


def evaluate(fleet: Site, *more: str) -> "tuple[int, str]":
    folder = fleet.run_folder("run")
    done = crosspath(
        "evaluate", "--dataset", str(folder / "cases.ndjson"), "--out", str(folder), *ASKED, *more, **fleet.environment
    )
    return done.returncode, done.stderr


def lines(fleet: Site) -> list[bytes]:
    return list(load_run(fleet.run_folder("run")).lines())


async def test_it_works_off_what_is_missing(fleet: Site) -> None:
    await fleet.begin("run", 30, asked=LIGHTEST)

    code, said = evaluate(fleet)

    assert code == 0, said
    assert [orjson.loads(line)["id"] for line in lines(fleet)] == [f"drawn-{place}" for place in range(30)]
    async with fleet.fleet() as queue:
        assert (await queue.progress("run")).finished


@pytest.mark.slow
async def test_what_failed_is_asked_again_and_nothing_else(fleet: Site, model: InstantModel) -> None:
    await fleet.begin("run", 20, asked=LIGHTEST)
    places = iter(range(100))
    model.refuses = lambda body: b"400 Bad Request" if next(places) % 4 == 0 else b""
    evaluate(fleet)
    failed = [orjson.loads(line)["id"] for line in lines(fleet) if orjson.loads(line)["causes"]]
    model.refuses = lambda body: b""
    before = model.requests.total()

    assert evaluate(fleet)[0] == 0
    assert model.requests.total() == before, "without --retry-failed nothing is asked again"
    assert evaluate(fleet, "--retry-failed")[0] == 0

    assert failed
    assert model.requests.total() == before + len(failed)
    assert [orjson.loads(line)["outcome"] for line in lines(fleet)] == ["ok"] * 20


async def test_a_budget_is_refused(fleet: Site) -> None:
    await fleet.begin("run", 1, asked=LIGHTEST)
    (fleet.folder / "crosspath.toml").write_text(
        (fleet.folder / "crosspath.toml").read_text("utf-8") + "prices = { input = 1.0, output = 1.0 }\n", "utf-8"
    )

    code, said = evaluate(fleet, "--budget", "1")

    assert (code, "--budget" in said, "fleet" in said) == (2, True, True)
