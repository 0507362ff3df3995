"""What the recipes share: results, claims, sizes, the rivals, and codes that are learned once."""

from __future__ import annotations

import doctest
import importlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch

from experiments.common.claims import claimed
from experiments.common.learning import learned
from experiments.common.pruning import kept_mask, pruning_steps
from experiments.common.results import Results, mean_and_spread
from experiments.common.sizes import code_bytes, dense_bytes, sizes_of, sparse_bytes
from experiments.common.uniform import quantize
from lexicode import CodedEmbedding, CodeScheme, InputError, ProductLearner, SettingError, Vectors

MODULES = ["pruning", "results", "sizes", "tables", "uniform"]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    done = doctest.testmod(importlib.import_module(f"experiments.common.{name}"))
    assert done.attempted > 0
    assert done.failed == 0


# ---- results


def test_rows_are_kept_in_order_with_their_commit(tmp_path: Path) -> None:
    results = Results(tmp_path / "folder" / "results.json")
    results.add({"name": "baseline", "seed": 1, "accuracy": 0.5})
    Results(results.path).add({"name": "baseline", "seed": 2, "accuracy": 0.6})
    assert [row["seed"] for row in results.rows] == [1, 2]
    assert results.has("baseline", 2)
    assert not results.has("baseline", 3)
    assert not results.has("other", 1)
    assert all("commit" in row for row in json.loads(results.path.read_text(encoding="utf-8"))["rows"])
    assert {path.name for path in results.path.parent.iterdir()} == {"results.json", ".results.json.claim"}


def test_rows_that_are_added_at_once_are_all_kept(tmp_path: Path) -> None:
    results = [Results(tmp_path / "results.json") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: results[seed % 4].add({"name": "row", "seed": seed}), range(24)))
    assert sorted(row["seed"] for row in results[0].rows) == list(range(24))


def test_of_two_that_made_a_row_the_first_ones_stays(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json")
    results.add({"name": "row", "seed": 1, "accuracy": 0.5})
    results.add({"name": "row", "seed": 1, "accuracy": 0.6})
    assert [row["accuracy"] for row in results.rows] == [0.5]


def test_a_row_without_a_seed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a row of results lacks its 'seed': \{'name': 'baseline'\}"):
        Results(tmp_path / "results.json").add({"name": "baseline"})


def test_a_damaged_file_of_results_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"rows": [', encoding="utf-8")
    with pytest.raises(InputError, match=r"results\.json: not a file of results .* move it away"):
        Results(path).has("baseline", 1)


def test_the_spread_is_the_samples() -> None:
    values = [86.1, 87.4, 86.9]
    mean, spread = mean_and_spread(values)
    assert mean == pytest.approx(np.mean(values))
    assert spread == pytest.approx(np.std(values, ddof=1))
    assert mean_and_spread([3.0]) == (3.0, 0.0)


def test_one_claim_at_a_time(tmp_path: Path) -> None:
    with claimed(tmp_path / "claims" / "row") as mine, claimed(tmp_path / "claims" / "row") as theirs:
        assert mine
        assert not theirs
        with claimed(tmp_path / "claims" / "another") as other:
            assert other
    with claimed(tmp_path / "claims" / "row") as again:
        assert again


# ---- sizes


def test_the_paper_counts_mebibytes() -> None:
    """75,102 codes: the sizes of Table 3 come out when its MB are 2**20 bytes."""
    shown = {"8x64": 0.42, "16x32": 0.71, "32x16": 1.14, "64x8": 1.71}
    for scheme, megabytes in shown.items():
        assert code_bytes(75_102, CodeScheme.parse(scheme)) / 2**20 == pytest.approx(megabytes, abs=0.011)


def test_dumps_are_compressed() -> None:
    zeros = np.zeros((400, 30))
    noise = np.random.default_rng(1).normal(size=(400, 30))
    assert dense_bytes(zeros) < 1000
    assert 0.85 * 4 * noise.size < dense_bytes(noise) < 4 * noise.size + 1000


def test_a_sparse_dump_grows_with_what_is_left() -> None:
    table = np.random.default_rng(1).normal(size=(400, 30)).astype(np.float32)
    tenth = np.where(kept_mask(torch.from_numpy(table), zeros=0.9).numpy(), table, 0)
    fifth = np.where(kept_mask(torch.from_numpy(table), zeros=0.8).numpy(), table, 0)
    assert scipy.sparse.csc_matrix(tenth).nnz == 1200
    assert sparse_bytes(tenth) < sparse_bytes(fifth) < sparse_bytes(table)


@pytest.mark.parametrize("normalized", [False, True])
def test_sizes_of_a_coded_table(clustered: Vectors, tmp_path: Path, normalized: bool) -> None:
    coded = ProductLearner("5x8", normalized=normalized, seed=1).fit(clustered)
    sizes = sizes_of(coded)
    coded.save(tmp_path / "coded.safetensors")
    assert sizes.file_bytes == (tmp_path / "coded.safetensors").stat().st_size
    books, norms = coded.codebooks.size, len(coded) if normalized else 0
    levels = 4 * 256 if normalized else 0
    # 15 bits a row; lexicode's rows end on bytes, the paper's do not.
    assert sizes.stored_bytes == 2 * len(coded) + 2 * books + norms + levels
    assert sizes.paper_bytes == 15 * len(coded) // 8 + 4 * books + norms + levels


def test_rows_that_are_kept_exactly_are_counted(clustered: Vectors) -> None:
    coded = ProductLearner("5x8", seed=1).fit(clustered)
    kept = np.array([3, 70], dtype=np.uint32)
    rows = clustered.take(kept).astype(np.float16)
    more = CodedEmbedding(
        scheme=coded.scheme, packed=coded.packed, codebooks=coded.codebooks, dim=coded.dim, offsets=coded.offsets,
        words=coded.words, exact_ids=kept, exact_rows=rows,
    )  # fmt: skip
    before, after = sizes_of(coded), sizes_of(more)
    assert after.stored_bytes == (before.stored_bytes or 0) + kept.nbytes + rows.nbytes
    assert after.paper_bytes == before.paper_bytes + kept.nbytes + 4 * rows.size


def test_codebooks_in_half_precision_count_as_the_papers(clustered: Vectors) -> None:
    """The paper's 512 vectors x 300 take 0.52 MB; a float16 codebook's zeros must not compress away."""
    scheme = CodeScheme.parse("32x16")
    codebooks = np.random.default_rng(3).normal(size=(32, 16, 300)).astype(np.float16)
    packed = np.zeros((10, scheme.bytes_per_row), dtype=np.uint8)
    coded = CodedEmbedding(scheme=scheme, packed=packed, codebooks=codebooks)
    books = sizes_of(coded).paper_bytes - code_bytes(10, scheme)
    assert 0.52 * 2**20 < books < 1.13 * 0.52 * 2**20


# ---- the rivals


def test_uniform_levels_are_the_best_of_the_reaches() -> None:
    table = np.random.default_rng(4).normal(size=(8000, 3)) * [1, 10, 0.1] + [5, 0, -1]
    table = table.astype(np.float32)
    errors = [
        np.square(quantize(table, bits).decode() - table).mean(axis=0) / table.var(axis=0) for bits in (1, 2, 4, 8)
    ]
    # Evenly spaced levels of least error for a Gaussian: Max (1960).
    for error, known in zip(errors, (0.363, 0.119, 0.0115), strict=False):
        assert error == pytest.approx(known, rel=0.1)
    assert (errors[3] < 2e-4).all()


def test_uniform_tables_say_what_they_take() -> None:
    table = np.random.default_rng(4).normal(size=(501, 3)).astype(np.float32)
    rounded = quantize(table, bits=2)
    assert rounded.levels.max() == 3
    assert rounded.sizes.stored_bytes == -(-501 * 3 * 2 // 8) + 2 * 4 * 3
    assert rounded.sizes.file_bytes is None


def test_a_column_of_one_value_survives() -> None:
    table = np.full((4, 1), 2.5, dtype=np.float32)
    assert (quantize(table, bits=1).decode() == 2.5).all()


@pytest.mark.parametrize("bits", [0, 9])
def test_bits_out_of_range_are_refused(bits: int) -> None:
    with pytest.raises(SettingError, match=f"bits={bits} is not between 1 and 8"):
        quantize(np.zeros((2, 2), dtype=np.float32), bits)


@pytest.mark.parametrize("zeros", [0.0, 0.25, 0.8, 0.999])
def test_the_smallest_values_are_pruned(zeros: float) -> None:
    table = torch.from_numpy(np.random.default_rng(2).permutation(1000).reshape(50, 20) - 499.6)
    kept = kept_mask(table, zeros)
    assert int((~kept).sum()) == round(1000 * zeros)
    if zeros:
        assert table.abs()[~kept].max() < table.abs()[kept].min()


def test_pruning_ends_where_it_should() -> None:
    fractions = pruning_steps(0.9, 10)
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(0.9)


# ---- codes that are learned once


@pytest.mark.parametrize(
    ("learner", "settings"),
    [("additive", {"effort": "fast"}), ("gumbel", {"iterations": 100}), ("npq", {}), ("product", {})],
)
def test_codes_are_learned_once(clustered: Vectors, tmp_path: Path, learner: str, settings: dict[str, object]) -> None:
    lines: list[str] = []
    first = learned(clustered, learner, "4x8", work=tmp_path, log=lines.append, threads=1, **settings)
    again = learned(clustered, learner, "4x8", work=tmp_path, log=lines.append, threads=1, **settings)
    assert len(lines) == 1
    assert (first.coded.packed == again.coded.packed).all()
    assert first.iterations == settings.get("iterations")
    assert first.seconds == again.seconds
    assert (first.coded.norms is not None) == (learner == "npq")
    assert not list(tmp_path.glob("*.checkpoint"))


def test_other_vectors_have_other_codes(clustered: Vectors, tmp_path: Path) -> None:
    learned(clustered, "product", "4x8", work=tmp_path)
    learned(Vectors(clustered.take(np.arange(300))), "product", "4x8", work=tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) == 2


def test_the_network_stops_at_its_time_limit(clustered: Vectors, tmp_path: Path) -> None:
    codes = learned(
        clustered, "gumbel", "4x8", work=tmp_path, time_limit=0.0, threads=1, iterations=1000, validate_every=50
    )  # fmt: skip
    assert codes.iterations == 50
    assert codes.seconds > 0


def test_an_unknown_learner_is_refused(clustered: Vectors, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="learner 'wishful' is not one of"):
        learned(clustered, "wishful", "4x8", work=tmp_path)
