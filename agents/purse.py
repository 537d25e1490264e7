"""Money for requests: reserved before one is sent, settled when what it took is known. Never overspent."""

import asyncio
import math
from collections import deque
from dataclasses import dataclass, field

from agents.deadline import Deadline
from agents.endpoint import Prices
from agents.replies import Usage
from domains.errors import AskFailed

PICO = 10**12
"""Money is counted in whole picodollars, a price of $0.000001 a million tokens: sums of floats drift."""
MOST_USD = 1e9
"""No budget is larger; one that is written larger is a slip."""
BEFORE_DEADLINE_S = 0.01


@dataclass(slots=True)
class Payment:
    """What one request costs, in dollars: 0 as long as it was not sent, None (unknown) once it was, and what it took
    once that is known. What stays unknown is charged as the worst that it can cost."""

    due_usd: float | None = 0.0


@dataclass(slots=True, eq=False)
class _Waiter:
    worst: int
    granted: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Purse:
    """The money of one run. Without a budget it only counts.

    Every request reserves the most that it can cost, so what was spent and what is reserved never exceed the budget,
    however many are under way. One whose money is only held by others waits for these; one that could not be paid even
    if the others cost nothing is refused, and so is everything that waits behind it.
    """

    def __init__(self, budget_usd: float | None = None, spent_usd: float = 0.0) -> None:
        self.budget_usd = budget_usd
        self._budget = None if budget_usd is None else math.floor(round(budget_usd * PICO, 3))
        self._spent = _pico(spent_usd)
        self._reserved = 0
        self._unknown = False
        self._refused = 0
        self._waiters: deque[_Waiter] = deque()

    @property
    def spent_usd(self) -> float | None:
        """Dollars spent, those of earlier parts of the run included; None if a request had no known price."""
        return None if self._unknown else self._spent / PICO

    @property
    def reserved_usd(self) -> float:
        """Dollars held by requests under way."""
        return self._reserved / PICO

    @property
    def left_usd(self) -> float | None:
        """Dollars that nobody has spent or holds; None without a budget."""
        return None if self._budget is None else (self._budget - self._spent - self._reserved) / PICO

    @property
    def exhausted(self) -> bool:
        """Whether a request was refused."""
        return self._refused > 0

    def paying(self, worst_usd: float | None, deadline: Deadline) -> "Paying":
        """Hold the worst that one request can cost while the body of an `async with` has it under way.

        Raises:
            AskFailed: `budget`: there is not so much left, or it is held by others until the deadline; nothing was
                sent. Also where there is a budget and the price is unknown (`worst_usd` is None).
        """
        return Paying(self, worst_usd, deadline)

    async def reserve(self, worst_usd: float | None, deadline: Deadline) -> int:
        """Picodollars held for a request that can cost so much; `settle` gives them back."""
        if self._budget is None:
            return 0
        if worst_usd is None:
            self._refused += 1
            raise AskFailed("budget", "there is a budget, and the prices of this backbone are not known")
        waiter = _Waiter(_pico(worst_usd))
        self._waiters.append(waiter)
        self._serve()
        try:
            # A little before the deadline: the money is what is short, and not the time.
            async with asyncio.timeout_at(deadline.at - BEFORE_DEADLINE_S):
                await waiter.granted
        except TimeoutError:
            self._give_up(waiter)
            self._refused += 1
            raise AskFailed("budget", "what is left of the budget is held by requests under way") from None
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise
        return waiter.worst

    def settle(self, worst: int, worst_usd: float | None, payment: Payment) -> None:
        """A request is over, for which `worst` picodollars were reserved."""
        self._reserved -= worst
        due_usd = worst_usd if payment.due_usd is None else payment.due_usd
        if due_usd is None:
            self._unknown = True
        else:
            self._spent += _pico(due_usd)
        self._serve()

    def _give_up(self, waiter: _Waiter) -> None:
        """Whoever was cancelled just as the money was granted gives it back."""
        granted = waiter.granted
        if granted.done() and not granted.cancelled() and granted.exception() is None:
            self._reserved -= waiter.worst
        self._serve()

    def _serve(self) -> None:
        """Grant or refuse whoever waits, first come first served."""
        while self._waiters and self._budget is not None:
            waiter = self._waiters[0]
            left = self._budget - self._spent
            if left - self._reserved < waiter.worst <= left and not waiter.granted.done():
                return
            self._waiters.popleft()
            if waiter.granted.done():
                continue
            if waiter.worst <= left:
                self._reserved += waiter.worst
                waiter.granted.set_result(None)
            else:
                self._refused += 1
                waiter.granted.set_exception(
                    AskFailed("budget", "what is left of the budget does not pay for another request")
                )


class Paying:
    """Money as it is held for one request."""

    __slots__ = ("_deadline", "_payment", "_purse", "_worst", "_worst_usd")

    def __init__(self, purse: Purse, worst_usd: float | None, deadline: Deadline) -> None:
        self._purse, self._worst_usd, self._deadline = purse, worst_usd, deadline

    async def __aenter__(self) -> Payment:
        self._worst = await self._purse.reserve(self._worst_usd, self._deadline)
        self._payment = Payment()
        return self._payment

    async def __aexit__(self, *_: object) -> None:
        self._purse.settle(self._worst, self._worst_usd, self._payment)


def closed_purse() -> Purse:
    """One that pays for nothing, not even for what is free: only replies that are kept already can be had."""
    return Purse(budget_usd=-1.0)


def worst_cost(prices: Prices | None, body_bytes: int, max_output_tokens: int) -> float | None:
    """The most that a request can cost, in dollars; None if a price is unknown.

    A token is at least one byte of what is sent, the roles and the schema included, and a reply is cut off at the
    longest that was asked for.
    """
    if prices is None:
        return None
    return prices.cost(Usage(body_bytes, max_output_tokens, 0))


def _pico(dollars: float) -> int:
    """Whole picodollars, rounded up: what was reserved must always be enough."""
    return math.ceil(round(dollars * PICO, 3))
