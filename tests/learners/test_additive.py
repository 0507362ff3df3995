from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexicode import AdditiveLearner, CodedEmbedding, ProductLearner, SettingError, Vectors, evaluate
from lexicode.learners.progress import Progress


def loss(vectors: Vectors, coded: CodedEmbedding) -> float:
    return float(np.square(vectors.matrix.astype(np.float64) - coded.decode()).sum(axis=1).mean())


def test_beats_product_codes_of_the_same_bits(clustered: Vectors) -> None:
    additive = AdditiveLearner("5x16", effort="fast").fit(clustered)
    product = ProductLearner("5x16").fit(clustered)
    assert loss(clustered, additive) < 0.8 * loss(clustered, product)


def test_more_effort_gives_a_lower_loss(clustered: Vectors) -> None:
    losses = [loss(clustered, AdditiveLearner("4x16", effort=effort).fit(clustered)) for effort in ("fast", "balanced")]
    assert losses[1] < losses[0]


def test_the_curve_and_the_progress_tell_the_loss_of_what_is_shipped(clustered: Vectors) -> None:
    seen: list[Progress] = []
    learner = AdditiveLearner("4x8", effort="fast", codebook_dtype="float32")
    coded = learner.fit(clustered, seen.append)
    assert learner.curve[-1] == pytest.approx(loss(clustered, coded), rel=1e-3)
    assert learner.curve[-1] < learner.curve[0]
    assert [progress.stage for progress in seen] == ["learning"] * (len(seen) - 1) + ["encoding"]
    assert seen[-1].loss == pytest.approx(learner.curve[-1])
    assert all(progress.step <= progress.steps for progress in seen)


def test_sums_of_codewords_are_taken_apart() -> None:
    """Rows that are sums of one codeword from each of three codebooks; a valley on the way may keep a little."""
    rng = np.random.default_rng(6)
    books = rng.normal(size=(3, 4, 8)).astype(np.float32)
    codes = rng.integers(4, size=(2000, 3))
    vectors = Vectors(sum(books[m][codes[:, m]] for m in range(3)))
    coded = AdditiveLearner("3x4", effort="balanced", codebook_dtype="float32").fit(vectors)
    assert loss(vectors, coded) < 0.2 * np.square(vectors.matrix - vectors.matrix.mean(axis=0)).sum(axis=1).mean()


@pytest.mark.parametrize("threads", [2, 3])
def test_same_seed_same_bytes_whatever_the_threads(clustered: Vectors, threads: int, tmp_path: Path) -> None:
    for name, count in (("one", 1), ("many", threads)):
        AdditiveLearner("6x8", effort="fast", seed=5, threads=count).fit(clustered).save(tmp_path / name)
    AdditiveLearner("6x8", effort="fast", seed=6).fit(clustered).save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert (tmp_path / "one").read_bytes() != (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("scheme", ["1x2", "16x2", "1x256", "2x1024", "1x4096", "40x4", "256x2"])
def test_every_shape_of_scheme_works(scheme: str) -> None:
    vectors = Vectors(np.random.default_rng(0).normal(size=(300, 6)))
    coded = AdditiveLearner(scheme, effort="fast").fit(vectors)
    assert loss(vectors, coded) < np.square(vectors.matrix - vectors.matrix.mean(axis=0)).sum(axis=1).mean()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
def test_any_float_dtype_works_and_stays_as_it_was(dtype: str) -> None:
    matrix = np.random.default_rng(0).normal(size=(100, 5)).astype(dtype)
    before = matrix.copy()
    coded = AdditiveLearner("4x8", effort="fast").fit(Vectors(matrix))
    assert coded.decode().dtype == np.float32
    assert np.array_equal(matrix, before)


ODD_TABLES = {
    "one column": np.random.default_rng(0).normal(size=(50, 1)),
    "one row": np.array([[1.0, -2.0, 3.0]]),
    "fewer rows than codewords": np.random.default_rng(1).normal(size=(5, 4)),
    "all rows equal": np.full((40, 3), 0.7),
    "all zero": np.zeros((40, 3)),
    "constant columns": np.random.default_rng(2).normal(size=(60, 4)) * [1, 0, 1, 0] + [0, 5, 0, -3],
    "a far offset": np.random.default_rng(3).normal(size=(60, 4)) + 1000,
    "one giant row": np.concatenate([np.random.default_rng(4).normal(size=(60, 4)), [[900.0, 0, 0, 0]]]),
}


@pytest.mark.parametrize("name", ODD_TABLES)
def test_odd_tables_work(name: str) -> None:
    vectors = Vectors(ODD_TABLES[name])
    coded = AdditiveLearner("4x16", effort="fast", codebook_dtype="float32").fit(vectors)
    spread = np.square(vectors.matrix - vectors.matrix.mean(axis=0)).sum(axis=1).mean()
    # Float32 holds a table of numbers near 1000 to about 1e-4 each.
    assert loss(vectors, coded) <= 0.5 * spread + 1e-6
    assert np.isfinite(coded.decode()).all()


@pytest.mark.parametrize(
    ("scale", "dtype", "sentence"),
    [
        (1e6, "float16", r"the vectors reach .*e\+06, too large for float16 codebooks; use codebook_dtype float32"),
        (1e-6, "float16", r"the vectors reach only .*e-06, too small for float16 codebooks"),
        (1e20, "float32", r"their squares overflow; divide them by a constant first"),
    ],
)
def test_values_that_codebooks_cannot_hold_are_refused_early(scale: float, dtype: str, sentence: str) -> None:
    vectors = Vectors(np.random.default_rng(0).normal(size=(20, 3)) * scale)
    with pytest.raises(SettingError, match=sentence):
        AdditiveLearner("2x4", codebook_dtype=dtype).fit(vectors)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_float32_codebooks_hold_large_and_small_values(scale: float) -> None:
    matrix = np.random.default_rng(0).normal(size=(200, 3))
    plain = AdditiveLearner("4x8", effort="fast", codebook_dtype="float32").fit(Vectors(matrix))
    scaled = AdditiveLearner("4x8", effort="fast", codebook_dtype="float32").fit(Vectors(matrix * scale))
    assert loss(Vectors(matrix * scale), scaled) / scale**2 == pytest.approx(loss(Vectors(matrix), plain), rel=0.5)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"effort": "lazy"}, r"effort='lazy' is not one of fast, balanced, thorough"),
        ({"seed": -1}, r"seed=-1 is not between"),
        ({"codebook_dtype": "int8"}, r"codebook_dtype='int8' is not one of float16, float32"),
        ({"threads": 0}, r"threads=0 is less than 1"),
        ({"heat": -1.0}, r"heat=-1.0 is not between"),
        ({"sample_rows": 0}, r"sample_rows=0 is not a number of rows; give 1 or more"),
        ({"sample_rows": 10.0}, r"sample_rows=10.0 is not a number of rows"),
        ({"time": 0.0}, r"time=0.0 is not a number of seconds above zero"),
        ({"loss": "huber"}, r"loss='huber' is not one of squared, cosine; the gumbel learner takes any"),
        ({"weights": "count"}, r"weights='count' is not \"zipf\""),
        ({"exact": -1}, r"exact=-1 is not a number of rows; give 0 or more"),
        ({"exact": 2.5}, r"exact=2.5 is not a number of rows"),
        ({"max_error": "3"}, r"max_error='3' is not a distance"),
        ({"max_error": -0.5}, r"max_error=-0.5 is not a distance"),
    ],
)
def test_settings_check_themselves(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        AdditiveLearner("4x8", **settings)


def test_schemes_too_large_for_the_search_are_refused() -> None:
    with pytest.raises(SettingError, match=r"scheme 256x4096 has 1,048,576 codewords in all; .* up to 16,384"):
        AdditiveLearner("256x4096")


def test_no_codeword_stays_dead() -> None:
    rng = np.random.default_rng(7)
    vectors = Vectors(np.concatenate([rng.normal(size=(900, 4)) * 0.01, rng.normal(size=(100, 4)) * 10]))
    codes = AdditiveLearner("3x16", effort="balanced").fit(vectors).codes()
    assert [len(np.unique(column)) for column in codes.T] == [16, 16, 16]


def test_a_large_table_is_learned_on_a_sample_and_coded_whole() -> None:
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(16, 6)) * 2
    vectors = Vectors(centers[rng.integers(16, size=5000)] + rng.normal(size=(5000, 6)))
    whole = AdditiveLearner("3x16", effort="fast").fit(vectors)
    sampled = AdditiveLearner("3x16", effort="fast", sample_rows=1000).fit(vectors)
    assert loss(vectors, sampled) < 1.15 * loss(vectors, whole)
    assert sampled.codebooks.tobytes() != whole.codebooks.tobytes()
    assert sampled.origin["settings"]["sample_rows"] == 1000


def test_the_artefact_remembers_how_it_was_made(clustered: Vectors, tmp_path: Path) -> None:
    AdditiveLearner("4x8", effort="fast", seed=9).fit(clustered).save(tmp_path / "t")
    origin = CodedEmbedding.load(tmp_path / "t").origin
    assert origin["learner"] == "additive"
    assert origin["settings"]["seed"] == 9
    assert origin["settings"]["effort"] == "fast"
    assert origin["source"] == {"digest": clustered.digest, "rows": 600}


def test_later_words_are_coded_about_as_well(clustered: Vectors) -> None:
    rows = np.arange(600)
    coded = AdditiveLearner("4x16", effort="balanced").fit(Vectors(clustered.take(rows[:500])))
    held_out = clustered.take(rows[500:])
    words = evaluate(Vectors(held_out), _as_table(coded, held_out))
    assert words.loss < 3 * loss(Vectors(clustered.take(rows[:500])), coded)


def _as_table(coded: CodedEmbedding, vectors: np.ndarray) -> CodedEmbedding:
    from lexicode.packing import pack

    packed = pack(coded.encode(vectors), bits=coded.scheme.bits)
    return CodedEmbedding(scheme=coded.scheme, packed=packed, codebooks=coded.codebooks)
