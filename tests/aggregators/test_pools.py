import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import gmean

from aggregators import DEFAULTS
from aggregators.pools import log_pool, mean_pool
from domains.simplex import normalise
from tests.laws.panels import random_panel


def test_the_log_pool_is_the_geometric_mean_of_the_floored_posteriors() -> None:
    panel = random_panel(31, coarse=True, cases=50)
    share_NL = log_pool(panel, DEFAULTS)
    for case in range(len(panel)):
        floored_KL = np.maximum(panel.forward_NKL[case][panel.usable_NK[case]], 1e-6)
        expected_L = np.where(panel.shortlist_NL[case], gmean(floored_KL, axis=0), 0.0)
        assert_allclose(share_NL[case], normalise(expected_L), atol=1e-12)


def test_range_scores_are_the_mean_s() -> None:
    panel = random_panel(32, coarse=True)
    assert_allclose(mean_pool(panel, DEFAULTS) * panel.usable_N[:, None], panel.forward_NKL.sum(axis=1), atol=1e-12)
