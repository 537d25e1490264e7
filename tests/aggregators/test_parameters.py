import math

import pytest

from aggregators import Parameters
from domains.errors import BadInput


@pytest.mark.parametrize("tau", [-1.0, math.inf, math.nan])
def test_tau_must_be_finite_and_not_negative(tau: float) -> None:
    with pytest.raises(BadInput) as refused:
        Parameters(tau=tau)
    assert [fault.where for fault in refused.value.faults] == ["params.tau"]


@pytest.mark.parametrize("w_r", [-0.1, 1.1, math.nan])
def test_the_anchor_s_share_must_lie_between_0_and_1(w_r: float) -> None:
    with pytest.raises(BadInput) as refused:
        Parameters(w_r=w_r)
    assert [fault.where for fault in refused.value.faults] == ["params.w_r"]


def test_both_faults_are_told_at_once() -> None:
    with pytest.raises(BadInput) as refused:
        Parameters(tau=-1, w_r=2)
    assert len(refused.value.faults) == 2


def test_the_defaults_are_the_paper_s() -> None:
    assert (Parameters().tau, Parameters().w_r) == (5.0, 0.2)
