"""A prefix counts as cached once a reply to it was finished, from 1,024 tokens on in steps of 128."""

from simulator.prefix_cache import PrefixCache


def prompt(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_nothing_is_cached_before_a_reply_was_finished() -> None:
    assert PrefixCache().cached(prompt("x" * 8_000)) == 0


def test_the_common_beginning_is_cached_in_steps() -> None:
    cache = PrefixCache()
    cache.replied(prompt("x" * 5_000 + "one"))

    assert cache.cached(prompt("x" * 5_000 + "two")) == 1_152


def test_a_short_common_beginning_is_not() -> None:
    cache = PrefixCache()
    cache.replied(prompt("x" * 4_000 + "one" * 1_000))

    assert cache.cached(prompt("x" * 4_000 + "two" * 1_000)) == 0
