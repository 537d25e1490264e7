"""What was used lately: values by a key up to a number of bytes, the least recently used dropped first."""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

HELD_S = 30.0
"""How long what is kept elsewhere is held here: whoever forgets it there, from another process, has it forgotten here
by then. A reply may be held for this long twice, as its bytes and then as what it was read as."""


class Recent(Generic[K, V]):
    """Values up to a number of bytes, each for at most `held_s` seconds after it was put (None: no limit)."""

    def __init__(self, most_bytes: int, held_s: float | None = None) -> None:
        self._most_bytes = most_bytes
        self._held_s = held_s
        self._held: OrderedDict[K, tuple[V, int, float]] = OrderedDict()
        self._ends: deque[tuple[float, K]] = deque()
        self._bytes = 0

    def get(self, key: K) -> V | None:
        """The value of that key; now it is the one used last."""
        held = self._held.get(key)
        if held is None:
            return None
        self._held.move_to_end(key)
        return held[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Hold a value of so many bytes in place of an earlier one."""
        self.drop(key)
        self._held[key] = value, size, self._end_of(key)
        self._bytes += size
        while self._bytes > self._most_bytes:
            self.drop(next(iter(self._held)))

    def drop(self, key: K) -> None:
        """Forget a value, if it is there."""
        held = self._held.pop(key, None)
        if held is not None:
            self._bytes -= held[1]

    def drop_where(self, is_old: Callable[[V], bool]) -> int:
        """Forget some values; how many these were."""
        old = [key for key, (value, *_) in self._held.items() if is_old(value)]
        for key in old:
            self.drop(key)
        return len(old)

    def _end_of(self, key: K) -> float:
        """When what is put now is forgotten. One timer for all: each value is held equally long, so that they end in
        the order in which they came."""
        if self._held_s is None:
            return math.inf
        loop = asyncio.get_running_loop()
        end = loop.time() + self._held_s
        if not self._ends:
            loop.call_at(end, self._expire)
        self._ends.append((end, key))
        return end

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        while self._ends and self._ends[0][0] <= loop.time():
            end, key = self._ends.popleft()
            held = self._held.get(key)
            if held is not None and held[2] == end:  # else it was put again since
                self.drop(key)
        if self._ends:
            loop.call_at(self._ends[0][0], self._expire)
