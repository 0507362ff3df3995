"""JavaScript gives numpy's rows to the bit, and finds the same neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import javascript
from agreement.artefacts import COVERED, artefacts, covered, random_artefact
from lexicode import CodedEmbedding
from lexicode.words import Words

NEIGHBOURS = 10
GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.safetensors"))
# One line for each file: its words, its code, and its rows as bytes in a file beside it.
READ_ALL = """
const answers = {};
for (const [name, path] of Object.entries(given.paths)) {
  const table = await load(await readFile(path));
  const rows = Array.from({ length: table.size }, (_, row) => table.vector(row));
  const flat = new Float32Array(table.size * table.dim);
  rows.forEach((row, at) => flat.set(row, at * table.dim));
  await writeFile(path + ".f32", new Uint8Array(flat.buffer));
  answers[name] = {
    shape: [table.size, table.dim],
    scheme: table.scheme,
    words: table.words,
    codes: rows.map((_, row) => [...table.code(row)]),
    byWord: table.words?.every((word, row) => table.has(word) && table.get(word).every((x, i) => x === rows[row][i])),
    neighbours: table.mostSimilar(0, given.n),
    ofVector: table.mostSimilar(Array.from({ length: table.dim }, (_, i) => Math.cos(i)), given.n),
  };
}
return answers;
"""


def more() -> Iterator[tuple[str, CodedEmbedding]]:
    """What the sweep of all runtimes lacks."""
    yield "16x4096", random_artefact("16x4096", 5, words=True)
    zeros = random_artefact("2x2", 5)
    zeros.codebooks = np.full((2, 2, 5), -0.0, dtype=np.float16)
    yield "zeros with a sign", zeros
    strange = random_artefact("4x16", 3, rows=4)
    strange.words = Words(["\ufeffmark", "__proto__", "twice", "twice"])
    yield "strange words", strange
    # So many rows that their lengths come from the products of codewords.
    many = random_artefact("8x4", 9, rows=5000, exact="float16", levels=3)
    # Most rows of the best cosine are zeros, if they are not taken for what they are.
    many.norm_levels = np.array([0, 0, 2], dtype=np.float32)
    yield "many rows", many
    yield "many rows of product codes", random_artefact("4x4", 20, rows=5000, offsets=(3, 0, 5, 8), width=12)


SAMPLES = artefacts() | dict(more()) | {path.stem: CodedEmbedding.load(path) for path in GOLDEN}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What JavaScript reads from each sample's file; one process reads them all."""
    folder = tmp_path_factory.mktemp("artefacts")
    paths = {name: folder / f"{number}.safetensors" for number, name in enumerate(SAMPLES)}
    for name, coded in SAMPLES.items():
        coded.save(paths[name])
    given = {"paths": {name: str(path) for name, path in paths.items()}, "n": NEIGHBOURS}
    found: dict[str, Any] = javascript.run(READ_ALL, given)
    for name, answer in found.items():
        answer["rows"] = np.fromfile(f"{paths[name]}.f32", dtype=np.float32).reshape(answer["shape"])
    return found


def test_the_sweep_covers_what_it_should() -> None:
    assert covered() == COVERED
    assert len(SAMPLES) == COVERED["artefacts"] + 5 + len(GOLDEN)
    assert len(GOLDEN) >= 5
    assert {coded.scheme.bits for coded in SAMPLES.values()} == set(range(1, 13))


@pytest.mark.parametrize("name", SAMPLES)
def test_rows_are_numpys_to_the_bit(name: str, answers: dict[str, Any]) -> None:
    expected = SAMPLES[name].decode()
    np.testing.assert_array_equal(answers[name]["rows"].view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("name", SAMPLES)
def test_words_and_codes_are_the_same(name: str, answers: dict[str, Any]) -> None:
    coded, answer = SAMPLES[name], answers[name]
    assert answer["words"] == (None if coded.words is None else list(coded.words))
    assert answer["codes"] == coded.codes().tolist()
    assert answer["scheme"] == str(coded.scheme)
    if coded.words is not None and name != "strange words":
        assert answer["byWord"]


@pytest.mark.parametrize("name", SAMPLES)
def test_neighbours_are_numpys(name: str, answers: dict[str, Any]) -> None:
    coded, answer = SAMPLES[name], answers[name]
    table = coded.decode().astype(np.float64)
    lengths = np.linalg.norm(table, axis=1)
    table /= np.where(lengths > 0, lengths, 1)[:, None]
    query = np.cos(np.arange(coded.dim))
    for found, vector, itself in (
        (answer["neighbours"], table[0], {0}),
        (answer["ofVector"], query / np.linalg.norm(query), set()),
    ):
        cosines = table @ vector
        rows = [each["row"] for each in found]
        given = [each["cosine"] for each in found]
        best = np.sort(np.delete(cosines, list(itself)))[::-1][:NEIGHBOURS]
        np.testing.assert_allclose(given, cosines[rows], rtol=0, atol=2e-6)
        np.testing.assert_allclose(given, best, rtol=0, atol=2e-6)
        assert len(set(rows)) == len(rows) == min(NEIGHBOURS, len(coded) - len(itself))
        if coded.words is not None:
            assert [each["word"] for each in found] == [coded.words[row] for row in rows]


def test_neighbours_are_pythons_in_the_same_order(answers: dict[str, Any]) -> None:
    name = "32x16 float32 33 words"
    found = SAMPLES[name].most_similar(0, NEIGHBOURS)
    assert [each["word"] for each in answers[name]["neighbours"]] == [word for word, _ in found]
