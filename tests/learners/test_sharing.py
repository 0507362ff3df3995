from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexicode import AdditiveLearner, CodedEmbedding, InputError, SettingError, Vectors
from lexicode.formats.writing import write_word2vec_text
from lexicode.learners.sharing import Share, expand, load_share, whole
from lexicode.learners.team import ALONE, Team
from lexicode.scheme import CodeScheme
from lexicode.words import Words
from thread_team import run_team


@pytest.fixture
def shards(tmp_path: Path, clustered: Vectors) -> list[str]:
    """The 600 rows in files of 100, 350, 50 and 100."""
    paths = []
    for number, (start, stop) in enumerate([(0, 100), (100, 450), (450, 500), (500, 600)]):
        paths.append(str(tmp_path / f"part-{number}.npy"))
        np.save(paths[-1], clustered.matrix[start:stop])
    return paths


def write_text(path: Path, vectors: Vectors, start: int, stop: int) -> str:
    words = Words((vectors.words or [])[start:stop])
    write_word2vec_text(path, words, [(0, vectors.take(np.arange(start, stop)))], stop - start, vectors.dim)
    return str(path)


def shares(paths: list[str], size: int, **reading: object) -> list[Share]:
    return run_team(size, lambda team: load_share(paths, team, **reading))  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_shards_are_shared_out_by_rows(shards: list[str], clustered: Vectors, size: int) -> None:
    parts = shares(shards, size)
    np.testing.assert_array_equal(np.concatenate([part.vectors.matrix for part in parts]), clustered.matrix)
    lengths = [len(part.vectors) for part in parts]
    assert max(lengths) - min(lengths) <= 1


class OneOfTwo(Team):
    """A process of two that never hears of the other."""

    size = 2

    def __init__(self, rank: int) -> None:
        self.rank = rank


def test_only_a_processs_own_rows_are_read(tmp_path: Path) -> None:
    """A row that is not a number is an error for the one that it falls to, and nobody else."""
    matrix = np.ones((100, 3), dtype=np.float32)
    matrix[80] = np.nan
    np.save(tmp_path / "table.npy", matrix)
    paths = [str(tmp_path / "table.npy")]
    assert len(load_share(paths, OneOfTwo(0)).vectors) == 50
    sentence = "table.npy from row 50: row 30: the value nan of column 0 is not a finite number"
    with pytest.raises(InputError, match=sentence):
        load_share(paths, OneOfTwo(1))


def test_files_of_other_widths_are_refused_by_all_processes(tmp_path: Path) -> None:
    """Each process sees a file of its own, and no fault in it."""
    narrow, wide = str(tmp_path / "narrow.npy"), str(tmp_path / "wide.npy")
    np.save(narrow, np.ones((10, 3), dtype=np.float32))
    np.save(wide, np.ones((10, 4), dtype=np.float32))

    def work(team: Team) -> str:
        with pytest.raises(InputError, match=r"wide.npy: has 4 columns, but .*narrow.npy has 3") as caught:
            load_share([narrow, wide], team)
        return str(caught.value)

    assert len(set(run_team(2, work))) == 1


def test_a_share_within_one_file_stays_on_disk(shards: list[str]) -> None:
    for rank in range(2):
        assert isinstance(load_share(shards[1:2], OneOfTwo(rank)).vectors.matrix.base, np.memmap)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_text_files_are_shared_out_whole_where_there_are_enough(tmp_path: Path, clustered: Vectors, size: int) -> None:
    paths = [write_text(tmp_path / f"{i}.txt", clustered, 200 * i, 200 * (i + 1)) for i in range(3)]
    parts = shares(paths, size)
    np.testing.assert_allclose(np.concatenate([part.vectors.matrix for part in parts]), clustered.matrix, rtol=1e-5)
    assert parts[0].words == clustered.words
    if size == 3:
        assert [part.vectors.source for part in parts] == paths


def test_one_text_file_is_shared_out_by_rows(tmp_path: Path, clustered: Vectors) -> None:
    parts = shares([write_text(tmp_path / "all.txt", clustered, 0, 600)], 2)
    assert [len(part.vectors) for part in parts] == [300, 300]
    assert parts[1].vectors.words is not None
    assert parts[1].vectors.words[0] == "word300"
    assert parts[0].words == clustered.words
    assert parts[1].words is None


@pytest.mark.parametrize("size", [1, 2])
def test_a_file_of_words_belongs_to_all_rows(tmp_path: Path, shards: list[str], clustered: Vectors, size: int) -> None:
    (tmp_path / "words").write_bytes(clustered.words.text if clustered.words else b"")
    parts = shares(shards, size, words=str(tmp_path / "words"))
    assert parts[0].words == clustered.words
    (tmp_path / "few").write_text("one\ntwo\n")
    with pytest.raises(InputError, match="few: holds 2 words, but the table has 600 rows"):
        shares(shards, size, words=str(tmp_path / "few"))


@pytest.mark.parametrize("size", [1, 2])
def test_a_limit_cuts_the_table_not_the_files(shards: list[str], tmp_path: Path, clustered: Vectors, size: int) -> None:
    texts = [write_text(tmp_path / f"{i}.txt", clustered, 200 * i, 200 * (i + 1)) for i in range(3)]
    for paths in (shards, texts):
        assert sum(len(part.vectors) for part in shares(paths, size, limit=250)) == 250


def test_a_word_that_two_processes_hold_is_found(tmp_path: Path, clustered: Vectors) -> None:
    paths = [write_text(tmp_path / f"{i}.txt", clustered, 100 * i, 100 * i + 200) for i in range(2)]
    with pytest.raises(InputError, match="row 200: the word 'word100' stands already in an earlier row"):
        shares(paths, 2)
    parts = shares(paths, 2, duplicates="first")
    assert [len(part.vectors) for part in parts] == [200, 100]
    assert parts[0].dropped == 100
    assert parts[0].words == Words((clustered.words or [])[:300])


def test_tables_that_do_not_go_together_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((4, 3), dtype=np.float32))
    np.save(tmp_path / "b.npy", np.ones((4, 2), dtype=np.float32))
    with pytest.raises(InputError, match=r"b.npy: has 2 columns, but .*a.npy has 3"):
        load_share([str(tmp_path / "a.npy"), str(tmp_path / "b.npy")], ALONE)
    with pytest.raises(SettingError, match="9 processes cannot share 4 rows; use fewer processes"):
        shares([str(tmp_path / "a.npy")], 9)
    with pytest.raises(SettingError, match="standard input is one table for one process"):
        shares(["-"], 2)


def test_patterns_stand_for_files_in_order(tmp_path: Path, shards: list[str]) -> None:
    assert expand([str(tmp_path / "part-*.npy")]) == shards
    assert expand(["-", shards[1]]) == ["-", shards[1]]
    (tmp_path / "odd[1].npy").touch()
    assert expand([str(tmp_path / "odd[1].npy")]) == [str(tmp_path / "odd[1].npy")]
    with pytest.raises(InputError, match=r"none-\*: no file matches this pattern"):
        expand([str(tmp_path / "none-*")])


@pytest.mark.parametrize("size", [2, 3])
def test_a_team_gives_what_one_process_gives(shards: list[str], tmp_path: Path, clustered: Vectors, size: int) -> None:
    """The same codes, but for what another order of adding can change: here nothing."""
    (tmp_path / "words").write_bytes(clustered.words.text if clustered.words else b"")

    def work(team: Team) -> tuple[CodedEmbedding | None, float]:
        share = load_share(shards, team, words=str(tmp_path / "words"))
        learner = AdditiveLearner("4x8", effort="fast", seed=3)
        return whole(learner.fit(share.vectors, team=team), share, team), learner.loss

    (coded, loss), *others = run_team(size, work)
    alone = AdditiveLearner("4x8", effort="fast", seed=3)
    expected = alone.fit(clustered)
    assert loss == pytest.approx(alone.loss, rel=1e-3)
    assert all(other == (None, loss) for other in others)
    assert coded is not None
    assert coded.words == clustered.words
    assert (coded.codes() == expected.codes()).mean() > 0.99
    assert coded.origin["source"]["rows"] == 600
    assert coded.origin["processes"] == size


def test_rows_that_any_process_keeps_are_kept_in_the_whole() -> None:
    table = Vectors(np.random.default_rng(2).normal(size=(9, 4)).astype(np.float32))
    own_ids: list[list[int]] = [[0, 2], [], [1]]

    def work(team: Team) -> CodedEmbedding | None:
        vectors = Vectors(table.matrix[3 * team.rank : 3 * team.rank + 3])
        ids = np.array(own_ids[team.rank], dtype=np.uint32)
        coded = CodedEmbedding(
            scheme=CodeScheme.parse("2x4"),
            packed=np.zeros((3, 1), dtype=np.uint8),
            codebooks=np.zeros((2, 4, 4), dtype=np.float16),
            exact_ids=ids,
            exact_rows=vectors.matrix[ids],
            origin={},
        )
        return whole(coded, Share(vectors=vectors, words=None, dropped=0), team)

    coded, *others = run_team(3, work)
    assert others == [None, None]
    assert coded is not None
    assert coded.exact is not None
    assert coded.exact.ids.tolist() == [0, 2, 7]
    expected = np.zeros_like(table.matrix)
    expected[[0, 2, 7]] = table.matrix[[0, 2, 7]]
    assert (coded.decode() == expected).all()


def test_a_large_table_is_sampled_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexicode.learners.additive.MIN_SAMPLE", 300)
    monkeypatch.setattr("lexicode.learners.additive.SAMPLE_ROWS_PER_CODEWORD", 1)
    vectors = Vectors(np.random.default_rng(1).normal(size=(1000, 5)).astype(np.float32))

    def work(team: Team) -> float:
        start, stop = (0, 700) if team.leads else (700, 1000)
        learner = AdditiveLearner("3x8", effort="fast")
        learner.fit(Vectors(vectors.matrix[start:stop]), team=team)
        return learner.loss

    alone = AdditiveLearner("3x8", effort="fast")
    alone.fit(vectors)
    assert run_team(2, work) == pytest.approx([alone.loss] * 2, rel=1e-3)
