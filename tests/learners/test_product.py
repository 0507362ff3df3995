from __future__ import annotations

import numpy as np
import pytest

from lexicode import CodedEmbedding, ProductLearner, SettingError, Vectors, evaluate
from lexicode.learners.kmeans import kmeans
from lexicode.learners.product import column_parts


def test_kmeans_finds_clusters_that_are_there() -> None:
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [10, 0], [0, 10], [10, 10]], dtype=np.float32)
    points = (centers[rng.integers(4, size=400)] + rng.normal(size=(400, 2)) * 0.1).astype(np.float32)
    # Any one start may join two clusters; the best of ten must not.
    best = min(
        (kmeans(points, 4, np.random.default_rng(seed)) for seed in range(10)), key=lambda found: spread(points, found)
    )
    assert spread(points, best) < 0.05


def spread(points: np.ndarray, centers: np.ndarray) -> float:
    return float(np.square(points[:, None] - centers[None]).sum(axis=2).min(axis=1).mean())


def test_kmeans_lowers_the_spread_and_keeps_every_center_busy() -> None:
    points = np.random.default_rng(1).normal(size=(500, 3)).astype(np.float32)
    start = kmeans(points, 16, np.random.default_rng(2), iterations=0)
    centers = kmeans(points, 16, np.random.default_rng(2))
    assert spread(points, centers) < 0.9 * spread(points, start)
    used = np.unique(np.square(points[:, None] - centers[None]).sum(axis=2).argmin(axis=1))
    assert len(used) == 16


def test_columns_are_shared_out_evenly() -> None:
    assert column_parts(10, 3) == [slice(0, 4), slice(4, 7), slice(7, 10)]
    assert column_parts(4, 4) == [slice(i, i + 1) for i in range(4)]
    with pytest.raises(SettingError, match="5 codebooks cannot share 4 columns"):
        column_parts(4, 5)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("scheme", ["3x16", "10x4", "1x64"])
def test_codes_are_the_nearest_and_the_file_keeps_them(
    clustered: Vectors, scheme: str, normalized: bool, tmp_path: pytest.TempPathFactory
) -> None:
    learner = ProductLearner(scheme, normalized=normalized, seed=3)
    coded = learner.fit(clustered)
    path = tmp_path / "table.safetensors"  # type: ignore[operator]
    coded.save(path)
    loaded = CodedEmbedding.load(path)
    measured = evaluate(clustered, loaded)
    assert measured.loss == pytest.approx(learner.curve[-1], rel=1e-4)
    assert measured.loss < np.square(clustered.matrix - clustered.matrix.mean(axis=0)).sum(axis=1).mean()
    assert np.array_equal(loaded.encode(clustered.matrix), loaded.codes())
    if normalized:
        assert loaded.norms is not None
        lengths = np.linalg.norm(clustered.matrix, axis=1)
        assert loaded.norm_levels is not None
        assert np.abs(loaded.norm_levels[loaded.norms] - lengths).max() < 0.5


def test_same_seed_same_bytes(clustered: Vectors, tmp_path: pytest.TempPathFactory) -> None:
    paths = [tmp_path / f"{threads}" for threads in (1, 2, 5)]  # type: ignore[operator]
    for path, threads in zip(paths, (1, 2, 5), strict=True):
        ProductLearner("5x8", seed=4, threads=threads).fit(clustered).save(path)
    assert len({path.read_bytes() for path in paths}) == 1
