"""Who asks, as the prompt tells; and faults that befall one asker only."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.personas import PERSONAS, POOL, forward_question
from aggregators.judges import JUDGES, judge_question
from anchor.elicitor import rank_question
from domains.case import KINDS
from domains.catalogue import load_cases, load_domain
from domains.errors import BadInput
from domains.posterior import Posterior
from domains.question import Question
from simulator.askers import UNKNOWN, asker
from simulator.faults import OK, read_faults
from tests.simulator.worlds import PACKS

DOMAIN = load_domain(PACKS[0])
CASE = next(load_cases(PACKS[0] / "cases.ndjson", DOMAIN))
BALLOT = Posterior((0, 1), (0.7, 0.3), 1.0, 0.0, 0, "")


def body(question: Question[Any]) -> bytes:
    messages = [{"role": message.role, "content": message.content} for message in question.messages]
    return json.dumps({"messages": messages}).encode()


@pytest.mark.parametrize("persona", POOL)
def test_a_persona_is_known_by_its_title(persona: str) -> None:
    assert asker(body(forward_question(DOMAIN, CASE, PERSONAS[persona]))) == persona


@pytest.mark.parametrize("step", KINDS)
def test_a_step_is_known_by_what_it_rates(step: str) -> None:
    findings = [o.finding for o in CASE.observations(step)]  # type: ignore[arg-type]

    assert asker(body(rank_question(step, DOMAIN, [0, 1], findings, "seed"))) == step  # type: ignore[arg-type]


@pytest.mark.parametrize("judge", JUDGES)
def test_a_judge_is_known_by_its_way_to_judge(judge: str) -> None:
    assert asker(body(judge_question(judge, DOMAIN, CASE, {"cot": BALLOT}, "seed"))) == judge


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"messages": []}', b'{"messages": [{"role": "user"}]}'])
def test_anything_else_is_nobody(content: bytes) -> None:
    assert asker(content) == UNKNOWN


def test_one_asker_meets_its_own_faults_and_everybody_else_the_others() -> None:
    faults = read_faults("429=1,500@cot=1,drip@evidence=0")

    met = {name: faults.draw(body(forward_question(DOMAIN, CASE, PERSONAS[name]))).fault for name in POOL}
    findings = [o.finding for o in CASE.evidence]
    assert met == dict.fromkeys(POOL, "429") | {"cot": "500"}
    assert faults.draw(body(rank_question("evidence", DOMAIN, [0, 1], findings, "seed"))).fault == OK


def test_a_file_states_them_alike(tmp_path: Path) -> None:
    (tmp_path / "faults.toml").write_text('"500@cot" = 1', "utf-8")

    assert read_faults(str(tmp_path / "faults.toml")).chosen == {"cot": {"500": 1.0}}


@pytest.mark.parametrize("stated", ["nothing@cot=1", "500@=1", "500@cot=2", "500@cot=0.6,429@cot=0.6", "drip_s@cot=1"])
def test_what_cannot_be_meant_is_refused(stated: str) -> None:
    with pytest.raises(BadInput):
        read_faults(stated)
