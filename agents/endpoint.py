"""What is declared of a backbone: an endpoint and a model on it."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator

from agents.replies import Usage

OURS = frozenset(
    {
        "model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "response_format", "seed",
        "stream", "n",
    }
)  # fmt: skip
"""Members of a request that are not for `extra_body` to set."""

Price = Annotated[float | None, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
"""At most a dollar a token: what is more is a slip."""


class Prices(BaseModel):
    """US dollars per million tokens; None is unknown, which is not 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Price = None
    cached: Price = None
    output: Price = None

    def cost(self, usage: Usage) -> float | None:
        """What this usage costs, in dollars; None if a price or a count that it needs is unknown.

        Without a price or a count of cached tokens, these are priced as any other input, which is never less.
        """
        if self.input is None or self.output is None or usage.prompt is None or usage.completion is None:
            return None
        cached = usage.cached if usage.cached is not None and self.cached is not None else 0
        fresh = usage.prompt - cached
        return (fresh * self.input + cached * (self.cached or 0.0) + usage.completion * self.output) / 1e6


def _as_base_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not an http or https URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("a base URL has no credentials, query or fragment; a key is named by api_key_env")
    return url.rstrip("/")


def _as_header(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not text or not text.isascii() or not text.isprintable():
        raise ValueError("not a key: it must be printable ASCII")
    return SecretStr(text)


class BackboneSettings(BaseModel):
    """One endpoint and one model on it, as declared in the settings; never from a request.

    `warm_prefix`: of a case's agents one is asked first and the others when it has answered, so that a server's prefix
    cache can serve what their prompts share (`agents/prefix.py`); a decision then takes two answers' time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: Annotated[str, AfterValidator(_as_base_url)]
    model: str = Field(min_length=1)
    api_key: Annotated[SecretStr, AfterValidator(_as_header)] | None = None
    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)
    concurrency: int = Field(64, ge=1)
    structured: Literal["auto", "json_schema", "json_object", "prompt"] = "auto"
    prices: Prices | None = None
    max_output_tokens: int = Field(4096, ge=1)
    attempt_timeout_s: float = Field(120.0, gt=0)
    allow_sampling_deviation: bool = False
    warm_prefix: bool = False
    extra_body: dict[str, Any] = Field(default_factory=dict)

    @field_validator("extra_body")
    @classmethod
    def _without_ours(cls, extra: dict[str, Any]) -> dict[str, Any]:
        taken = sorted(OURS & extra.keys())
        if taken:
            raise ValueError(f"set by the service itself: {', '.join(taken)}")
        return extra

    @property
    def url(self) -> str:
        """Where chats are posted to; also the endpoint in a request's digest."""
        return f"{self.base_url}/chat/completions"
