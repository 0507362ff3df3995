"""What js/lexicode.js offers besides numbers: its names, its errors, its size and its package."""

from __future__ import annotations

import json
import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import javascript
from coded_samples import random_coded
from lexicode import CodedEmbedding
from lexicode.version import VERSION

FOLDER = javascript.MODULE.parent
GOLDEN = Path(__file__).parent.parent / "golden" / "v1-4x16-float16-words.safetensors"
IDS = GOLDEN.with_name("v1-5x8-float32-ids.safetensors")
EXACT = GOLDEN.with_name("v1-4x16-float16-exact.safetensors")
MOST_BYTES = 8000


def test_words_are_found_as_in_python() -> None:
    answer = javascript.run(
        """
const table = await load(await readFile(given));
return {
  size: table.size, dim: table.dim, scheme: table.scheme, words: table.words,
  has: ["the", "日本", "The", "", 0, null, undefined].map((word) => table.has(word)),
  row: [...table.get("naïve")], same: [...table.vector(1)], alike: [...table.vector("naïve")],
  unknown: table.get("dog") === undefined,
  code: [...table.code("🦊")], kind: table.get("the").constructor.name,
  few: table.mostSimilar("the", 2), all: table.mostSimilar("the", 99).length, none: table.mostSimilar("the", 0),
  byVector: table.mostSimilar(table.get("the"), 1)[0].word, byDefault: table.mostSimilar(table.get("the")).length,
};
""",
        str(GOLDEN),
    )
    coded = CodedEmbedding.load(GOLDEN)
    assert (answer["size"], answer["dim"], answer["scheme"]) == (5, 3, "4x16")
    assert answer["words"] == ["the", "naïve", "日本", "🦊", "a b"]
    assert answer["has"] == [True, True, False, False, False, False, False]
    assert answer["row"] == answer["same"] == answer["alike"] == coded["naïve"].tolist()
    assert answer["unknown"] is True
    assert answer["code"] == coded.codes("🦊").tolist()
    assert answer["kind"] == "Float32Array"
    for found, (word, cosine) in zip(answer["few"], coded.most_similar("the", 2), strict=True):
        assert found["word"] == word
        assert found["cosine"] == pytest.approx(cosine, abs=1e-6)
    assert (answer["all"], answer["none"], answer["byVector"], answer["byDefault"]) == (4, [], "the", 5)


def test_questions_that_make_no_sense_get_a_sentence() -> None:
    answer = javascript.run(
        """
const [words, ids] = [await load(await readFile(given[0])), await load(await readFile(given[1]))];
const sentence = (question) => { try { question(); } catch (error) { return error.message; } };
return [
  sentence(() => words.mostSimilar("dog")), sentence(() => words.vector(5)), sentence(() => words.vector(-1)),
  sentence(() => words.code(1.5)), sentence(() => words.mostSimilar([1, 2])),
  sentence(() => words.mostSimilar([1, 2, NaN])),
  sentence(() => words.mostSimilar("the", -1)), sentence(() => ids.vector("the")), sentence(() => words.vector(null)),
  sentence(() => words.mostSimilar({})), ids.has("the"), ids.words, ids.mostSimilar(0, 1)[0].word === undefined,
  await load(5).catch((error) => error.message), await load(undefined).catch((error) => error.message),
];
""",
        [str(GOLDEN), str(IDS)],
    )
    assert answer == [
        "'dog' is not in the vocabulary",
        "row 5 is not in a table of 5 rows",
        "row -1 is not in a table of 5 rows",
        "row 1.5 is not in a table of 5 rows",
        "a vector of 2 numbers does not fit 3 columns",
        "a query vector with NaN or infinity has no neighbours",
        "n=-1 is not a number of neighbours",
        "this table has no words; use row numbers",
        "row null is not in a table of 5 rows",
        "row [object Object] is not in a table of 5 rows",
        False,
        None,
        True,
        "load takes a URL or the bytes of a file",
        "load takes a URL or the bytes of a file",
    ]


def test_rows_that_are_kept_exactly_are_told() -> None:
    program = "const table = await load(await readFile(given)); return table.words.map((word) => table.isExact(word));"
    coded = CodedEmbedding.load(EXACT)
    assert coded.exact is not None
    assert javascript.run(program, str(EXACT)) == [row in coded.exact.ids for row in range(len(coded))]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_url_is_fetched() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(GOLDEN.parent)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        answer = javascript.run(
            """
const sizes = await Promise.all([load(given.url), load(new URL(given.url))]);
const sentence = (address) => load(address).catch((error) => error.message);
const bytes = await readFile(given.path);
const odd = new Uint8Array(bytes.length + 1);
odd.set(bytes, 1);
const views = [odd.subarray(1), new DataView(odd.buffer, 1), bytes, odd.slice(1).buffer];
return {
  sizes: sizes.map((table) => table.size), gone: await sentence(given.url + "x"), wrong: await sentence(given.page),
  nowhere: await sentence("glove.safetensors"),
  views: await Promise.all(views.map(async (view) => (await load(view)).size)),
};
""",
            {"url": f"{address}/{GOLDEN.name}", "page": f"{address}/", "path": str(GOLDEN)},
        )
    finally:
        server.shutdown()
        server.server_close()
    assert answer["sizes"] == [5, 5]
    assert answer["views"] == [5, 5, 5, 5]
    assert answer["gone"] == f"{address}/{GOLDEN.name}x: cannot be fetched (status 404)"
    assert re.search(r"/: \d+ bytes are not a whole .safetensors file", answer["wrong"])
    assert re.search(r"^glove.safetensors: cannot be fetched \(.+\); pass its bytes$", answer["nowhere"])


def test_the_first_of_equal_scores_and_of_equal_words_counts(tmp_path: Path) -> None:
    coded = random_coded("2x2", rows=400, dim=2, words=False)
    coded.save(tmp_path / "ties")
    found = javascript.run("return (await load(await readFile(given))).mostSimilar(0, 150);", str(tmp_path / "ties"))
    keys = [(-each["cosine"], each["row"]) for each in found]
    assert keys == sorted(keys)
    cosines = [cosine for _, cosine in coded.most_similar(0, 150)]
    assert [each["cosine"] for each in found] == pytest.approx(cosines, abs=1e-6)


def test_it_stays_under_eight_kilobytes_minified(tmp_path: Path) -> None:
    minify = pytest.importorskip("minify", reason="there is no minifier: pip install tdewolff-minify")
    source = javascript.MODULE.read_text(encoding="utf-8")
    # The minifier keeps the names at a script's top, which a module's need not be: in a function they become short.
    body, exports = re.subn(r"^export (?=async function load\b)", "", source, flags=re.MULTILINE)
    assert exports == 1
    assert "export " not in body
    small = minify.string("application/javascript", f"export const load = (() => {{{body}\nreturn load}})();")
    assert len(small.encode()) < MOST_BYTES
    (tmp_path / "small.mjs").write_text(small, encoding="utf-8")
    program = "return [...(await load(await readFile(given))).get('the')];"
    row = javascript.run(program, str(GOLDEN), module=tmp_path / "small.mjs")
    assert row == CodedEmbedding.load(GOLDEN)["the"].tolist()


def test_the_package_is_ready_for_npm() -> None:
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    assert (package["name"], package["version"], package["type"]) == ("lexicode", VERSION, "module")
    assert package["exports"] == {".": {"types": "./lexicode.d.ts", "default": "./lexicode.js"}}
    assert "dependencies" not in package
    for name in package["files"]:
        # npm packs no links.
        assert (FOLDER / name).is_file()
        assert not (FOLDER / name).is_symlink()


def test_the_types_name_what_the_module_offers() -> None:
    offered = javascript.run("return Object.keys(await load(await readFile(given)));", str(GOLDEN))
    types = (FOLDER / "lexicode.d.ts").read_text(encoding="utf-8")
    inside = types[types.index("export interface CodedEmbedding {") :]
    inside = inside[: inside.index("\n}")]
    declared = re.findall(r"^  (?:readonly )?(\w+)[:(]", inside, flags=re.MULTILINE)
    assert sorted(declared) == sorted(offered)
