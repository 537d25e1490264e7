"""The divergence against SciPy's, on a million pairs."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import jensenshannon

from domains.simplex import jensen_shannon, normalise

PAIRS, CHUNK, LABELS = 1_000_000, 50_000, 6


def test_the_divergence_is_the_square_of_scipy_s_distance() -> None:
    generator = np.random.default_rng(1)
    for _ in range(PAIRS // CHUNK):
        weight = generator.exponential(size=(2, CHUNK, LABELS)) ** 3
        weight[..., 1:] *= generator.random((2, CHUNK, LABELS - 1)) < 0.6  # zeros, also where the other has mass
        weight[1, ::10] = weight[0, ::10]  # equal pairs
        p, q = normalise(weight)
        with np.errstate(invalid="ignore"):  # SciPy takes the root of rounding errors below 0
            distance = np.nan_to_num(jensenshannon(p, q, axis=-1), nan=0.0)
        assert_allclose(jensen_shannon(p, q), distance**2, rtol=0, atol=1e-12)
