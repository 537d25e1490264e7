"""Curves from ranks to values, against method.md's worked numbers and exact decimals."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchor.ordinal import DEFAULT_MAPS, RANKS, Curve, Maps
from domains.errors import BadInput

parameters = st.tuples(
    st.floats(0.0, 0.45),
    st.floats(0.55, 1.0),
    st.floats(-30.0, 30.0),
    st.floats(0.01, 60.0),
)


def exact_values(curve: Curve) -> list[Decimal]:
    """v_k to 60 digits, by the paper's formula as it is written."""
    low, high, a, b = (Decimal(number) for number in (curve.low, curve.high, curve.a, curve.b))
    return [low + (high - low) / (1 + (-(a + b * rank / 6)).exp()) for rank in range(RANKS)]


def test_the_default_evidence_curve_has_the_published_values() -> None:
    expected = [0.0276264858, 0.0736697857, 0.2144363568, 0.5, 0.7855636432, 0.9263302143, 0.9723735142]
    np.testing.assert_allclose(DEFAULT_MAPS.evidence.values(), expected, rtol=0, atol=1e-10)


def test_the_default_context_curve_has_the_published_values() -> None:
    expected = [0.0171696028, 0.0594072830, 0.1885390661, 0.4505, 0.7124609339, 0.8415927170, 0.8838303972]
    np.testing.assert_allclose(DEFAULT_MAPS.context.values(), expected, rtol=0, atol=1e-10)


def test_the_default_leak_and_temperature() -> None:
    assert (DEFAULT_MAPS.leak, DEFAULT_MAPS.temperature) == (0.02, 1.0)


@given(parameters)
def test_logs_of_values_and_complements_are_exact_even_where_the_curve_is_flat(
    parameters: tuple[float, float, float, float],
) -> None:
    curve = Curve(*parameters)
    with localcontext(prec=60):
        values = exact_values(curve)
        log_values = [float(value.ln()) for value in values]
        log_complements = [float((1 - value).ln()) for value in values]
    np.testing.assert_allclose(curve.log_values(), log_values, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(curve.log_complements(), log_complements, rtol=1e-13, atol=1e-13)


@given(parameters)
def test_values_rise_with_the_rank_and_stay_between_low_and_high(
    parameters: tuple[float, float, float, float],
) -> None:
    curve = Curve(*parameters)
    values = curve.values()
    assert np.all(np.diff(values) >= -1e-15)
    assert np.all((values >= curve.low - 1e-15) & (values <= curve.high + 1e-15))


def test_values_of_the_default_rise_strictly() -> None:
    for curve in (DEFAULT_MAPS.evidence, DEFAULT_MAPS.context):
        values = curve.values()
        assert curve.low < values[0]
        assert np.all(np.diff(values) > 0)
        assert values[-1] < curve.high


def test_a_curve_that_touches_0_and_1_still_has_finite_logs() -> None:
    curve = Curve(low=0.0, high=1.0, a=-400.0, b=1600.0)
    assert np.all(np.isfinite(curve.log_values()))
    assert np.all(np.isfinite(curve.log_complements()))


@pytest.mark.parametrize(
    "parameters",
    [
        (0.01, 0.99, -4.0, 0.0),
        (0.01, 0.99, -4.0, -8.0),
        (0.01, 0.99, -4.0, float("nan")),
        (0.01, 0.99, float("inf"), 8.0),
        (0.01, 0.99, -4.0, float("inf")),
        (0.5, 0.5, -4.0, 8.0),
        (-0.1, 0.9, -4.0, 8.0),
        (0.1, 1.1, -4.0, 8.0),
        (float("nan"), 0.9, -4.0, 8.0),
    ],
)
def test_a_curve_that_is_none_is_refused(parameters: tuple[float, float, float, float]) -> None:
    with pytest.raises(BadInput):
        Curve(*parameters)


@pytest.mark.parametrize("leak", [0.0, 1.0, -0.1, float("nan")])
def test_a_leak_outside_0_to_1_is_refused(leak: float) -> None:
    with pytest.raises(BadInput, match="leak"):
        Maps(DEFAULT_MAPS.evidence, DEFAULT_MAPS.context, leak)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("inf"), float("nan")])
def test_a_temperature_that_is_not_positive_and_finite_is_refused(temperature: float) -> None:
    with pytest.raises(BadInput, match="temperature"):
        Maps(DEFAULT_MAPS.evidence, DEFAULT_MAPS.context, 0.02, temperature)
