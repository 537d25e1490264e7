import pytest

from agents.limits import Forecast
from agents.replies import Usage


def test_before_any_reply_the_longest_is_expected() -> None:
    assert Forecast(max_output_tokens=1000).tokens(body_bytes=400) == 100 + 1000


def test_replies_of_the_same_kind_make_it_exact() -> None:
    forecast = Forecast(1000)
    for _ in range(3):
        forecast.learn(400, Usage(150, 200))
    assert forecast.tokens(400) == pytest.approx(350)
    assert forecast.tokens(800) == pytest.approx(500)


def test_it_follows_a_change() -> None:
    forecast = Forecast(1000)
    for completion in [100] * 200 + [300] * 300:
        forecast.learn(400, Usage(100, completion))
    assert forecast.tokens(400) == pytest.approx(400, rel=0.01)


@pytest.mark.parametrize("usage", [Usage(), Usage(10, None), Usage(None, 10)])
def test_unknown_counts_teach_nothing(usage: Usage) -> None:
    forecast = Forecast(1000)
    forecast.learn(400, usage)
    assert forecast.tokens(400) == 1100
