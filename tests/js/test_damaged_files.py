"""A file that cannot be read gives an Error with a sentence, whatever is wrong with it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import javascript

GOLDEN_FOLDER = Path(__file__).parent.parent / "golden"
GOLDEN = GOLDEN_FOLDER / "v1-4x16-float16-words.safetensors"
WITH_NORMS = GOLDEN_FOLDER / "v1-3x4-product-norms.safetensors"
WITH_EXACT = GOLDEN_FOLDER / "v1-4x16-float16-exact.safetensors"
DTYPES = {"uint8": "U8", "float16": "F16", "float32": "F32", "uint32": "U32", "int64": "I64", "float64": "F64"}

Header = dict[str, Any]


def split(path: Path) -> tuple[Header, bytes]:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def joined(header: object, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def with_record(path: Path = GOLDEN, **change: Any) -> bytes:
    header, data = split(path)
    record = json.loads(header["__metadata__"]["lexicode"]) | change
    header["__metadata__"]["lexicode"] = json.dumps(record)
    return joined(header, data)


def with_tensors(path: Path = GOLDEN, *, without: str = "", **tensors: np.ndarray) -> bytes:
    """The file with tensors added, replaced or left out, and all offsets as they should be."""
    header, data = split(path)
    parts = {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
        if name not in ("__metadata__", without)
    }
    parts |= {name: (DTYPES[array.dtype.name], list(array.shape), array.tobytes()) for name, array in tensors.items()}
    fresh: Header = {"__metadata__": header["__metadata__"]}
    body = b""
    for name, (dtype, shape, content) in parts.items():
        fresh[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    return joined(fresh, body)


def with_entry(name: str, **change: Any) -> bytes:
    header, data = split(GOLDEN)
    header[name] |= change
    return joined(header, data)


def with_words(text: bytes) -> bytes:
    return with_tensors(words=np.frombuffer(zlib.compress(text), np.uint8))


def bits(text: str) -> np.ndarray:
    return np.array([int(text, 16)], dtype=np.uint16).view(np.float16)


def books(value: np.ndarray) -> np.ndarray:
    return np.broadcast_to(value, (4, 16, 3)).copy()


RAW = GOLDEN.read_bytes()
HEADER, DATA = split(GOLDEN)
NO_RECORD = {name: entry for name, entry in HEADER.items() if name != "__metadata__"}


def with_metadata(metadata: object) -> bytes:
    return joined(NO_RECORD | {"__metadata__": metadata}, DATA)


def with_exact(ids: np.ndarray, rows: np.ndarray) -> bytes:
    return with_tensors(exact_ids=ids, exact_rows=rows)


ROW_IDS = np.array([1, 3], dtype=np.uint32)
ROWS_OF_THREE = np.ones((2, 3), dtype=np.float32)

CASES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"^0 bytes are not a whole .safetensors file; it was cut short or damaged$"),
    "seven bytes": (RAW[:7], r"7 bytes are not a whole"),
    "cut in the header": (RAW[:100], r"100 bytes are not a whole"),
    "cut in the last tensor": (RAW[:-1], r"tensor 'words' is not where it should be; it was cut short"),
    "a byte too many": (RAW + b"\0", r"^bytes after the last tensor; it was cut short or damaged$"),
    "a header of 2**63 bytes": (b"\0" * 7 + b"\x80" + RAW[8:], r"are not a whole .safetensors file"),
    "a header too short": ((20).to_bytes(8, "little") + RAW[8:], r"^no .safetensors header"),
    "a header too long": ((len(RAW) - 9).to_bytes(8, "little") + RAW[8:], r"^no .safetensors header"),
    "a header that is not UTF-8": (joined(b'{"\xff": 1}', DATA), r"^no .safetensors header"),
    "a header that is a list": (joined([1], DATA), r"^no .safetensors header"),
    "a header that is null": (joined(None, DATA), r"^no .safetensors header"),
    "another tool's file": (joined(NO_RECORD, DATA), r"not one that lexicode wrote; compress it first"),
    "metadata that is null": (with_metadata(None), r"not one that lexicode wrote"),
    "a web page": (b"<!doctype html><title>Not found</title>" * 9, r"not a whole .safetensors file"),
    "a record that is no JSON": (with_metadata({"lexicode": "{"}), r"its record is damaged"),
    "a record that is null": (with_metadata({"lexicode": "null"}), r"its record is damaged"),
    "a record that is a number": (with_metadata({"lexicode": 5}), r"its record is damaged"),
    "another format": (with_record(format="other"), r"its record is damaged"),
    "a newer version": (with_record(version=2), r"^format version 2, but this lexicode reads up to 1"),
    "a version of text": (with_record(version="1"), r"its record is damaged"),
    "version 0": (with_record(version=0), r"its record is damaged"),
    "half a version": (with_record(version=0.5), r"its record is damaged"),
    "no scheme": (with_record(scheme=None), r"^scheme null does not have 1 to 256 codebooks"),
    "a scheme of words": (with_record(scheme="four by four"), r"^scheme four by four does not have 1 to 256 codebooks"),
    "no codebooks": (with_record(scheme="0x16"), r"^scheme 0x16 does not have 1 to 256 codebooks"),
    "too many codebooks": (with_record(scheme="257x2"), r"^scheme 257x2 does not have"),
    "no power of two": (with_record(scheme="4x12"), r"^codewords of scheme 4x12 are not a power of two from 2 to 4096"),
    "too many codewords": (with_record(scheme="4x8192"), r"^codewords of scheme 4x8192 are not a power of two"),
    "wider codes": (with_record(scheme="4x32"), r"^codes have 2 bytes a row, but scheme 4x32 takes 3"),
    "narrower codes": (with_record(scheme="2x16"), r"^codes have 2 bytes a row, but scheme 2x16 takes 1"),
    "fewer codewords": (
        with_tensors(codebooks=np.zeros((4, 8, 3), "f2")),
        r"shape \(4,8,3\), but .* needs \(4,16,dim\)",
    ),
    "no columns": (with_tensors(codebooks=np.zeros((4, 16, 0), "f2")), r"shape \(4,16,0\), but scheme 4x16"),
    "another dim": (with_record(dim=8), r"^4 codebooks 3 wide do not make up 8 columns"),
    "a dim of text": (with_record(dim="many"), r"its record is damaged"),
    "no dim": (with_record(dim=None), r"its record is damaged"),
    "a negative dim": (with_record(dim=-3), r"its record is damaged"),
    "offsets of text": (with_record(offsets=[0, 1, "x", 2]), r"its record is damaged"),
    "offsets that are a number": (with_record(offsets=3), r"its record is damaged"),
    "too few offsets": (with_record(offsets=[0, 0]), r"do not make up 3 columns"),
    "offsets past the columns": (with_record(offsets=[0, 0, 0, 1]), r"do not make up 3 columns"),
    "an unknown tensor": (with_tensors(extra=ROW_IDS), r"^unknown tensor 'extra'; a newer lexicode may read it"),
    "a tensor named like a method": (with_tensors(constructor=ROW_IDS), r"^unknown tensor 'constructor'"),
    "no codes": (with_tensors(without="codes"), r"^tensor 'codes' is missing"),
    "no codebooks tensor": (with_tensors(without="codebooks"), r"^tensor 'codebooks' is missing"),
    "no rows": (with_tensors(without="words", codes=np.zeros((0, 2), "u1")), r"^no rows of codes"),
    "codes of 64 bits": (with_tensors(codes=np.zeros((5, 2), "i8")), r"^tensor 'codes' is I64 \(5,2\), but 2 axes"),
    "codes in a line": (with_tensors(codes=np.zeros(10, "u1")), r"^tensor 'codes' is U8 \(10\), but 2 axes of U8"),
    "codebooks of float64": (with_tensors(codebooks=np.zeros((4, 16, 3))), r"F64 .*3 axes of F16 or F32 are needed"),
    "a shape of text": (with_entry("codes", shape="ab"), r"^tensor 'codes' is U8 \(ab\)"),
    "a negative shape": (with_entry("codes", shape=[-5, -2]), r"^tensor 'codes' is U8 \(-5,-2\)"),
    "half a row": (with_entry("codes", shape=[2.5, 4]), r"^tensor 'codes' is U8 \(2.5,4\)"),
    "a shape beyond the file": (with_entry("words", shape=[10**15]), r"^tensor 'words' is not where it should be"),
    "offsets that overlap": (with_entry("words", data_offsets=[0, 35]), r"^tensor '\w+' is not where it should be"),
    "no data offsets": (with_entry("codes", data_offsets=None), r"^tensor '\w+' is not where it should be"),
    "an entry that is null": (joined(HEADER | {"codes": None}, DATA), r"^tensor '\w+' is"),
    "a codeword that is infinite": (with_tensors(codebooks=books(bits("7c00"))), r"^codebooks with NaN or infinity"),
    "a codeword that is NaN": (with_tensors(codebooks=books(np.float32("nan"))), r"^codebooks with NaN or infinity"),
    "words that are no zlib stream": (with_tensors(words=np.zeros(9, "u1")), r"^the words cannot be decompressed \("),
    "words cut short": (with_tensors(words=np.frombuffer(zlib.compress(b"a")[:-5], "u1")), r"cannot be decompressed"),
    "too few words": (with_words(b"a\nb\nc\nd\n"), r"^4 words for 5 rows of codes"),
    "too many words": (with_words(b"a\n" * 6), r"^6 words for 5 rows of codes"),
    "no words in the words": (with_words(b""), r"^0 words for 5 rows of codes"),
    "no last line break": (with_words(b"a\nb\nc\nd\ne"), r"^the text of the words does not end with a line break"),
    "words that are not UTF-8": (with_words(b"a\nb\n\xff\nd\ne\n"), r"^the text of the words is not UTF-8"),
    "words that fill the memory": (with_words(b"a" * 50_000_000), r"^the words of 5 rows take more than 1053696 bytes"),
    "norms without levels": (with_tensors(WITH_NORMS, without="norm_levels"), r"^norms and norm_levels come together"),
    "levels without norms": (with_tensors(WITH_NORMS, without="norms"), r"^norms and norm_levels come together"),
    "too few norms": (with_tensors(WITH_NORMS, norms=np.zeros(4, "u1")), r"^norms are not one byte for each of 5 rows"),
    "norms past the levels": (
        with_tensors(WITH_NORMS, norms=np.full(5, 3, "u1")),
        r"^norms point past the norm levels",
    ),
    "a level that is NaN": (with_tensors(WITH_NORMS, norm_levels=np.full(3, np.nan, "f4")), r"^norm_levels with NaN"),
    "exact ids alone": (with_tensors(exact_ids=ROW_IDS), r"^exact_ids and exact_rows come together or not at all"),
    "exact rows alone": (with_tensors(exact_rows=ROWS_OF_THREE), r"^exact_ids and exact_rows come together"),
    "exact rows of another width": (
        with_exact(ROW_IDS, np.ones((2, 4), "f4")),
        r"^exact_rows are not a row of 3 for each",
    ),
    "too few exact rows": (with_exact(ROW_IDS, np.ones((1, 3), "f2")), r"^exact_rows are not a row of 3"),
    "exact ids that fall": (with_exact(ROW_IDS[::-1], ROWS_OF_THREE), r"^exact_ids do not ascend within the 5 rows"),
    "an exact id twice": (with_exact(ROW_IDS[[0, 0]], ROWS_OF_THREE), r"^exact_ids do not ascend"),
    "an exact id past the rows": (with_exact(ROW_IDS + 2, ROWS_OF_THREE), r"^exact_ids do not ascend"),
    "an exact row that is NaN": (
        with_exact(ROW_IDS, ROWS_OF_THREE * np.float32("nan")),
        r"^exact_rows with NaN or infinity",
    ),
    "exact ids of 64 bits": (with_exact(ROW_IDS.astype("i8"), ROWS_OF_THREE), r"^tensor 'exact_ids' is I64"),
}

# An error's kind and sentence for each file, or "loaded".
TRY_ALL = """
const answers = {};
for (const [name, path] of Object.entries(given)) {
  answers[name] = await load(await readFile(path)).then(() => ["loaded", ""], (error) => [error.name, error.message]);
}
return answers;
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    folder = tmp_path_factory.mktemp("damaged")
    paths = {}
    for number, (name, (content, _)) in enumerate(CASES.items()):
        (folder / str(number)).write_bytes(content)
        paths[name] = str(folder / str(number))
    found: dict[str, tuple[str, str]] = javascript.run(TRY_ALL, paths)
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_damaged_file_gives_a_sentence(name: str, answers: dict[str, tuple[str, str]]) -> None:
    kind, sentence = answers[name]
    assert kind == "Error"
    assert re.search(CASES[name][1], sentence), sentence


def test_the_makers_of_damage_leave_a_good_file_good(tmp_path: Path) -> None:
    makers: list[Callable[[], bytes]] = [
        with_record,
        with_tensors,
        lambda: with_tensors(WITH_NORMS),
        lambda: with_tensors(WITH_EXACT),
        lambda: with_tensors(exact_ids=ROW_IDS, exact_rows=ROWS_OF_THREE),
        lambda: with_tensors(exact_ids=ROW_IDS[:0], exact_rows=ROWS_OF_THREE[:0]),
        lambda: with_words(b"a\nb\nc\nd\ne\n"),
    ]
    paths = {}
    for number, make in enumerate(makers):
        (tmp_path / str(number)).write_bytes(make())
        paths[str(number)] = str(tmp_path / str(number))
    assert {kind for kind, _ in javascript.run(TRY_ALL, paths).values()} == {"loaded"}


SPOIL = """
const kinds = {};
for (const path of given) {
  const whole = await readFile(path);
  const spoiled = [];
  for (let at = 0; at < whole.length; at++) {
    spoiled.push(whole.subarray(0, at));
    for (const change of [0x01, 0xff]) {
      const copy = new Uint8Array(whole);
      copy[at] ^= change;
      spoiled.push(copy);
    }
  }
  for (const bytes of spoiled) {
    const kind = await load(bytes).then(
      (table) => (table.vector(table.size - 1), table.mostSimilar(0, 3), "loaded"),
      (error) => error.name,
    );
    const cut = bytes.length < whole.length ? "cut: " : "changed: ";
    kinds[cut + kind] = (kinds[cut + kind] ?? 0) + 1;
  }
}
return kinds;
"""


def test_cut_and_spoiled_at_every_byte() -> None:
    """A changed byte may still be a table; a cut file never is; nothing but our own sentences comes out."""
    paths = [GOLDEN, WITH_NORMS, WITH_EXACT]
    kinds = javascript.run(SPOIL, [str(path) for path in paths])
    total = sum(path.stat().st_size for path in paths)
    assert kinds.keys() == {"cut: Error", "changed: Error", "changed: loaded"}
    assert kinds["cut: Error"] == total
    assert kinds["changed: Error"] + kinds["changed: loaded"] == 2 * total
