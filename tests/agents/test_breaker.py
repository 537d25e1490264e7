import hypothesis.strategies as st
import pytest
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from agents.breaker import JITTER, Breaker, Pass, Pauses, State, Verdict

PAUSES = Pauses(failures=3, first_s=1.0, most_s=8.0)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(clock: Clock, draw: float = 0.0) -> Breaker:
    breaker = Breaker(PAUSES, clock=clock, draw=lambda: draw)
    for _ in range(PAUSES.failures):
        met(breaker, "down")
    return breaker


def met(breaker: Breaker, verdict: Verdict) -> None:
    given = breaker.enter()
    assert given is not None
    breaker.settle(given, verdict)


def test_it_opens_after_so_many_failures_in_a_row(clock: Clock) -> None:
    breaker = Breaker(PAUSES, clock=clock)
    for verdict in ("down", "down", "up", "down", "down", "unknown"):
        met(breaker, verdict)
        assert breaker.state == "closed"
    met(breaker, "down")
    assert (breaker.state, breaker.enter()) == ("open", None)


def test_it_says_when_to_come_back(clock: Clock) -> None:
    breaker = opened(clock)
    assert breaker.retry_after_s == 1.0
    clock.now += 0.75
    assert breaker.retry_after_s == 0.25
    clock.now += 0.25
    assert (breaker.retry_after_s, breaker.refuses) == (0.0, False)


def test_after_the_pause_one_may_try_and_nobody_else(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 1.0
    probe = breaker.enter()
    assert probe is not None
    assert probe.probe
    assert (breaker.state, breaker.enter()) == ("half_open", None)
    assert breaker.retry_after_s > 0.0


def test_a_probe_that_succeeds_closes_it(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 1.0
    met(breaker, "up")
    assert breaker.state == "closed"
    for _ in range(PAUSES.failures - 1):  # and nothing of before is counted
        met(breaker, "down")
    assert breaker.state == "closed"


def test_probes_that_fail_double_the_pause_up_to_a_bound(clock: Clock) -> None:
    breaker = opened(clock)
    pauses = []
    for _ in range(6):
        pauses.append(breaker.retry_after_s)
        clock.now += breaker.retry_after_s
        met(breaker, "down")
    assert pauses == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_the_next_outage_begins_with_a_short_pause(clock: Clock) -> None:
    breaker = opened(clock)
    for verdict in ("down", "down", "up", "down", "down", "down"):
        clock.now += breaker.retry_after_s
        met(breaker, verdict)
    assert breaker.retry_after_s == 1.0


def test_a_probe_that_is_broken_off_leaves_its_place_to_the_next(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 1.0
    met(breaker, "unknown")
    assert breaker.enter() is not None


@pytest.mark.parametrize("verdict", ["up", "down"])
def test_what_was_asked_before_it_opened_says_nothing_about_now(clock: Clock, verdict: Verdict) -> None:
    breaker = Breaker(PAUSES, clock=clock)
    early = [given for _ in range(9) if (given := breaker.enter())]
    for given in early[:3]:
        breaker.settle(given, "down")
    for given in early[3:]:
        breaker.settle(given, verdict)
    assert (breaker.state, breaker.retry_after_s < 2.0) == ("open", True)


def test_pauses_are_spread_but_never_shorter(clock: Clock) -> None:
    assert opened(clock, draw=0.0).retry_after_s == 1.0
    assert opened(clock, draw=1.0).retry_after_s == pytest.approx(1.0 + JITTER)


class AnyUse(RuleBasedStateMachine):
    """However passes and outcomes are interleaved with time."""

    passes = Bundle("passes")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.told: list[State] = []
        self.breaker = Breaker(PAUSES, clock=self.clock, draw=lambda: 0.5, changed=self.told.append)
        self.probes: set[Pass] = set()

    @rule(target=passes)
    def enter(self) -> Pass | None:
        refused = self.breaker.refuses
        given = self.breaker.enter()
        assert refused == (given is None)
        if given is not None and given.probe:
            self.probes.add(given)
        return given

    @rule(given=consumes(passes), verdict=st.sampled_from(["up", "down", "unknown"]))
    def settle(self, given: Pass | None, verdict: Verdict) -> None:
        if given is not None:
            self.probes.discard(given)
            self.breaker.settle(given, verdict)

    @rule(seconds=st.floats(0.0, 10.0))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def one_probe_at_a_time_while_half_open_and_none_else(self) -> None:
        assert len(self.probes) == (1 if self.breaker.state == "half_open" else 0)

    @invariant()
    def nobody_is_held_back_for_longer_than_the_longest_pause(self) -> None:
        assert 0.0 <= self.breaker.retry_after_s <= PAUSES.most_s * (1.0 + JITTER) + 1e-9

    @invariant()
    def whoever_listens_knows_the_state(self) -> None:
        assert ([*self.told] or ["closed"])[-1] == self.breaker.state


TestAnyUse = AnyUse.TestCase
