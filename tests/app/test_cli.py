"""The command line as its users meet it: processes, exit codes, one clear line for a fault."""

import json
from pathlib import Path
from typing import Any

import pytest

from domains.catalogue import Catalogue
from tests.processes import crosspath

COMMANDS = [
    "serve",
    "decide",
    "evaluate",
    "calibrate",
    "export",
    "report",
    "simulate",
    "domain list",
    "domain check",
    "data ddxplus",
]


@pytest.fixture
def case_file(tmp_path: Path, case: dict[str, Any]) -> Path:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case), "utf-8")
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    outcome = crosspath(*command.split(), "--help")

    assert outcome.returncode == 0
    assert f"crosspath {command}" in " ".join(outcome.stdout.split())


def test_decide_prints_who_said_what(case_file: Path) -> None:
    outcome = crosspath("decide", str(case_file))

    assert outcome.returncode == 0
    assert all(agent in outcome.stdout for agent in ("tot", "medprompt", "cot", "common_bias", "rare_bias"))
    assert "no language model" in outcome.stdout
    assert "\x1b" not in outcome.stdout


def test_decide_prints_what_a_judge_said(case_file: Path) -> None:
    outcome = crosspath("decide", str(case_file), "--aggregator", "ach")

    assert "by ach" in outcome.stdout
    assert "judge: ach" in outcome.stdout


def test_decide_gives_the_whole_answer_as_json(case_file: Path) -> None:
    outcome = crosspath("decide", str(case_file), "--json", "--aggregator", "minjs")

    assert json.loads(outcome.stdout)["aggregator"] == "minjs"


def test_decide_reads_a_case_from_stdin(case: dict[str, Any]) -> None:
    outcome = crosspath("decide", "-", "--json", stdin=json.dumps(case))

    assert json.loads(outcome.stdout)["case_id"] == case["id"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "case.json:1"),
        ('{"evidence": [{"id": "zzz"}]}', "case.evidence.0.id"),
        ('{"evidence": []}', "case: no finding"),
    ],
)
def test_a_bad_case_is_a_line_that_names_the_fault(tmp_path: Path, content: str, named: str) -> None:
    path = tmp_path / "case.json"
    path.write_text(content, "utf-8")

    outcome = crosspath("decide", str(path))

    assert outcome.returncode == 2
    assert named in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""


def test_a_missing_case_file_is_named(tmp_path: Path) -> None:
    outcome = crosspath("decide", str(tmp_path / "none.json"))

    assert outcome.returncode == 2
    assert "none.json" in outcome.stderr


def test_an_unknown_option_is_a_usage_error() -> None:
    assert crosspath("decide", "case.json", "--agregator", "minjs").returncode == 2


def test_domain_list_names_every_pack() -> None:
    outcome = crosspath("domain", "list", "--json")

    assert [domain["name"] for domain in json.loads(outcome.stdout)] == list(Catalogue().names())


def test_domain_check_passes_a_sound_pack() -> None:
    catalogue = Catalogue()

    outcome = crosspath("domain", "check", str(catalogue.path(catalogue.names()[0])))

    assert outcome.returncode == 0
    assert "Nothing wrong" in outcome.stdout


def test_domain_check_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("label,aliases,description\nA,,\nA,,\n", "utf-8")

    outcome = crosspath("domain", "check", str(tmp_path))

    assert outcome.returncode == 1
    assert "labels.csv:3" in outcome.stdout
    assert "domain.toml" in outcome.stdout


def test_a_public_address_is_refused_without_a_word() -> None:
    outcome = crosspath("serve", "--host", "0.0.0.0", "--port", "0")

    assert outcome.returncode == 2
    assert "CROSSPATH_ALLOW_OPEN" in outcome.stderr


def test_keys_that_would_not_be_checked_stop_the_service() -> None:
    outcome = crosspath("serve", "--port", "0", CROSSPATH_API_KEYS="abc")

    assert outcome.returncode == 2
    assert "CROSSPATH_API_KEYS" in outcome.stderr


def test_a_wrong_setting_is_named_and_not_shown(tmp_path: Path) -> None:
    outcome = crosspath("domain", "list", CROSSPATH_QUORUM="canary")

    assert outcome.returncode == 2
    assert "quorum" in outcome.stderr
    assert "canary" not in outcome.stderr
