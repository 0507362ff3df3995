"""Neighbours of a word among 100,000 words in JavaScript, in Chromium and in Node, beside numpy.

    python benchmarks/bench_javascript.py [--rows 100000] [--dim 300] [--schemes 32x16 8x256 64x256 5x64]

Random tables: the time does not depend on what the numbers are. `first` is the first query, which measures every row's
length; `best` and `median` are of the queries after it; the last column is the best over numpy's best in the same run.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lexicode import CodedEmbedding, CodeScheme
from lexicode.packing import pack
from lexicode.words import Words

MODULE = Path(__file__).parent.parent / "js" / "lexicode.js"
QUERIES = 15
# The body of a function of `load` and of a file's `bytes`.
MEASURE = f"""
const laps = [performance.now()];
const table = await load(bytes);
laps.push(performance.now());
for (let row = 0; row <= {QUERIES}; row++) {{
  table.mostSimilar(`w${{row}}`, 10);
  laps.push(performance.now());
}}
return laps.slice(1).map((lap, i) => lap - laps[i]);
"""


def random_table(scheme: CodeScheme, rows: int, dim: int) -> CodedEmbedding:
    rng = np.random.default_rng(0)
    codes = rng.integers(scheme.codewords, size=(rows, scheme.codebooks), dtype=np.uint16)
    books = rng.normal(size=(scheme.codebooks, scheme.codewords, dim)).astype(np.float16)
    words = Words(f"w{row}" for row in range(rows))
    return CodedEmbedding(scheme=scheme, packed=pack(codes, bits=scheme.bits), codebooks=books, words=words)


def in_numpy(path: Path) -> list[float]:
    laps = [time.perf_counter()]
    table = CodedEmbedding.load(path)
    laps.append(time.perf_counter())
    for row in range(QUERIES + 1):
        table.most_similar(f"w{row}", 10)
        laps.append(time.perf_counter())
    return [1000 * (after - before) for before, after in pairwise(laps)]


def in_node(path: Path, node: str) -> list[float]:
    program = f"""
import {{ load }} from {json.dumps(MODULE.resolve().as_uri())};
import {{ readFile }} from "node:fs/promises";
const bytes = await readFile({json.dumps(str(path))});
console.log(JSON.stringify(await (async () => {{ {MEASURE} }})()));
"""
    done = subprocess.run([node, "--input-type=module", "-e", program], capture_output=True, text=True, check=True)
    return [float(each) for each in json.loads(done.stdout)]


def in_chromium(path: Path, browser: Any) -> list[float]:
    """The table as base64 in a page, as the exported page has it."""
    source = MODULE.read_text(encoding="utf-8")
    page = path.with_suffix(".html")
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    page.write_text(
        f'<script id="table" type="text/plain">{content}</script><script type="module">{source}\n'
        "const letters = atob(document.getElementById('table').textContent);\n"
        "const bytes = new Uint8Array(letters.length);\n"
        "for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);\n"
        f"window.laps = await (async () => {{ {MEASURE} }})();</script>",
        encoding="utf-8",
    )
    browser.get(page.as_uri())
    while (laps := browser.execute_script("return window.laps")) is None:
        time.sleep(0.1)
    return [float(each) for each in laps]


def open_chromium(folder: Path) -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--schemes", nargs="+", default=["32x16", "8x256", "64x256", "5x64"])
    options = parser.parse_args()
    print(f"{options.rows:,} words x {options.dim}, milliseconds")
    print(f"{'scheme':8} {'runtime':9} {'load':>8} {'first':>8} {'best':>8} {'median':>8} {'of numpy':>9}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        runtimes: dict[str, Any] = {"numpy": in_numpy}
        if node := shutil.which("node"):
            runtimes["node"] = lambda path: in_node(path, node)
        browser = open_chromium(folder) if shutil.which("chromedriver") else None
        if browser is not None:
            runtimes["chromium"] = lambda path: in_chromium(path, browser)
        try:
            for scheme in map(CodeScheme.parse, options.schemes):
                path = folder / f"{scheme}.safetensors"
                random_table(scheme, options.rows, options.dim).save(path)
                best: dict[str, float] = {}
                for name, run in runtimes.items():
                    load, first, *queries = run(path)
                    best[name] = min(queries)
                    row = f"{load:8.1f} {first:8.1f} {best[name]:8.1f} {statistics.median(queries):8.1f}"
                    print(f"{scheme!s:8} {name:9} {row} {best[name] / best['numpy']:9.2f}", flush=True)
        finally:
            if browser is not None:
                browser.quit()


if __name__ == "__main__":
    main()
