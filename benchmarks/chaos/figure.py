"""One judged figure."""

from typing import NamedTuple


class Figure(NamedTuple):
    """What was measured under a name, the bar it is held to, and whether it passed."""

    name: str
    bar: str
    measured: str
    passed: bool
