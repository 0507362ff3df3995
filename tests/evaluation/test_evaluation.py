from __future__ import annotations

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import CodedEmbedding, InputError, Vectors, evaluate
from lexicode.evaluation.neighbours import nearest_rows, nearest_words, neighbours_kept
from lexicode.evaluation.reconstruction import reconstruction
from lexicode.lengths import normalized


def noisy_copy(coded: CodedEmbedding, noise: float) -> Vectors:
    table = coded.decode()
    return Vectors(table + np.random.default_rng(3).normal(size=table.shape) * noise, coded.words)


def test_measures_are_those_of_the_definition() -> None:
    coded = random_coded("4x16", rows=300, dim=7)
    vectors = noisy_copy(coded, 0.5)
    x, y = vectors.matrix.astype(np.float64), coded.decode().astype(np.float64)
    measured = reconstruction(vectors, coded)
    distances = np.linalg.norm(x - y, axis=1)
    assert measured.loss == pytest.approx(np.mean(distances**2), rel=1e-5)
    assert measured.mean_distance == pytest.approx(distances.mean(), rel=1e-5)
    cosines = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    assert measured.mean_cosine == pytest.approx(cosines.mean(), rel=1e-5)
    U, V = np.linalg.svd(x, full_matrices=False)[0], np.linalg.svd(y, full_matrices=False)[0]
    assert measured.eigenspace_overlap == pytest.approx(np.square(U.T @ V).sum() / 7, rel=1e-4)


def test_a_perfect_copy_measures_perfect() -> None:
    coded = random_coded("4x16", rows=100, dim=5, dtype="float32")
    measured = evaluate(Vectors(coded.decode(), coded.words), coded)
    assert measured.loss == 0
    assert measured.mean_cosine == pytest.approx(1)
    assert measured.neighbours_at_10 == 1
    assert measured.eigenspace_overlap == pytest.approx(1)


def test_zeros_and_lost_dimensions() -> None:
    coded = random_coded("1x2", rows=50, dim=4)
    vectors = Vectors(np.zeros((50, 4)), coded.words)
    measured = reconstruction(vectors, coded)
    assert measured.mean_cosine == 0
    assert 0 <= measured.eigenspace_overlap <= 1


def test_sizes_add_up(tmp_path: pytest.TempPathFactory) -> None:
    coded = random_coded("4x16", rows=100, dim=5)
    path = tmp_path / "t"  # type: ignore[operator]
    coded.save(path)
    measured = evaluate(noisy_copy(coded, 0.1), CodedEmbedding.load(path))
    sizes = measured.bytes
    assert set(sizes) == {"codes", "codebooks", "words", "exact", "file", "original"}
    assert sizes["file"] == path.stat().st_size
    assert sizes["codes"] == 100 * 2
    assert sizes["codebooks"] == 4 * 16 * 5 * 2
    assert sizes["original"] == 100 * 5 * 4 + len(coded.words.text)  # type: ignore[union-attr]
    assert measured.ratio == sizes["original"] / sizes["file"]


def test_neighbours_are_those_of_brute_force() -> None:
    table = np.random.default_rng(0).normal(size=(500, 6)).astype(np.float32)
    units = normalized(table)
    rows = np.array([3, 77, 499])
    cosines = units[rows] @ units.T
    cosines[np.arange(3), rows] = -np.inf
    expected = np.argsort(-cosines, axis=1)[:, :10]
    blocks = [(at, table[at : at + 64]) for at in range(0, 500, 64)]
    found = nearest_rows(blocks, units[rows], rows, 10)
    assert [set(a) for a in found.tolist()] == [set(b) for b in expected.tolist()]


def test_noise_loses_neighbours() -> None:
    coded = random_coded("4x16", rows=400, dim=6)
    kept = [neighbours_kept(noisy_copy(coded, noise), coded) for noise in (0.0, 0.3, 3.0)]
    assert kept[0] == 1
    assert kept[0] > kept[1] > kept[2]
    assert neighbours_kept(Vectors(np.ones((1, 3))), random_coded("1x2", rows=1, dim=3)) == 1


def test_nearest_words_come_nearest_first() -> None:
    vectors = Vectors(np.array([[1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1.0]]), ["a", "b", "c", "d"])
    assert nearest_words(vectors, "a", 3) == ["b", "c", "d"]
    with pytest.raises(InputError, match="without words"):
        nearest_words(Vectors(np.ones((2, 2))), "a", 1)


def test_other_tables_are_not_compared() -> None:
    coded = random_coded("4x16", rows=10, dim=5)
    with pytest.raises(InputError, match=r"the vectors are 9 x 5, the coded embedding is 10 x 5: not the same table"):
        evaluate(Vectors(coded.decode()[:9]), coded)
    with pytest.raises(InputError, match=r"row 2 is 'other' in the vectors and 'w2' in the coded embedding"):
        evaluate(Vectors(coded.decode(), ["w0", "w1", "other", *(f"w{i}" for i in range(3, 10))]), coded)
