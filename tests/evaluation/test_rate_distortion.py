from __future__ import annotations

import numpy as np
import pytest

from lexicode import InputError, SettingError, Vectors
from lexicode.evaluation.rate_distortion import covariance, gaussian_distortion


def random_covariance(dim: int, seed: int = 0) -> np.ndarray:
    factor = np.random.default_rng(seed).normal(size=(dim, dim)) * np.geomspace(3, 0.01, dim)
    return factor @ factor.T


def water_level_distortion(variances: np.ndarray, bits: float) -> float:
    """The slow truth: the water level is searched for by halving, and errors are read off it."""
    low, high = 0.0, float(variances.max())
    for _ in range(200):
        level = (low + high) / 2
        rate = np.log2(variances / np.minimum(variances, level)).sum() / 2
        low, high = (level, high) if rate > bits else (low, level)
    return float(np.minimum(variances, high).sum())


def test_the_curve_is_that_of_the_water_level() -> None:
    matrix = random_covariance(12)
    variances = np.linalg.eigvalsh(matrix)
    for bits in (0.5, 3, 10, 40, 200):
        assert gaussian_distortion(matrix, bits) == pytest.approx(water_level_distortion(variances, bits), rel=1e-6)


def test_no_bits_leave_the_variance_and_more_bits_leave_less() -> None:
    matrix = random_covariance(7)
    losses = gaussian_distortion(matrix, np.arange(0, 100))
    assert losses[0] == pytest.approx(np.trace(matrix))
    assert (np.diff(losses) < 0).all()


def test_equal_variances_lose_six_decibels_a_bit() -> None:
    assert gaussian_distortion(np.eye(4) * 2, 4 * 3) == pytest.approx(4 * 2 / 2 ** (2 * 3))


def test_bits_of_any_shape_and_directions_without_variance() -> None:
    matrix = np.diag([4.0, 0.0, 0.0])
    assert gaussian_distortion(matrix, [[0, 1], [2, 3]]).tolist() == [[4, 1], [0.25, 0.0625]]
    assert gaussian_distortion(np.zeros((3, 3)), [0, 5]).tolist() == [0, 0]


def test_the_covariance_is_numpy_s_also_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(20_000, 5)) @ rng.normal(size=(5, 5)) + 1000).astype(np.float32)
    assert np.allclose(covariance(Vectors(matrix)), np.cov(matrix.T.astype(np.float64), bias=True), rtol=1e-6)


def test_what_is_refused() -> None:
    with pytest.raises(SettingError, match=r"bits=-1\.0 is below zero"):
        gaussian_distortion(np.eye(2), -1)
    with pytest.raises(InputError, match=r"a covariance of shape \(2, 3\); a square matrix"):
        gaussian_distortion(np.ones((2, 3)), 1)
