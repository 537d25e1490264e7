"""Which of the processes that serve together this one is (`crosspath serve --workers`)."""

from typing import NamedTuple


class Worker(NamedTuple):
    """Number `number` of `of` workers, from 0; one that serves alone is no worker."""

    number: int
    of: int

    @property
    def name(self) -> str:
        """As metrics call it; empty where there is only one."""
        return str(self.number) if self.of > 1 else ""


ALONE = Worker(0, 1)
