"""What was used lately is held: within a number of bytes, and for a while."""

import asyncio

from agents.recent import Recent


def test_what_was_used_least_recently_goes_first() -> None:
    recent: Recent[str, int] = Recent(30)
    for place, key in enumerate("abc"):
        recent.put(key, place, 10)
    recent.get("a")
    recent.put("d", 3, 10)
    assert [recent.get(key) for key in "abcd"] == [0, None, 2, 3]


def test_what_is_larger_than_the_bound_is_not_held() -> None:
    recent: Recent[str, int] = Recent(30)
    recent.put("a", 1, 31)
    assert recent.get("a") is None


def test_a_value_takes_the_place_of_an_earlier_one_and_its_bytes() -> None:
    recent: Recent[str, int] = Recent(30)
    for value in range(10):
        recent.put("a", value, 20)
    recent.put("b", 1, 10)
    assert (recent.get("a"), recent.get("b")) == (9, 1)


def test_what_is_old_can_be_forgotten() -> None:
    recent: Recent[str, int] = Recent(30)
    recent.put("a", 1, 10)
    recent.put("b", 2, 10)
    assert recent.drop_where(lambda value: value < 2) == 1
    assert (recent.get("a"), recent.get("b")) == (None, 2)


async def test_a_value_is_gone_after_a_while_whether_or_not_anybody_looks() -> None:
    recent: Recent[str, int] = Recent(30, held_s=0.01)
    recent.put("a", 1, 30)
    await asyncio.sleep(0.1)
    recent.put("b", 2, 30)
    assert (recent.get("a"), recent.get("b")) == (None, 2)


async def test_a_value_that_is_put_again_is_held_as_long_again() -> None:
    recent: Recent[str, int] = Recent(30, held_s=0.2)
    recent.put("a", 1, 10)
    await asyncio.sleep(0.1)
    recent.put("a", 2, 10)
    recent.put("b", 3, 10)
    await asyncio.sleep(0.15)
    kept = [recent.get(key) for key in "ab"]
    await asyncio.sleep(0.5)
    assert kept in ([2, 3], [None, None])  # a slow machine may have slept longer
    assert [recent.get(key) for key in "ab"] == [None, None]
