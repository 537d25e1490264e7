"""What filling a table will take and how it is getting on, for people."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from agents.purse import Purse
from app.elicitation.fill import Answered, Forecast, Need
from app.runs.progress import Pace, dollars, duration

SAMPLED = 4
"""Questions after which it is said what the others will take."""


def forecast_lines(need: Need, forecast: Forecast) -> list[str]:
    """What is lacking, and what it will take, roughly, one thing a line."""
    return [
        f"pairs: {need.pairs:,}, {need.full:,} of them full",
        f"ranks to ask for: {need.ranks:,}",
        f"calls: {forecast.calls:,}",
        f"tokens: roughly {forecast.prompt_tokens:,} prompt and {forecast.completion_tokens:,} completion",
        f"cost: roughly {dollars(forecast.usd)}, at most {dollars(forecast.most_usd)}",
    ]


class CallPace(Pace):
    """Questions of a fill that are done and failed; the rate of the latest, the time left, and what was spent."""

    def __init__(self, need: Need, purse: Purse) -> None:
        super().__init__(len(need.blocks), Counter(), purse)
        self._ranks, self._rated = need.ranks, 0
        self._first: list[Answered] = []

    def answered(self, answered: Answered) -> str:
        """One more question is done. After the first few, what the others will take; else nothing."""
        self.count("ok" if answered.rated else "failed")
        self._rated += answered.rated
        if len(self._first) >= SAMPLED:
            return ""
        self._first.append(answered)
        return self._still() if len(self._first) == SAMPLED < self._total else ""

    def line(self) -> str:
        """See `Pace`."""
        rate, left = self.rate(), self._total - self._outcomes.total()
        of = "" if self._purse.budget_usd is None else f" of {dollars(self._purse.budget_usd)}"
        parts = [
            f"{self._rated:,} of {self._ranks:,} ranks",
            f"{self._outcomes.total():,} of {self._total:,} calls",
            f"{self._outcomes['failed']} failed",
            f"{rate:.1f} calls/s" if rate else "",
            f"{duration(left / rate)} left" if rate and left else "",
            f"spent {dollars(self._purse.spent_usd)}{of}",
        ]
        return " · ".join(part for part in parts if part)

    def _still(self) -> str:
        left = self._total - self._outcomes.total()
        prompt = _scaled([answered.usage.prompt for answered in self._first], left)
        completion = _scaled([answered.usage.completion for answered in self._first], left)
        return f"still to be done: {left:,} calls, {prompt} prompt and {completion} completion tokens"


def _scaled(parts: Sequence[Any], calls: int) -> str:
    if any(part is None for part in parts):
        return "an unknown number of"
    return f"about {round(sum(parts) / len(parts) * calls):,}"
