"""What one owner of keys may ask: a minute's quota at once and refilled evenly, and so many at a time."""

import pytest

from app.access.quota import Quota
from app.problems import Refused


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ask(quota: Quota, owner: str = "a") -> bool:
    try:
        with quota.taken(owner):
            return True
    except Refused as refusal:
        return refusal.status != 429 or int(refusal.headers["Retry-After"]) < 1


def test_a_minutes_quota_may_be_spent_at_once_and_no_more() -> None:
    quota = Quota(per_minute=30, at_once=None, clock=Clock())

    assert sum(ask(quota) for _ in range(100)) == 30


def test_it_is_refilled_evenly() -> None:
    clock = Clock()
    quota = Quota(per_minute=30, at_once=None, clock=clock)
    while ask(quota):
        pass

    clock.now += 10.0

    assert sum(ask(quota) for _ in range(100)) == 5


def test_a_refusal_says_when_the_next_will_pass() -> None:
    clock = Clock()
    quota = Quota(per_minute=6, at_once=None, clock=clock)
    while ask(quota):
        pass
    with pytest.raises(Refused) as refusal, quota.taken("a"):
        pass

    clock.now += float(refusal.value.headers["Retry-After"])

    assert ask(quota)


def test_less_than_one_a_minute_is_one_at_first() -> None:
    clock = Clock()
    quota = Quota(per_minute=0.5, at_once=None, clock=clock)

    assert [ask(quota), ask(quota)] == [True, False]
    clock.now += 120.0
    assert [ask(quota), ask(quota)] == [True, False]


def test_one_owner_takes_nothing_from_another() -> None:
    quota = Quota(per_minute=1, at_once=1, clock=Clock())

    with quota.taken("a"):
        assert ask(quota, "b")


def test_so_many_at_a_time() -> None:
    quota = Quota(per_minute=None, at_once=2)

    with quota.taken("a"), quota.taken("a"):
        assert not ask(quota)
    assert ask(quota)


def test_nothing_is_limited_where_nothing_is_set() -> None:
    quota = Quota(None, None)

    assert all(ask(quota) for _ in range(1000))
