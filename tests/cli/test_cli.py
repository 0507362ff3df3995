"""The command line, verb by verb."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cli_runner import Run
from coded_samples import random_coded
from lexicode import CodedEmbedding, Vectors
from lexicode.cli.compress import parse_bytes
from lexicode.evaluation.similarity import similarity
from lexicode.formats.writing import write_word2vec_text


def test_compress_then_use(run: Run, glove: Path, tmp_path: Path, clustered: Vectors) -> None:
    out = tmp_path / "glove.safetensors"
    done = run("compress", glove, "-o", out, "--scheme", "4x16", "--effort", "fast")
    assert done.code == 0
    assert done.err == ""
    assert "600 rows x 10, scheme 4x16" in done.out
    assert "times smaller" in done.out

    told = json.loads(run("evaluate", glove, out, "--json").out)
    assert set(told) == {
        "rows", "dim", "scheme", "loss", "mean_distance", "mean_cosine", "neighbours_at_10", "eigenspace_overlap",
        "bytes", "ratio",
    }  # fmt: skip
    assert set(told["bytes"]) == {"codes", "codebooks", "words", "exact", "file", "original"}
    assert told["bytes"]["file"] == out.stat().st_size
    coded = CodedEmbedding.load(out)
    assert told["loss"] == pytest.approx(np.square(clustered.matrix - coded.decode()).sum(axis=1).mean(), rel=1e-3)
    assert "loss" in run("evaluate", glove, out).out

    vector = json.loads(run("lookup", out, "word3", "word9", "--json").out)
    assert [entry["word"] for entry in vector] == ["word3", "word9"]
    assert np.allclose(vector[1]["vector"], coded["word9"])
    line = run("lookup", out, "word3").out.split()
    assert line[0] == "word3"
    assert np.array_equal(np.array(line[1:], dtype=np.float32), coded["word3"])
    assert json.loads(run("lookup", out, "word3", "--codes", "--json").out)[0]["code"] == coded.codes("word3").tolist()

    similar = json.loads(run("similar", out, "word3", "-n", "4", "--json").out)
    assert [entry["word"] for entry in similar["neighbours"]] == [word for word, _ in coded.most_similar("word3", 4)]
    assert len(run("similar", out, "word3", "-n", "4").out.splitlines()) == 4

    told = json.loads(run("info", out, "--json").out)
    assert told["scheme"] == "4x16"
    assert told["origin"]["learner"] == "additive"
    assert told["bytes"]["file"] == out.stat().st_size
    assert "4x16" in run("info", out).out


def test_evaluate_compares_with_people(run: Run, tmp_path: Path) -> None:
    coded = random_coded("4x16", rows=50, dim=6)
    coded.save(tmp_path / "coded")
    noisy = coded.decode() + np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    assert coded.words is not None
    write_word2vec_text(tmp_path / "vectors.txt", coded.words, [(0, noisy)], 50, 6)
    pairs = [f"w{a} w{b} {a * b % 7}\n" for a, b in np.random.default_rng(1).integers(50, size=(40, 2))]
    (tmp_path / "People-41.txt").write_text("".join([*pairs, "w1 zebra 5\n"]), encoding="utf-8")
    arguments = ("evaluate", tmp_path / "vectors.txt", tmp_path / "coded", "--similarity", tmp_path / "People-41.txt")
    (told,) = json.loads(run(*arguments, "--json").out)["similarity"]
    assert (told["name"], told["pairs"], told["unknown"]) == ("People-41", 41, 1)
    assert told["before"] != told["after"]
    assert told["after"] == pytest.approx(similarity(coded, tmp_path / "People-41.txt").spearman)
    shown = run(*arguments).out
    assert "People-41" in shown
    assert f"{told['after']:.4f}" in shown
    assert "People-41.txt: line 42" in run(*arguments, "--similarity", bad_pairs(tmp_path / "People-41.txt")).err


def bad_pairs(path: Path) -> Path:
    path.write_text(path.read_text(encoding="utf-8") + "w1 w2\n", encoding="utf-8")
    return path


def test_compress_json_has_stable_keys(run: Run, glove: Path, tmp_path: Path) -> None:
    done = run("compress", glove, "-o", tmp_path / "t", "--scheme", "2x4", "--effort", "fast", "--json")
    told = json.loads(done.out)
    assert set(told) >= {
        "file", "rows", "dim", "scheme", "learner", "settings", "seconds", "loss", "mean_cosine", "bytes", "ratio",
    }  # fmt: skip


@pytest.mark.parametrize("learner", ["product", "normalized-product"])
def test_other_learners(run: Run, glove: Path, tmp_path: Path, learner: str) -> None:
    assert run("compress", glove, "-o", tmp_path / "t", "--scheme", "5x16", "--learner", learner).code == 0
    assert (CodedEmbedding.load(tmp_path / "t").norms is not None) == (learner == "normalized-product")


def test_budget_and_ratio_count_the_whole_file(run: Run, glove: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    assert run("compress", glove, "-o", out, "--budget", "9kB", "--effort", "fast").code == 0
    assert 4500 < out.stat().st_size <= 9000
    original = Vectors.load(glove).original_bytes
    assert run("compress", glove, "-o", out, "--ratio", "4", "--effort", "fast").code == 0
    assert original / out.stat().st_size >= 4


def test_same_seed_same_file(run: Run, glove: Path, tmp_path: Path) -> None:
    for name, threads in (("a", 1), ("b", 2)):
        run("compress", glove, "-o", tmp_path / name, "--scheme", "4x8", "--effort", "fast", "--threads", threads)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2MB", 2_000_000), ("500kB", 500_000), ("1.5MiB", 1_572_864), ("300", 300), ("1g", 10**9), ("2 k", 2000)],
)
def test_sizes_are_parsed(text: str, expected: int) -> None:
    assert parse_bytes(text) == expected


BAD_SETTINGS = {
    "scheme": (["--scheme", "4x12"], "codewords=12 is not a power of two; try 8 or 16"),
    "scheme form": (["--scheme", "big"], "not of the form 32x16"),
    "two sizes": (["--scheme", "4x4", "--budget", "1MB"], "exclude one another"),
    "budget": (["--budget", "lots"], "is not a size; write 2MB"),
    "ratio": (["--ratio", "-3"], "is not between 1 and 1,000,000"),
    "threads": (["--threads", "0"], "threads=0 is less than 1"),
    "seed": (["--seed", "-1"], "seed=-1 is not between"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings_are_checked_before_the_file_is_read(run: Run, tmp_path: Path, name: str) -> None:
    arguments, sentence = BAD_SETTINGS[name]
    done = run("compress", tmp_path / "missing.txt", "-o", tmp_path / "t", *arguments)
    assert done.code == 2
    assert sentence in done.err
    assert len(done.err.splitlines()) == 1


BAD_FILES = {
    "ragged": (b"a 1 2\nb 3 4\nc 5\n", "line 3: expected 2 numbers, found 1"),
    "number": (b"a 1 2\nb 3 x4\n", "line 2"),
    "nan": (b"a 1 2\nb 3 nan\n", "line 2"),
    "duplicate": (b"a 1 2\nb 3 4\na 5 6\n", "--duplicates first"),
    "promise": (b"1000000000 2\na 1 2\n", "1000000000"),
    "empty": (b"", "empty"),
    "encoding": (b"a 1 2\n\xe9t\xe9 3 4\n", "UTF-8"),
    "spaces": (b"a 1 2\nb b 3 4\nc 3 4\nd 1 2\n", "--spaces keep"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_sentence_and_exit_code_2(run: Run, tmp_path: Path, name: str) -> None:
    content, sentence = BAD_FILES[name]
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    done = run("compress", path, "-o", tmp_path / "t")
    assert done.code == 2
    assert sentence in done.err
    assert "bad.txt" in done.err
    assert len(done.err.splitlines()) == 1
    assert done.out == ""
    assert not (tmp_path / "t").exists()


def test_duplicates_and_spaces_have_a_way_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "twice.txt").write_bytes(b"a 1 2\nb 3 4\na 5 6\n")
    done = run("compress", tmp_path / "twice.txt", "-o", tmp_path / "t", "--duplicates", "first", "--effort", "fast")
    assert done.code == 0
    assert "1 rows left out" in done.err
    assert len(CodedEmbedding.load(tmp_path / "t")) == 2
    (tmp_path / "spaces.txt").write_bytes(b"a 1 2\nb b 3 4\nc 3 4\nd 1 2\n")
    assert (
        run("compress", tmp_path / "spaces.txt", "-o", tmp_path / "t", "--spaces", "keep", "--effort", "fast").code == 0
    )
    assert "b b" in CodedEmbedding.load(tmp_path / "t")


def test_files_that_are_not_there(run: Run, tmp_path: Path, glove: Path) -> None:
    (words := tmp_path / "words").write_text("a\n")
    for arguments, sentence in (
        (("compress", tmp_path / "missing", "-o", tmp_path / "t"), "no such file"),
        (("compress", tmp_path, "-o", tmp_path / "t"), "is a directory"),
        (("compress", glove, "-o", tmp_path), "is a directory"),
        (("compress", glove, "-o", "/dev/null"), "is not a regular file"),
        (("compress", glove, "-o", ""), "is empty"),
        (("compress", glove, "-o", glove), "is both read and written"),
        (("compress", f"{glove.parent}/*{glove.suffix}", "-o", glove), "is both read and written"),
        (("compress", glove, "-o", words, "--words", words), "is both read and written"),
        (("compress", glove, "-o", words, "--weights", words), "is both read and written"),
        (("compress", glove, "-o", tmp_path / "t", "--curve", tmp_path / "t"), "is written twice"),
        (("compress", glove, "-o", tmp_path / "t", "--checkpoint", tmp_path / "." / "t"), "is written twice"),
        (("compress", glove, "-o", tmp_path / "no" / "t"), "no such directory"),
        (("info", tmp_path / "missing"), "no such file"),
        (("info", glove), "cut short or damaged"),
        (("similar", tmp_path / "missing", "dog"), "no such file"),
    ):
        done = run(*arguments)
        assert done.code == 2
        assert sentence in done.err.lower()
        assert len(done.err.splitlines()) == 1


def test_unknown_words_offer_others(run: Run, coded_file: Path) -> None:
    done = run("lookup", coded_file, "w3x")
    assert done.code == 2
    assert done.err == "lexicode: 'w3x' is not in the vocabulary; close spellings: w3\n"
    assert run("similar", coded_file, "zzz").code == 2


def test_tables_without_words_are_asked_by_row(run: Run, tmp_path: Path) -> None:
    random_coded("4x16", rows=9, dim=3, words=False).save(tmp_path / "ids")
    assert json.loads(run("lookup", tmp_path / "ids", "4", "--json").out)[0]["word"] == "4"
    assert run("similar", tmp_path / "ids", "4").code == 0
    assert "row 9 is not in a table of 9 rows" in run("lookup", tmp_path / "ids", "9").err
    done = run("lookup", tmp_path / "ids", "dog")
    assert done.code == 2
    assert "no words, and 'dog' is no row number" in done.err


def test_export_and_back(run: Run, coded_file: Path, tmp_path: Path) -> None:
    coded = CodedEmbedding.load(coded_file)
    for name in ("t.txt", "t.vec", "t.bin", "t.npy"):
        told = json.loads(run("export", coded_file, "-o", tmp_path / name, "--json").out)
        assert set(told) == {"format", "files"}
        words = tmp_path / "t.words.txt" if name == "t.npy" else None
        back = Vectors.load(tmp_path / name, words=words)
        assert np.array_equal(back.matrix, coded.decode())
        assert back.words == coded.words
    run("export", coded_file, "-o", tmp_path / "old.codes")
    assert np.load(tmp_path / "old.codebook.npy").shape == (64, 6)
    done = run(
        "compress", tmp_path / "old.codes", "-o", tmp_path / "again", "--words", tmp_path / "old.words.txt", "--json"
    )
    assert json.loads(done.out)["learner"] == "original"
    again = CodedEmbedding.load(tmp_path / "again")
    assert np.array_equal(again.decode(), coded.decode())
    assert again.words == coded.words


def test_export_refuses_endings_it_does_not_know(run: Run, coded_file: Path, tmp_path: Path) -> None:
    done = run("export", coded_file, "-o", tmp_path / "t.doc")
    assert done.code == 2
    assert "no format ends like this" in done.err
    assert run("export", coded_file, "-o", tmp_path / "t.doc", "--format", "npy").code == 0


def test_odd_words_survive_every_verb(run: Run, tmp_path: Path) -> None:
    words = [":dog:", "[red]", "--json", "-", "日本", 'say "x"']
    rng = np.random.default_rng(0)
    lines = (f"{word.replace(' ', '_')} {rng.normal():.3f} {rng.normal():.3f}\n" for word in words)
    (tmp_path / "odd.txt").write_text("".join(lines), encoding="utf-8")
    run("compress", tmp_path / "odd.txt", "-o", tmp_path / "t", "--scheme", "2x4", "--effort", "fast")
    coded = CodedEmbedding.load(tmp_path / "t")
    assert coded.words is not None
    for word in coded.words:
        told = json.loads(run("lookup", tmp_path / "t", "--json", "--", word).out)
        assert told[0]["word"] == word
    told = json.loads(run("similar", tmp_path / "t", "日本", "--json").out)
    assert {entry["word"] for entry in told["neighbours"]} == set(coded.words) - {"日本"}
    shown = run("similar", tmp_path / "t", "日本").out
    assert ":dog:" in shown
    assert "[red]" in shown


def test_codes_that_are_given_leave_nothing_to_choose(run: Run, coded_file: Path, tmp_path: Path) -> None:
    run("export", coded_file, "-o", tmp_path / "old.codes")
    done = run("compress", tmp_path / "old.codes", "-o", tmp_path / "t", "--scheme", "4x4")
    assert done.code == 2
    assert "holds codes already" in done.err


def test_help_ends_with_an_example_and_its_output(run: Run) -> None:
    for verb in ("compress", "info", "lookup", "similar", "evaluate", "export", "demo"):
        done = run(verb, "--help")
        assert done.code == 0
        tail = done.out.split("Example:")[1]
        assert f"$ lexicode {verb}" in tail
        assert len(tail.strip().splitlines()) >= 2
    assert "compress" in run("--help").out
    assert run("--version").out.startswith("lexicode ")
    assert run("nonsense").code == 2


def test_standard_input(glove: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lexicode", "compress", "-", "-o", str(tmp_path / "t"), "--effort", "fast"]
    done = subprocess.run([*command, "--scheme", "2x4"], input=glove.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert len(CodedEmbedding.load(tmp_path / "t")) == 600


def test_ctrl_c_leaves_no_half_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "big.npy", rng.normal(size=(60_000, 64)).astype(np.float32))
    command = [sys.executable, "-m", "lexicode", "compress", "big.npy", "-o", "t", "--effort", "thorough"]
    # A suite that a shell runs in the background ignores SIGINT, and a child would inherit that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed
    )
    time.sleep(6)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "lexicode: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["big.npy"]


def test_a_reader_that_leaves_early_is_no_error(coded_file: Path) -> None:
    command = f"{sys.executable} -m lexicode lookup {coded_file} {' '.join(['w1'] * 5000)} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("w1 ")
    assert done.stderr == ""
