"""`crosspath calibrate`: from a run with gold labels to an anchor of the service, or one clear line why not."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.calibrate import run as calibrate
from app.runs.evaluation import Order, prepare, run_in_folder
from app.runs.folder import open_run_folder
from app.runs.run import Asked
from app.runs.toml import write_toml
from app.settings import Settings, load_settings
from benchmarks.chaos.runs import write_cases
from domains.errors import BadInput
from evaluation.manifest import Manifest
from evaluation.records import Record, encode_record
from evaluation.runs import load_run
from tests.app.conftest import running
from tests.processes import ROOT, crosspath

CASES = 60


async def evaluate(folder: Path, order: Order, settings: Settings) -> Path:
    """A run over the stand-in."""
    async with prepare(order, settings) as prepared:
        with open_run_folder(folder) as opened:
            await run_in_folder(prepared, opened, settings, lambda line: None)
    return folder


@pytest.fixture(scope="module")
def drawn_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of drawn cases, and the data set beside it."""
    folder = tmp_path_factory.mktemp("drawn")
    domain = write_cases(folder / "cases.ndjson", CASES)
    order = Order(Asked(domain=domain, aggregators=("loglin", "range")), str(folder / "cases.ndjson"))
    return asyncio.run(evaluate(folder / "run", order, load_settings(data_dir=folder / "data")))


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROSSPATH_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def calibrated(run: Path, name: str = "mine", **options: Any) -> int:
    """The command, in this process."""
    given: dict[str, Any] = {"variant": "scalar", "held_out": 0.25, "force": False, "as_json": True}
    return calibrate(run, name, **(given | options))


def altered(
    run: Path,
    folder: Path,
    change: Callable[[Record], Record | None] = lambda record: record,
    **members: Any,
) -> Path:
    """A run like another one but for its records (None: left out) and members of its manifest."""
    stored = load_run(run)
    records = [record for record in map(change, stored.records()) if record is not None]
    dataset = stored.manifest.dataset.model_copy(update={"cases": len(records)})
    manifest: Manifest = stored.manifest.model_copy(update={"dataset": dataset} | members)
    folder.mkdir()
    (folder / "run.toml").write_text(write_toml(manifest.model_dump()), "utf-8")
    (folder / "results.ndjson").write_bytes(b"".join(encode_record(record) + b"\n" for record in records))
    return folder


def shortlist(record: Record) -> set[str]:
    return {label for posterior in record.posteriors.values() for label in posterior or ()}


async def test_a_run_becomes_an_anchor_that_the_service_decides_with(
    drawn_run: Path, data_dir: Path, case: dict[str, Any]
) -> None:
    assert calibrated(drawn_run) == 0

    async with running(load_settings(data_dir=data_dir)) as service:
        listed = (await service.client.get("/anchors")).json()[-1]["name"]
        decision = await service.decide(case=case, anchor=listed)

    assert listed == "calibrated:mine"
    assert decision.json()["status"] == "complete"
    assert decision.json()["anchor"]["name"] == listed


async def test_a_run_can_rest_on_it_and_names_its_hash(drawn_run: Path, data_dir: Path, tmp_path: Path) -> None:
    calibrated(drawn_run)
    domain = write_cases(tmp_path / "others.ndjson", 3, seed=1)
    asked = Asked(domain=domain, aggregators=("loglin",), anchors=("reverse", "calibrated:mine"))

    run = await evaluate(
        tmp_path / "run", Order(asked, str(tmp_path / "others.ndjson")), load_settings(data_dir=data_dir)
    )

    manifest = load_run(run).manifest
    assert manifest.steps == ("context", "evidence")
    assert list(manifest.versions.calibrations) == ["calibrated:mine"]


async def test_a_run_on_the_cases_it_was_fitted_to_is_refused(drawn_run: Path, data_dir: Path, tmp_path: Path) -> None:
    calibrated(drawn_run, held_out=0.0)
    manifest = load_run(drawn_run).manifest
    asked = Asked(domain=manifest.domain.name, aggregators=("loglin",), anchors=("calibrated:mine",))

    with pytest.raises(BadInput, match=f"calibrated:mine: {CASES} of these {CASES} cases were used to fit it"):
        await evaluate(tmp_path / "run", Order(asked, manifest.dataset.path), load_settings(data_dir=data_dir))


def test_it_says_what_it_brings_and_from_how_many_cases(
    drawn_run: Path, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated(drawn_run)

    said = json.loads(capsys.readouterr().out)
    cases = said["cases"]
    assert (cases["run"], cases["left_out"], cases["held_out"] + cases["fitted"]) == (CASES, {}, CASES)
    assert said["settled"]
    assert said["fit"]["nll_after"] < said["fit"]["nll_before"]
    for part, size in (("held_out", cases["held_out"]), ("cross_fitted", cases["fitted"])):
        before, after = said[part]["before"], said[part]["after"]
        assert before["n"] == after["n"] == size == sum(after["reliability"]["count"])
        assert before["coverage"] == after["coverage"]


def test_all_cases_are_fitted_to_where_none_is_held_out(
    drawn_run: Path, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated(drawn_run, held_out=0.0)

    said = json.loads(capsys.readouterr().out)
    assert (said["held_out"], said["cases"]["fitted"]) == (None, CASES)


def test_the_class_bias_variant_has_a_number_a_label(
    drawn_run: Path, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated(drawn_run, variant="class_bias")

    bias = json.loads(capsys.readouterr().out)["parameters"]["bias"]
    assert set(bias) == set(load_run(drawn_run).manifest.domain.labels)
    assert sum(bias.values()) == pytest.approx(0.0, abs=1e-9)


def test_cases_that_are_left_out_are_counted_by_reason(
    drawn_run: Path, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(record: Record) -> Record:
        if record.id == "drawn-0":
            return record.model_copy(update={"gold": None})
        if record.id == "drawn-1":
            return record.model_copy(
                update={"posteriors": record.posteriors | {"cot": None}, "causes": {"cot": "refused"}}
            )
        return record

    calibrated(altered(drawn_run, tmp_path / "run", change))

    said = json.loads(capsys.readouterr().out)["cases"]
    assert said["left_out"] == {"no_gold": 1, "agent_failed:cot": 1}
    assert said["held_out"] + said["fitted"] == CASES - 2


def test_as_text_it_names_the_anchor_and_draws_the_diagram(drawn_run: Path, data_dir: Path) -> None:
    outcome = crosspath("calibrate", str(drawn_run), "--name", "mine", CROSSPATH_DATA_DIR=str(data_dir))

    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.endswith("ask for it as the anchor calibrated:mine\n")
    for word in ("held out", "cross-fitted", "before", "after", "temperature", "gamma", "settled"):
        assert word in outcome.stdout
    assert (data_dir / "calibrations" / "mine.svg").read_text("utf-8").startswith("<svg ")


def test_a_run_with_other_prompts_is_fitted_with_a_warning(
    drawn_run: Path, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = load_run(drawn_run).manifest.versions
    older = versions.model_copy(update={"prompts": versions.prompts | {"evidence": "0123"}})

    assert calibrated(altered(drawn_run, tmp_path / "run", versions=older)) == 0

    assert "this service will refuse the calibration" in capsys.readouterr().err


def without_gold(record: Record) -> Record:
    return record.model_copy(update={"gold": None})


def off_the_shortlist(record: Record) -> Record | None:
    others = sorted(set(record.ranks.labels if record.ranks else ()) - shortlist(record))
    return record.model_copy(update={"gold": others[0]}) if others else None


def always_the_same(record: Record) -> Record | None:
    label = record.ranks.labels[0] if record.ranks else ""
    return record.model_copy(update={"gold": label}) if label in shortlist(record) else None


def among_the_first(count: int) -> Callable[[Record], Record | None]:
    return lambda record: record if int(record.id.removeprefix("drawn-")) < count else None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without_gold, "no case of the run has a gold label"),
        (off_the_shortlist, "no case has its gold label on its shortlist"),
        (always_the_same, "every gold label on a shortlist is the same one"),
        (among_the_first(4), "5 folds need 5"),
        (among_the_first(5), "without a fifth of the cases: "),
    ],
)
def test_cases_that_allow_no_fit(
    drawn_run: Path, data_dir: Path, tmp_path: Path, change: Callable[[Record], Record | None], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem) as refused:
        calibrated(altered(drawn_run, tmp_path / "run", change), held_out=0.0)

    assert len(refused.value.faults) == 1
    assert not (data_dir / "calibrations").exists()


def test_a_run_that_did_not_ask_both_steps(drawn_run: Path, data_dir: Path, tmp_path: Path) -> None:
    asked = load_run(drawn_run).manifest.asked.model_copy(update={"anchors": ["reverse_likelihood"]})

    with pytest.raises(BadInput, match="did not ask for the context ranks"):
        calibrated(altered(drawn_run, tmp_path / "run", asked=asked))


def test_a_run_of_another_version(drawn_run: Path, data_dir: Path, tmp_path: Path) -> None:
    run = altered(drawn_run, tmp_path / "run")
    text = (run / "run.toml").read_text("utf-8")
    (run / "run.toml").write_text(text.replace("format = 1", "format = 2"), "utf-8")

    with pytest.raises(BadInput, match="is of format 2"):
        calibrated(run)


def test_a_run_of_a_pack_that_was_changed_since(drawn_run: Path, data_dir: Path, tmp_path: Path) -> None:
    domain = load_run(drawn_run).manifest.domain.model_copy(update={"digest": "00"})

    with pytest.raises(BadInput, match="was changed since"):
        calibrated(altered(drawn_run, tmp_path / "run", domain=domain))


def test_a_name_that_is_taken_is_kept_unless_forced(drawn_run: Path, data_dir: Path) -> None:
    calibrated(drawn_run)
    kept = (data_dir / "calibrations" / "mine.json").read_bytes()

    with pytest.raises(BadInput, match="--force replaces it"):
        calibrated(drawn_run, variant="class_bias")
    assert (data_dir / "calibrations" / "mine.json").read_bytes() == kept

    calibrated(drawn_run, variant="class_bias", force=True)
    assert (data_dir / "calibrations" / "mine.json").read_bytes() != kept


@pytest.mark.parametrize("name", ["", "../mine", "a b", "calibrated:mine"])
def test_a_name_that_no_file_may_have(drawn_run: Path, data_dir: Path, name: str) -> None:
    with pytest.raises(BadInput, match="letters, digits, hyphens and underscores"):
        calibrated(drawn_run, name)


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    outcome = crosspath("calibrate", str(tmp_path), "--name", "mine")

    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr == f"crosspath: {tmp_path}: is no run folder: it has no run.toml\n"


def test_without_scipy_it_says_what_to_install(drawn_run: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nsys.modules['scipy'] = sys.modules['scipy.optimize'] = None\n"
        f"sys.argv = ['crosspath', 'calibrate', {str(drawn_run)!r}, '--name', 'mine']\n"
        "import crosspath\ncrosspath.main()"
    )

    outcome = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT), "CROSSPATH_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr == (
        "crosspath: calibration: needs SciPy, of the extra `evaluation`: pip install -e '.[evaluation]'\n"
    )
