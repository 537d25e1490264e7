"""How much may be asked of one backbone at a time, and per minute.

A gate in each process (`gate.py`: who is next) before rates (`rates.py`: whether there is room), which are counted in
this process (`local.py`) or, over all processes, in Redis (`shared.py`). `forecast.py` says what a request will take.
"""

import structlog

from agents.breaker import Breaker, State
from agents.endpoint import BackboneSettings
from agents.lane import Lane
from agents.limits.forecast import Forecast
from agents.limits.gate import OUTAGE, Limits
from agents.limits.local import LocalRates
from agents.limits.rates import Declared, Rates
from agents.limits.shared import SharedRates
from agents.limits.turn import Slot
from agents.observer import NOBODY, Observer
from agents.redis_client import RedisServer
from domains.case import digest

__all__ = ["Declared", "Forecast", "Lane", "Limits", "LocalRates", "Rates", "SharedRates", "Slot", "open_limits"]


_log = structlog.get_logger(__name__)


def open_limits(
    name: str,
    settings: BackboneSettings,
    redis: RedisServer | None = None,
    observer: Observer = NOBODY,
    processes: int = 1,
) -> Limits:
    """The limits that a backbone declares: over all processes where there is a Redis, else of this process alone, which
    takes its part where it is one of several. Whether its server is down each process finds out for itself. The caller
    closes them."""

    down = False

    def changed(state: State) -> None:
        nonlocal down
        if down == (state == "closed"):  # a line when an outage begins, one when it ends, none for each probe
            down = not down
            _log.warning("backbone_down" if down else "backbone_up", backbone=name)
        observer.breaker(name, state)

    declared = Declared(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
    rates = _rates(name, settings, declared if redis else declared.share(processes), redis)
    return Limits(rates, breaker=Breaker(OUTAGE, changed=changed))


def _rates(name: str, settings: BackboneSettings, declared: Declared, redis: RedisServer | None) -> Rates:
    if redis is None:
        return LocalRates(declared)
    return SharedRates(redis, digest({"name": name, "endpoint": settings.url, "model": settings.model})[:16], declared)
