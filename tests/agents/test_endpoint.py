from typing import Any

import pytest
from pydantic import ValidationError

from agents.endpoint import BackboneSettings, Prices
from agents.replies import Usage


def declared(**members: Any) -> BackboneSettings:
    return BackboneSettings(**{"base_url": "https://models.example/v1", "model": "m"} | members)


def test_a_trailing_slash_makes_no_other_endpoint() -> None:
    assert declared(base_url="https://models.example/v1/").url == "https://models.example/v1/chat/completions"


@pytest.mark.parametrize(
    "members",
    [
        {"base_url": "ftp://models.example"},
        {"base_url": "models.example/v1"},
        {"base_url": "https://user:secret@models.example"},
        {"base_url": "https://models.example/v1?key=secret"},
        {"model": ""},
        {"api_key": ""},
        {"api_key": "sécret"},
        {"api_key": "secret\r\nX: y"},
        {"concurrency": 0},
        {"requests_per_minute": 0},
        {"structured": "yaml"},
        {"max_tokens": 5},
        {"extra_body": {"temperature": 2}},
        {"extra_body": {"stream": True}},
        {"prices": {"input": -1}},
        {"prices": {"input": 1e300}},
        {"prices": {"input": float("inf")}},
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_without_being_quoted(members: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        declared(**members)
    assert "secret" not in str(refused.value)
    assert "sécret" not in str(refused.value)


def test_a_key_is_not_in_what_is_printed() -> None:
    settings = declared(api_key="sk-canary\n")
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "sk-canary"
    assert "canary" not in f"{settings!r} {settings.model_dump()} {settings.model_dump_json()}"


def test_cached_tokens_are_part_of_the_prompt_and_cost_their_own_price() -> None:
    prices = Prices(input=2.0, cached=0.5, output=10.0)
    assert prices.cost(Usage(1_000_000, 100_000, 400_000)) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 10.0)


@pytest.mark.parametrize(
    ("prices", "usage"),
    [
        (Prices(input=1.0), Usage(1, 1, 0)),
        (Prices(output=1.0), Usage(1, 1, 0)),
        (Prices(input=1.0, output=1.0), Usage(None, 1, 0)),
        (Prices(input=1.0, output=1.0), Usage(1, None, 0)),
    ],
)
def test_an_unknown_cost_is_not_a_cost_of_zero(prices: Prices, usage: Usage) -> None:
    assert prices.cost(usage) is None


def test_without_a_price_of_their_own_cached_tokens_cost_as_any_other() -> None:
    assert Prices(input=1.0, output=0.0).cost(Usage(1_000_000, 0, 900_000)) == 1.0
