"""Numbers as a reader sees them. Rounded here and nowhere before."""

from evaluation.intervals import Interval
from evaluation.tables import Unit

NONE = "–"
"""What stands where there is no number."""
_MINUS = "\u2212"


def value_text(value: float | None, unit: Unit) -> str:
    """A table's value: shares of right decisions in percent, gains in percentage points, the rest as in the paper."""
    if value is None:
        return NONE
    if unit == "accuracy":
        return f"{100 * value:.2f}"
    return points_text(value, 2) if unit == "gain" else _signed(f"{value:.3f}")


def percent_text(value: float | None, digits: int = 1) -> str:
    return NONE if value is None else f"{100 * value:.{digits}f} %"


def points_text(value: float, digits: int = 1) -> str:
    """A difference in percentage points, always with its sign."""
    return _signed(f"{round(100 * value, digits) + 0.0:+.{digits}f}")


def interval_text(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    if signed:
        return f"{points_text(interval.low)} to {points_text(interval.high)}"
    return f"{100 * interval.low:.1f}–{100 * interval.high:.1f}"


def p_text(p: float | None) -> str:
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def count_text(count: float | None) -> str:
    """A count; one that is a mean over ties has its fraction."""
    if count is None:
        return NONE
    return f"{int(count):,}" if float(count).is_integer() else f"{count:,.1f}"


def _signed(text: str) -> str:
    return text.replace("-", _MINUS)
