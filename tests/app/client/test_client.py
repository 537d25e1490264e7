"""The Python client, against a real service on a socket."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import crosspath
from app.schemas.decide import AgentAnswer, AnchorAnswer, Decision
from tests.processes import serving

Body = dict[str, Any]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving("serve", "/health/ready", {"CROSSPATH_DATA_DIR": str(tmp_path_factory.mktemp("data"))}) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[crosspath.Client]:
    with crosspath.Client(address) as client:
        yield client


def answering(status: int, content: bytes, **headers: str) -> crosspath.Client:
    """A client of something that answers this to everything."""
    transport = httpx.MockTransport(lambda request: httpx.Response(status, content=content, headers=headers))
    return crosspath.Client("http://service", transport=transport)


def test_a_decision_is_typed(client: crosspath.Client, case: Body) -> None:
    decision = client.decide(case, compare=["plurality"], params={"tau": 1.0})

    assert decision.label in decision.distribution
    assert decision.compare["plurality"].label
    assert decision.stand_in


def test_a_decision_is_told_while_it_is_made(client: crosspath.Client, case: Body) -> None:
    *agents, anchor, decision = client.stream(case, agents=["cot", "tot", "medprompt"])

    assert {agent.agent for agent in agents if isinstance(agent, AgentAnswer)} == {"cot", "tot", "medprompt"}
    assert isinstance(anchor, AnchorAnswer)
    assert isinstance(decision, Decision)
    assert decision.anchor is not None
    assert decision.anchor.distribution == anchor.distribution


def test_a_problem_while_it_is_made_is_a_refusal() -> None:
    told = b'event: agent\ndata: {"agent": "cot", "status": "failed"}\n\nevent: problem\ndata: {"status": 503}\n\n'
    stream = answering(200, told).stream({})

    assert next(stream) == AgentAnswer(agent="cot", status="failed")
    with pytest.raises(crosspath.Refusal, match="503"):
        next(stream)


def test_what_a_newer_service_tells_besides_is_passed_over() -> None:
    assert list(answering(200, b": alive\n\nevent: mood\ndata: {}\n\n").stream({})) == []


def test_a_refused_question_is_a_refusal_before_anything_is_told(client: crosspath.Client) -> None:
    with pytest.raises(crosspath.Refusal, match="422"):
        next(client.stream({"evidence": [{"id": "nothing"}]}))


def test_what_is_asked_for_by_name_is_listed(client: crosspath.Client) -> None:
    domains = [domain.name for domain in client.domains()]

    assert client.domain(domains[0]).findings
    assert "loglin" in [entry.name for entry in client.aggregators()]
    assert "reverse" in [entry.name for entry in client.anchors()]
    assert [entry.name for entry in client.backbones()] == ["default"]


def test_posteriors_of_ones_own_are_aggregated(client: crosspath.Client) -> None:
    answer = client.aggregate(["A", "B"], [{"posteriors": [{"A": 1.0}, {"B": 1.0}, {"A": 1.0}]}])

    assert answer.cases[0].decisions["plurality"].label == "A"


def test_a_job_is_followed_to_its_end_and_read(client: crosspath.Client, case: Body) -> None:
    job = client.batch([case, case | {"id": "c-2"}], aggregators=["range"])

    assert client.wait(job.id).state == "done"
    assert [record.id for record in client.results(job.id)] == ["c-1", "c-2"]
    assert job.id in [each.id for each in client.jobs()]
    assert client.cancel(job.id).state == "done"


def test_a_job_s_report_is_typed(client: crosspath.Client) -> None:
    job = client.batch(client.domains()[0].name, aggregators=["range"])
    client.wait(job.id)

    assert client.report(job.id).accuracy["range"].n


def test_the_same_idempotency_key_gets_the_same_job(client: crosspath.Client, case: Body) -> None:
    first, second = (client.batch([case], idempotency_key="once") for _ in range(2))

    assert first.id == second.id


def test_a_refusal_names_every_fault(client: crosspath.Client) -> None:
    with pytest.raises(crosspath.Refusal) as refused:
        client.decide({"evidence": [{"id": "nothing"}]}, aggregator="nobody")

    assert refused.value.status == 422
    assert {fault.where for fault in refused.value.faults} == {"case.evidence.0.id", "aggregator"}


def test_a_refused_stream_is_a_refusal(client: crosspath.Client) -> None:
    with pytest.raises(crosspath.Refusal, match="404"):
        list(client.results("nothing"))


def test_a_refusal_says_when_to_come_back() -> None:
    with pytest.raises(crosspath.Refusal) as refused:
        answering(503, b'{"detail": "later"}', **{"Retry-After": "7"}).domains()

    assert refused.value.retry_after_s == 7


def test_a_gateway_s_page_is_a_refusal_too() -> None:
    with pytest.raises(crosspath.Refusal, match="502: the answer is no problem document"):
        answering(502, b"<html>Bad gateway</html>").domains()


def test_an_answer_of_another_kind_is_told_without_its_content() -> None:
    with pytest.raises(crosspath.NotUnderstood, match="not as this version") as error:
        answering(200, b'[{"name": "confidential", "labels": "confidential"}]').domains()

    assert "confidential" not in str(error.value)


def test_a_line_end_that_json_has_none_of_does_not_end_a_line() -> None:
    events = 'id: 1\ndata: {"id": "\u2028"}\n\n'.encode()

    with pytest.raises(crosspath.NotUnderstood, match="state"):
        list(answering(200, events).follow("j"))


def test_the_environment_says_where_and_with_which_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSPATH_URL", "http://elsewhere:9000")
    monkeypatch.setenv("CROSSPATH_API_KEY", "secret")
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=[])

    crosspath.Client(transport=httpx.MockTransport(answer)).jobs()

    assert str(seen[0].url) == "http://elsewhere:9000/batch"
    assert seen[0].headers["authorization"] == "Bearer secret"


async def test_decisions_are_made_side_by_side(address: str, case: Body) -> None:
    async with crosspath.AsyncClient(address) as client:
        decisions = await asyncio.gather(*(client.decide(case | {"id": f"c-{n}"}) for n in range(5)))

    assert [decision.case_id for decision in decisions] == [f"c-{n}" for n in range(5)]


async def test_a_decision_is_told_without_waiting_for_it(address: str, case: Body) -> None:
    async with crosspath.AsyncClient(address) as client:
        told = [event async for event in client.stream(case)]

    assert isinstance(told[-1], Decision)


async def test_a_job_is_followed_without_waiting_for_it(address: str, case: Body) -> None:
    async with crosspath.AsyncClient(address) as client:
        job = await client.batch([case], aggregators=["range"])
        ended = await client.wait(job.id)
        records = [record async for record in client.results(job.id)]

    assert (ended.state, len(records)) == ("done", 1)


async def test_everything_else_is_asked_for_too(address: str) -> None:
    async with crosspath.AsyncClient(address) as client:
        name = (await client.domains())[0].name
        assert (await client.domain(name)).labels
        assert await client.aggregators()
        assert await client.anchors()
        assert await client.backbones()
        assert (await client.aggregate(["A"], [{"posteriors": [{"A": 1.0}]}])).cases
        with pytest.raises(crosspath.Refusal, match="404"):
            await client.record("nothing")


def test_both_clients_can_do_the_same() -> None:
    waiting, not_waiting = (
        {name for name in vars(each) if not name.startswith("_")} for each in (crosspath.Client, crosspath.AsyncClient)
    )

    assert waiting - {"close"} == not_waiting - {"aclose"}
