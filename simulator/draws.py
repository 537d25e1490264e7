"""Random draws that belong to names: the same names give the same draw, whatever was drawn before or beside it.

A draw is keyed by a row (a case, an agent, a sample) and a column (a label, a finding), each a 64-bit hash of its
names. The two are mixed by SplitMix64's finaliser (Steele, Lea & Flood 2014), which is a bijection on 64 bits, so that
a table of draws is one array expression and yet each cell knows nothing of the others.
"""

import hashlib
import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from domains.simplex import Array

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_UNIT = 2.0**-53


def key(*names: object) -> int:
    """The 64-bit key of a list of names (strings, numbers, lists of these)."""
    content = json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def keys(purpose: str, names: Iterable[object]) -> Keys:
    """One key for each name."""
    return np.array([key(purpose, name) for name in names], dtype=np.uint64)


def uniform(row: Keys, column: Keys) -> Array:
    """Uniform draws in (0, 1), for broadcastable arrays of keys. The broadcast shape."""
    return (_mix(_mix(row) + column) >> np.uint64(11)).astype(np.float64) * _UNIT + 0.5 * _UNIT


def normal(row: Keys, column: Keys) -> Array:
    """Standard normal draws (Box–Muller), for broadcastable arrays of keys. The broadcast shape."""
    radius = np.sqrt(-2.0 * np.log(uniform(row, column)))
    return radius * np.cos(2.0 * np.pi * uniform(row ^ _GOLDEN, column))


def _mix(state: Keys) -> Keys:
    """SplitMix64's step and finaliser, modulo 2^64."""
    state = state + _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
