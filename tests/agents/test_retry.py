import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.failure import Failure
from agents.retry import MOST_REQUESTS, Attempts, Backoff, RetryBudget
from domains.errors import AskFailed

LATER = Failure("server_error", "HTTP 503", "later")
draws = st.floats(0, 1, exclude_max=True)


@given(draws, st.integers(1, MOST_REQUESTS), st.floats(0, 1e6))
def test_nobody_comes_earlier_than_told_nor_much_later(draw: float, requests: int, told: float) -> None:
    wait = Backoff(draw=lambda: draw).wait(Failure("rate_limited", "", "later", retry_after=told), requests)
    assert told <= wait <= told + max(20.0, 0.1 * told)


@given(draws, st.integers(1, 60))
def test_waits_are_bounded(draw: float, requests: int) -> None:
    assert 0.0 <= Backoff(draw=lambda: draw).wait(LATER, requests) <= Backoff().most


def test_waits_spread_and_grow() -> None:
    low, high = Backoff(draw=lambda: 0.0), Backoff(draw=lambda: 0.999)
    assert [low.wait(LATER, requests) for requests in (1, 2, 3)] == [0.0, 0.0, 0.0]
    assert [round(high.wait(LATER, requests), 1) for requests in (1, 2, 3)] == [0.5, 1.0, 2.0]


def test_two_waiters_do_not_draw_the_same() -> None:
    assert len({Backoff().wait(LATER, 1) for _ in range(50)}) == 50


def test_an_error_between_makes_an_error_no_repetition() -> None:
    attempts = Attempts(requests=1)
    crash = Failure("server_error", "HTTP 500", "later", identity="500 crash")
    for failure in (crash, LATER, crash):
        attempts.next_wait(failure, Backoff(), remaining=1e9)
    with pytest.raises(AskFailed):
        attempts.next_wait(crash, Backoff(), remaining=1e9)


def test_no_request_is_left_after_the_last() -> None:
    with pytest.raises(AskFailed, match="after 4 requests"):
        Attempts(requests=MOST_REQUESTS).next_wait(LATER, Backoff(), remaining=1e9)


def test_a_wait_beyond_the_deadline_fails_at_once_and_says_when_to_come_back() -> None:
    told = Failure("rate_limited", "HTTP 429", "later", retry_after=30.0)
    with pytest.raises(AskFailed) as failed:
        Attempts(requests=1).next_wait(told, Backoff(), remaining=29.0)
    assert failed.value.retry_after_s == 30.0


class TestARetryBudget:
    def test_begins_with_one_extra_request_for_each_that_may_be_in_flight(self) -> None:
        assert (RetryBudget(64).left, RetryBudget(1).left) == (64, 10)

    def test_earns_one_with_every_fifth_call(self) -> None:
        budget = RetryBudget(10)
        while budget.spend():
            pass
        earned = []
        for _ in range(10):
            budget.earn()
            earned.append(budget.left)
        assert earned == [0, 0, 0, 0, 1, 1, 1, 1, 1, 2]

    @given(st.integers(1, 100), st.lists(st.booleans(), max_size=3000))
    def test_never_lets_through_more_than_a_fifth_and_its_allowance(self, in_flight: int, steps: list[bool]) -> None:
        budget = RetryBudget(in_flight)
        calls = extra = 0
        for is_call in steps:
            if is_call:
                budget.earn()
                calls += 1
            else:
                extra += budget.spend()
            assert extra <= calls / 5 + budget.allowance
            assert 0 <= budget.left <= budget.allowance
