"""`crosspath doctor` as its users meet it, and what a run records of what it found."""

import json
import tomllib
from pathlib import Path

from domains.catalogue import BUILT_IN
from tests.processes import crosspath, free_port, serving


def test_it_prints_a_verdict_and_keeps_a_profile_that_runs_record(tmp_path: Path) -> None:
    with serving("simulate --quirks mistral", "/health") as address:
        own = {
            "CROSSPATH_DATA_DIR": str(tmp_path / "data"),
            "CROSSPATH_LLM_BASE_URL": f"{address}/v1",
            "CROSSPATH_LLM_MODEL": "stand-in",
        }
        told = crosspath("doctor", **own)
        as_json = json.loads(crosspath("doctor", "default", "--json", **own).stdout)
        cases = str(BUILT_IN / "chest_pain" / "cases.ndjson")
        ran = crosspath(
            "evaluate",
            "--dataset",
            cases,
            "--domain",
            "chest_pain",
            "--limit",
            "1",
            "--out",
            str(tmp_path / "r"),
            **own,
        )

    assert told.returncode == 0, told.stderr
    assert "Crosspath works with it." in told.stdout
    assert "\x1b" not in told.stdout
    assert max(map(len, told.stdout.splitlines()[:-1])) <= 80
    assert as_json["sound"] is True
    assert as_json["dialect"] == {"structured": "json_schema", "limit_name": "max_tokens", "dropped": ["seed"]}
    assert Path(as_json["profile"]).is_file()
    assert ran.returncode == 0, ran.stderr
    manifest = tomllib.loads((tmp_path / "r" / "run.toml").read_text("utf-8"))
    assert manifest["backbones"]["default"]["profile"] == "json_schema, max_tokens, without seed"


def test_a_run_may_be_resumed_after_the_doctor_was_asked(tmp_path: Path) -> None:
    own = {"CROSSPATH_DATA_DIR": str(tmp_path / "data")}
    asked = ("evaluate", "--dataset", "chest_pain", "--limit", "1", "--out", str(tmp_path / "r"))

    assert crosspath(*asked, **own).returncode == 0
    assert crosspath("doctor", **own).returncode == 0
    resumed = crosspath(*asked, **own)
    assert resumed.returncode == 0, resumed.stderr


def test_an_endpoint_that_is_not_there_is_exit_1_with_what_to_do(tmp_path: Path) -> None:
    outcome = crosspath(
        "doctor",
        CROSSPATH_DATA_DIR=str(tmp_path),
        CROSSPATH_LLM_BASE_URL=f"http://127.0.0.1:{free_port()}/v1",
        CROSSPATH_LLM_MODEL="m",
    )

    assert outcome.returncode == 1
    assert "base_url" in outcome.stdout
    assert not (tmp_path / "backbones").exists()


def test_a_backbone_that_is_not_declared_is_one_line_that_names_those_that_are() -> None:
    outcome = crosspath("doctor", "nobody")

    assert outcome.returncode == 2
    assert outcome.stderr == "crosspath: BACKBONE: no such backbone is declared; there are: default\n"


def test_an_unknown_quirk_is_one_line() -> None:
    outcome = crosspath("simulate", "--quirks", "gemini")

    assert outcome.returncode == 2
    assert outcome.stderr.startswith("crosspath: --quirks: no such profile; there are: openai,")
