"""What was used lately: values by a key up to a number of bytes, the least recently used dropped first."""

import asyncio
from collections import OrderedDict
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
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
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
        self._held[key] = held = value, size
        self._bytes += size
        while self._bytes > self._most_bytes:
            self.drop(next(iter(self._held)))
        if self._held_s is not None and key in self._held:
            asyncio.get_running_loop().call_later(self._held_s, self._expire, key, held)

    def drop(self, key: K) -> None:
        """Forget a value, if it is there."""
        held = self._held.pop(key, None)
        if held is not None:
            self._bytes -= held[1]

    def drop_where(self, is_old: Callable[[V], bool]) -> int:
        """Forget some values; how many these were."""
        old = [key for key, (value, _) in self._held.items() if is_old(value)]
        for key in old:
            self.drop(key)
        return len(old)

    def _expire(self, key: K, held: tuple[V, int]) -> None:
        if self._held.get(key) is held:
            self.drop(key)
