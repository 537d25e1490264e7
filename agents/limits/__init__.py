"""How much may be asked of one backbone at a time, and per minute.

A gate in each process (`gate.py`: who is next) before rates (`rates.py`: whether there is room), which are counted in
this process (`local.py`) or, over all processes, in Redis (`shared.py`). `forecast.py` says what a request will take.
"""

from agents.endpoint import BackboneSettings
from agents.limits.forecast import Forecast
from agents.limits.gate import Lane, Limits, Slot
from agents.limits.local import LocalRates
from agents.limits.rates import Declared, Rates
from agents.limits.shared import SharedRates
from domains.case import digest

__all__ = ["Declared", "Forecast", "Lane", "Limits", "LocalRates", "Rates", "SharedRates", "Slot", "open_limits"]


def open_limits(name: str, settings: BackboneSettings, redis_url: str | None = None) -> Limits:
    """The limits that a backbone declares: over all processes where a Redis is named, else of this process alone.
    The caller closes them."""
    declared = Declared(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
    if redis_url is None:
        return Limits(LocalRates(declared))
    key = digest({"name": name, "endpoint": settings.url, "model": settings.model})[:16]
    return Limits(SharedRates(redis_url, key, declared))
