"""What a run will take, told before it is paid for: exact where it can be, unknown where it is not known."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.deadline import Deadline
from agents.endpoint import BackboneSettings, Prices
from agents.replies import Usage
from app.assembly import open_council
from app.hearing import hear
from app.inquiry import Inquiry
from app.runs.dataset import open_dataset
from app.runs.money import Estimate, Plan, Sample, calls_left, estimate, expected_calls, open_purse, plan_run, sample_of
from app.runs.run import Asked, resolve_run
from domains.errors import AskFailed, BadInput
from tests.app.runs.embedded import Bench, bench

PRICES = Prices(input=1.0, cached=0.5, output=2.0)


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, 3) as bench_of_three:
        yield bench_of_three


@pytest.fixture
async def inquiry(three: Bench) -> AsyncIterator[Inquiry]:
    """What is asked of the first case, on the default agents and anchor."""
    async with open_council(three.settings()) as council:
        asked = resolve_run(Asked(domain=three.domain), council)
        with open_dataset(three.cases, asked.domain) as dataset:
            yield replace(asked, case=dataset.case(0))


def settings(**members: Any) -> BackboneSettings:
    return BackboneSettings(**{"base_url": "http://h/v1", "model": "m"} | members)


def plan(calls: int = 100, in_flight: int = 5, **members: Any) -> Plan:
    return Plan(10, in_flight, {"b": calls}, {"b": settings(**members)})


def sample(prompt: int | None = 1000, completion: int | None = 100, seconds: float | None = 2.0) -> Sample:
    return Sample({"b": 10}, {"b": Usage(prompt, completion, 0)}, seconds)


class TestCalls:
    async def test_are_as_many_as_are_sent(self, three: Bench, inquiry: Inquiry) -> None:
        await hear(inquiry, Deadline.after(30))
        assert expected_calls(inquiry) == {"default": three.requests}

    async def test_that_are_left_are_those_without_a_kept_reply(self, three: Bench, inquiry: Inquiry) -> None:
        await hear(replace(inquiry, agents=inquiry.agents[:1], quorum=1), Deadline.after(30))
        kept = three.requests
        assert await calls_left(inquiry) == {"default": expected_calls(inquiry)["default"] - kept}
        assert (kept, three.requests) == (3, 3)

    async def test_of_a_case_that_was_heard_are_none(self, three: Bench, inquiry: Inquiry) -> None:
        await hear(inquiry, Deadline.after(30))
        assert await calls_left(inquiry) == {}

    @pytest.mark.parametrize("resumed", [False, True])
    async def test_of_a_plan_are_those_of_its_cases(self, inquiry: Inquiry, resumed: bool) -> None:
        async def twice() -> AsyncIterator[Inquiry]:
            yield inquiry
            yield inquiry

        planned = await plan_run(twice(), 25, resumed=resumed)
        assert (planned.cases, planned.calls) == (2, {"default": 2 * expected_calls(inquiry)["default"]})
        assert planned.backbones == {"default": inquiry.backbone.settings}


class TestASample:
    async def test_is_what_the_case_took(self, three: Bench, inquiry: Inquiry) -> None:
        purse = open_purse(None, [inquiry.backbone])
        heard = await hear(replace(inquiry, purse=purse), Deadline.after(30))
        taken = sample_of(heard, 1.5)
        assert (taken.calls, taken.seconds) == ({"default": three.requests}, 1.5)
        assert inquiry.backbone.settings.prices is not None
        assert inquiry.backbone.settings.prices.cost(taken.usage["default"]) == pytest.approx(purse.spent_usd)

    async def test_of_kept_replies_is_what_they_took_then_and_no_time(self, inquiry: Inquiry) -> None:
        first = sample_of(await hear(inquiry, Deadline.after(30)), 1.5)
        again = sample_of(await hear(inquiry, Deadline.after(30)), 0.1)
        assert (again.usage, again.seconds) == (first.usage, None)


class TestAnEstimate:
    def test_is_the_average_question_times_the_questions_left(self) -> None:
        expected = estimate(plan(prices=PRICES), [sample(), sample(3000, 300, 4.0)])
        assert (expected.calls, expected.prompt_tokens, expected.completion_tokens) == (100, 20_000, 2_000)
        assert expected.cost_usd == pytest.approx((20_000 * 1.0 + 2_000 * 2.0) / 1e6)
        assert expected.seconds == pytest.approx(3.0 * 10 / 5)

    def test_prices_cached_tokens_as_such(self) -> None:
        kept = Sample({"b": 10}, {"b": Usage(1000, 0, 400)}, None)
        assert estimate(plan(prices=PRICES), [kept]).cost_usd == pytest.approx((6_000 + 4_000 * 0.5) / 1e6)

    def test_is_no_faster_than_the_limits(self) -> None:
        assert estimate(plan(requests_per_minute=60), [sample()]).seconds == 100.0
        assert estimate(plan(tokens_per_minute=1100), [sample()]).seconds == pytest.approx(600.0)

    def test_without_cases_knows_the_calls_only(self) -> None:
        expected = estimate(plan(prices=PRICES), [])
        unknown = (expected.prompt_tokens, expected.completion_tokens, expected.cost_usd, expected.seconds)
        assert (expected.calls, unknown) == (100, (None,) * 4)

    @pytest.mark.parametrize("prices", [None, Prices(input=1.0), Prices(output=1.0)])
    def test_without_prices_has_an_unknown_cost_and_says_why(self, prices: Prices | None) -> None:
        expected = estimate(plan(prices=prices), [sample()])
        assert (expected.cost_usd, expected.prompt_tokens) == (None, 10_000)
        assert any("backbones.b.prices" in line for line in expected.lines())

    def test_where_the_server_counts_nothing_is_unknown(self) -> None:
        expected = estimate(plan(prices=PRICES), [sample(None, None)])
        assert (expected.prompt_tokens, expected.cost_usd) == (None, None)

    def test_of_what_is_free_is_no_cost_however_long(self) -> None:
        assert estimate(plan(prices=Prices(input=0, output=0)), []).cost_usd == 0.0

    def test_of_nothing_left_is_nothing(self) -> None:
        nothing = estimate(Plan(0, 5, {}, {}), [])
        assert nothing == Estimate(0, 0, 0, 0, 0, 0.0, ())

    def test_with_one_unknown_backbone_is_unknown_in_all(self) -> None:
        both = Plan(10, 5, {"b": 50, "c": 50}, {"b": settings(prices=PRICES), "c": settings()})
        assert estimate(both, [sample()]).cost_usd is None

    def test_says_unknown_and_never_nothing(self) -> None:
        lines = estimate(plan(), []).lines()
        assert "cost: unknown" in lines
        assert "time: unknown" in lines
        assert not any(line.endswith(" 0") for line in lines)


class TestAPurse:
    async def test_with_a_budget_needs_every_price(self, inquiry: Inquiry) -> None:
        backbone = inquiry.backbone
        backbone.settings = backbone.settings.model_copy(update={"prices": None})
        with pytest.raises(BadInput) as refused:
            open_purse(1.0, [backbone])
        assert [fault.where for fault in refused.value.faults] == ["backbones.default.prices"]
        assert open_purse(None, [backbone]).budget_usd is None

    @pytest.mark.parametrize("budget", [-1.0, 1e300, float("nan"), float("inf")])
    async def test_holds_an_amount(self, budget: float) -> None:
        with pytest.raises(BadInput):
            open_purse(budget, [])

    async def test_that_is_used_up_stops_a_hearing_before_it_sends(self, three: Bench, inquiry: Inquiry) -> None:
        spent = replace(inquiry, purse=open_purse(1.0, [inquiry.backbone], spent_usd=1.0))
        heard = await hear(spent, Deadline.after(30))
        causes = {outcome.failure.cause for outcome in heard.forward if isinstance(outcome.failure, AskFailed)}
        assert (causes, three.requests) == ({"budget"}, 0)
