"""`crosspath decide` at a terminal: lines of data sets, stdin, agents as they come, what to do next."""

import json
from pathlib import Path
from typing import Any

import pytest

from domains.catalogue import BUILT_IN, Catalogue
from tests.processes import crosspath, free_port

AGENTS = {"tot", "medprompt", "cot", "common_bias", "rare_bias"}
PACK = Catalogue().names()[0]
LINE = (BUILT_IN / PACK / "cases.ndjson").read_text("utf-8").splitlines()[0]


def test_a_line_of_a_data_set_is_taken_and_its_gold_label_reaches_nobody() -> None:
    without = {name: value for name, value in json.loads(LINE).items() if name != "gold"}
    with_gold = crosspath("decide", "-", "--json", stdin=LINE)

    assert "gold" in json.loads(LINE)
    assert with_gold.returncode == 0, with_gold.stderr
    bare = json.loads(crosspath("decide", "-", "--json", stdin=json.dumps(without)).stdout)
    assert json.loads(with_gold.stdout)["distribution"] == bare["distribution"]


def test_agents_are_told_on_stderr_as_they_come(case: dict[str, Any]) -> None:
    outcome = crosspath("decide", "-", stdin=json.dumps(case))

    assert {line.split()[0] for line in outcome.stderr.splitlines()} == AGENTS
    assert "\x1b" not in outcome.stderr


def test_json_for_a_program_comes_with_nothing_on_stderr(case: dict[str, Any]) -> None:
    assert crosspath("decide", "-", "--json", stdin=json.dumps(case)).stderr == ""


def test_several_cases_are_refused_with_what_to_do() -> None:
    outcome = crosspath("decide", "-", stdin=f"{LINE}\n{LINE}\n")

    assert outcome.returncode == 2
    assert outcome.stderr.startswith("crosspath: stdin: holds more than one case")
    assert "crosspath evaluate" in outcome.stderr


def test_nothing_is_refused_with_what_to_give() -> None:
    outcome = crosspath("decide", "-", stdin="")

    assert outcome.returncode == 2
    assert "is empty" in outcome.stderr


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ('{"evidence": [], "evidence": []}', "twice"),
        ('{"evidence": [{"id": NaN}]}', "NaN is no JSON number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_could_be_misread_is_one_line(stated: str, named: str) -> None:
    outcome = crosspath("decide", "-", stdin=stated)

    assert outcome.returncode == 2
    assert outcome.stderr.startswith("crosspath: stdin")
    assert named in outcome.stderr


def test_a_case_of_another_pack_is_told_that_no_domain_was_named() -> None:
    other = Catalogue().names()[-1]
    outcome = crosspath("decide", "-", stdin=(BUILT_IN / other / "cases.ndjson").read_text("utf-8").splitlines()[0])

    assert outcome.returncode == 2
    assert f"crosspath: --domain: is not given, so it was taken for a case of {PACK}; there are: " in outcome.stderr


def test_a_dead_endpoint_is_told_agent_by_agent_and_the_doctor_recommended(
    case: dict[str, Any], tmp_path: Path
) -> None:
    outcome = crosspath(
        "decide",
        "-",
        stdin=json.dumps(case),
        CROSSPATH_DATA_DIR=str(tmp_path),
        CROSSPATH_LLM_BASE_URL=f"http://127.0.0.1:{free_port()}/v1",
        CROSSPATH_LLM_MODEL="m",
    )

    assert outcome.returncode == 1
    assert outcome.stderr.count("failed: connection") == len(AGENTS)
    assert "crosspath doctor default" in outcome.stderr
    assert outcome.stdout == ""
