"""The two lanes in which requests queue."""

from typing import Literal

Lane = Literal["interactive", "batch"]
