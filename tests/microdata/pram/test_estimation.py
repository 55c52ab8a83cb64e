"""Back-estimation: exact on expectations, unbiased on draws, with errors that are those seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.microdata.pram.estimation import back_estimate

NINE = np.array([[0.9, 0.1], [0.1, 0.9]])
THREE = np.array([[0.7, 0.2, 0.1], [0.15, 0.8, 0.05], [0.3, 0.3, 0.4]])


def test_the_vector_of_methods_md() -> None:
    # methods.md 8.4: from 108/92 back to 110/90.
    estimate, _ = back_estimate(np.array([108, 92]), {0: NINE})
    assert estimate.tolist() == [110.0, 90.0]


def test_tables_by_one_or_two_changed_variables_come_back_exactly() -> None:
    truth = np.array([[40.0, 10.0], [25.0, 5.0], [3.0, 17.0]])
    one, _ = back_estimate(THREE.T @ truth, {0: THREE})
    both, _ = back_estimate(THREE.T @ truth @ NINE, {0: THREE, 1: NINE})
    assert one.tolist() == both.tolist() == truth.tolist()


def test_standard_errors_are_those_of_repeated_draws() -> None:
    truth = np.array([[400, 100], [250, 50], [30, 170]])
    draw = np.random.default_rng(5)
    joint = np.einsum("ik,jl->ijkl", THREE, NINE)
    estimates, variances = [], []
    for _ in range(4000):
        drawn = np.zeros((3, 2))
        for at in np.ndindex(truth.shape):
            drawn += draw.multinomial(truth[at], joint[at].ravel()).reshape(3, 2)
        estimate, error = back_estimate(drawn, {0: THREE, 1: NINE})
        estimates.append(estimate)
        variances.append(error**2)
    spread = np.std(estimates, axis=0)
    assert (abs(np.mean(estimates, axis=0) - truth) < 5 * spread / np.sqrt(4000)).all()
    ratio = np.sqrt(np.mean(variances, axis=0)) / spread
    # A standard deviation from 4,000 draws is known to about 1.1 %; a miss of 10 % is seen.
    assert (abs(ratio - 1) < 0.06).all()


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.5, 0.5], [0.5, 0.5]],
        [[0.5, 0.5], [0.4999999, 0.5000001]],
        [[1.0, 0.0], [1.0, 0.0]],
    ],
)
def test_singular_and_nearly_singular_matrices_are_refused(matrix: Any) -> None:
    with pytest.raises(SpecError, match="singular, or nearly so"):
        back_estimate(np.array([10, 20]), {0: np.array(matrix)})


def test_a_matrix_of_another_size_is_refused() -> None:
    with pytest.raises(SpecError, match="3 codes, and axis 1 of the table 2"):
        back_estimate(np.array([10, 20]), {0: THREE})
