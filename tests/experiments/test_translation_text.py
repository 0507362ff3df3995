"""Corpora, pieces and BLEU."""

from __future__ import annotations

import gzip
import math
import shutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from experiments.translation.corpora import IWSLT14_TESTS, Pairs, read_aspec, read_iwslt14, read_multi30k, split_anew
from experiments.translation.datasets import DATASETS
from experiments.translation.scoring import smoothed_bleu, tokenized_bleu
from experiments.translation.segmenting import END, SPECIAL, UNKNOWN, Segmenter, moses_tokens
from lexicode import InputError
from translation_samples import all_lines, sentence_pairs, write_multi30k

# ---- pieces


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter.learn(all_lines(), symbols=40)


def test_pieces_go_there_and_back(segmenter: Segmenter) -> None:
    lines = all_lines()
    assert len(lines) == 80
    assert [segmenter.decode(segmenter.encode(line)) for line in lines] == lines
    # Too few symbols for whole words, so that words are put together from pieces.
    assert any(piece.endswith("@@") for piece in segmenter.pieces)
    assert len(segmenter) <= 40 + len(SPECIAL)


def test_what_training_never_saw_is_unknown(segmenter: Segmenter) -> None:
    assert segmenter.encode("ß") == [UNKNOWN, END]
    assert segmenter.encode("") == [END]


def test_same_text_same_pieces(segmenter: Segmenter) -> None:
    assert Segmenter.learn(all_lines(), symbols=40) == segmenter


def test_tokens_are_lower_case_and_not_escaped() -> None:
    assert moses_tokens(['Ein Mann, der "Ball" & spielt.'], "de") == ['ein mann , der " ball " & spielt .']


# ---- BLEU


def multi_bleu(hypotheses: list[str], references: list[str]) -> float:
    """multi-bleu.perl's formula, written down once more"""
    matched, proposed, lengths = [0] * 4, [0] * 4, [0, 0]
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        words, wanted = hypothesis.split(), reference.split()
        lengths[0], lengths[1] = lengths[0] + len(words), lengths[1] + len(wanted)
        for n in range(1, 5):
            ours, theirs = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (words, wanted))
            matched[n - 1] += sum((ours & theirs).values())
            proposed[n - 1] += max(0, len(words) - n + 1)
    if min(matched) == 0:
        return 0.0
    brevity = min(0.0, 1 - lengths[1] / lengths[0])
    return 100 * math.exp(brevity + sum(math.log(m / p) for m, p in zip(matched, proposed, strict=True)) / 4)


def test_bleu_is_multi_bleus() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["the", "a", "dog", "cat", "runs", ",", ".", "!", "n't", "'s", "sleeps", "with", "&amp;", "%"])
    compared = 0
    for _ in range(40):
        references = [" ".join(rng.choice(words, size=rng.integers(4, 15))) for _ in range(6)]
        hypotheses = []
        for line in references:
            kept = [word for word in line.split() if rng.random() < 0.9]
            hypotheses.append(" ".join(kept + list(rng.choice(words, size=rng.integers(0, 3)))))
        expected = multi_bleu(hypotheses, references)
        assert tokenized_bleu(hypotheses, references) == pytest.approx(expected, abs=1e-9)
        compared += expected > 0
    assert compared > 30


def test_smoothed_bleu_is_of_sentences() -> None:
    perfect = "a dog runs on the grass"
    # One of two words; from pairs on one is added to both counts: (0 + 1) / (1 + 1) pairs, (0 + 1) / (0 + 1) twice.
    poor = 100 * (1 / 2 * 1 / 2) ** (1 / 4)
    assert smoothed_bleu([perfect], [perfect]) == pytest.approx(100)
    assert smoothed_bleu([perfect, "a cat"], [perfect, "a dog"]) == pytest.approx((100 + poor) / 2)


# ---- corpora


@pytest.mark.parametrize("place", [".", "multi30k", "data/task1/raw"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_multi30k_as_it_is_distributed(tmp_path: Path, place: str, packed: bool) -> None:
    folder = write_multi30k(tmp_path / "corpus" / place)
    if packed:
        for path in list(folder.iterdir()):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    corpus = read_multi30k(tmp_path / "corpus")
    assert (len(corpus.train.source), len(corpus.valid.target), len(corpus.test.target)) == (400, 40, 30)
    german, english = sentence_pairs(1, seed=0)[0]
    assert corpus.train.source[0] == german.lower().replace(".", " .")
    assert corpus.train.target[0] == english.lower().replace(".", " .")
    few = corpus.first(35)
    assert (len(few.train.source), len(few.valid.target), len(few.test.target)) == (35, 35, 30)
    assert few.train.target == corpus.train.target[:35]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = write_multi30k(tmp_path / "corpus")
    (folder / "val.en").unlink()
    with pytest.raises(InputError, match=r"corpus lacks val\.en of Multi30k task 1"):
        read_multi30k(folder)
    with pytest.raises(InputError, match=r"nowhere is no folder; give the one that holds Multi30k"):
        read_multi30k(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"corpus holds none of train\.tags\.de-en\.de, .*IWSLT14 German-English"):
        read_iwslt14(folder)


def test_sides_of_different_length_are_refused(tmp_path: Path) -> None:
    folder = write_multi30k(tmp_path / "corpus")
    (folder / "val.en").write_text("One line.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"val: 40 source lines, but 1 target lines"):
        read_multi30k(folder)


def write_iwslt14(folder: Path) -> None:
    folder.mkdir(parents=True)
    pairs = sentence_pairs(69, seed=0)
    for side, language in enumerate(("de", "en")):
        talk = ["<url>http://a</url>", "<keywords>a, b</keywords>", "<title>Title</title>"]
        talk += [pair[side] for pair in pairs] + ["  "]
        talk[3] = f"{talk[3]} R&amp;B"
        (folder / f"train.tags.de-en.{language}").write_text("\n".join(talk) + "\n", encoding="utf-8")
        for number, part in enumerate(IWSLT14_TESTS):
            line = sentence_pairs(1, seed=10 + number)[0][side]
            segment = f'<seg id="1"> {line} It’s R&amp;B </seg>'
            text = f'<refset>\n<doc docid="1">\n<title>No</title>\n{segment}\n</doc>\n</refset>\n'
            (folder / f"IWSLT14.{part}.de-en.{language}.xml").write_text(text, encoding="utf-8")


def test_iwslt14_as_it_is_distributed(tmp_path: Path) -> None:
    write_iwslt14(tmp_path / "de-en")
    corpus = read_iwslt14(tmp_path)
    pairs = sentence_pairs(69, seed=0)
    pairs[0] = (f"{pairs[0][0]} R&B", f"{pairs[0][1]} R&B")
    tokenized = Pairs(moses_tokens([de for de, _ in pairs], "de"), moses_tokens([en for _, en in pairs], "en"))
    held_out = [22, 45, 68]
    assert corpus.valid == Pairs([tokenized.source[i] for i in held_out], [tokenized.target[i] for i in held_out])
    assert corpus.train.source == [line for i, line in enumerate(tokenized.source) if i not in held_out]
    assert len(corpus.train.target) == 66
    assert len(corpus.test.source) == len(corpus.test.target) == len(IWSLT14_TESTS)
    # Apostrophes are the talks', so that a test's word is the word of training.
    assert corpus.test.target[0].endswith("it 's r & b")


def write_aspec(folder: Path) -> None:
    lines = {
        "train/train-1.txt": "0.9 ||| A-1 ||| 1 ||| これは本です。 ||| This is a book.",
        "train/train-2.txt": "0.8 ||| A-2 ||| 1 ||| 犬が走る。 ||| A dog runs.",
        "dev/dev.txt": "D-1 ||| 1 ||| 猫が眠る。 ||| A cat sleeps.",
        "test/test.txt": "T-1 ||| 1 ||| 鳥が歌う。 ||| A bird sings.",
    }
    for name, line in lines.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(line + "\n", encoding="utf-8")


def test_aspec_says_that_kytea_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_aspec(tmp_path / "ASPEC-JE")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"the program kytea is not on the PATH; install KyTea"):
        read_aspec(tmp_path)


@pytest.mark.skipif(shutil.which("kytea") is None, reason="the program kytea is not installed")
def test_aspec_by_the_real_kytea(tmp_path: Path) -> None:
    write_aspec(tmp_path / "ASPEC-JE")
    corpus = read_aspec(tmp_path)
    assert corpus.train.target[1].split()[0] == "犬"
    assert corpus.test.target[0].replace(" ", "") == "鳥が歌う。"
    assert split_anew(["鳥 が歌 う 。"]) == corpus.test.target


def put_kytea(folder: Path, monkeypatch: pytest.MonkeyPatch, *, lost_lines: int = 0) -> None:
    """In the real program's place, which needs a model of Japanese: every character a word"""
    program = folder / "kytea"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nassert sys.argv[1:] == ['-notags']\n"
        "lines = sys.stdin.buffer.read().decode('utf-8').splitlines()\n"
        f"split = [' '.join(line) for line in lines[{lost_lines}:]]\n"
        "sys.stdout.buffer.write(''.join(f'{line}\\n' for line in split).encode('utf-8'))\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_aspec_as_it_is_distributed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_aspec(tmp_path / "ASPEC-JE")
    put_kytea(tmp_path, monkeypatch)
    corpus = read_aspec(tmp_path)
    assert corpus.train == Pairs(["this is a book .", "a dog runs ."], ["こ れ は 本 で す 。", "犬 が 走 る 。"])
    assert corpus.valid == Pairs(["a cat sleeps ."], ["猫 が 眠 る 。"])
    assert corpus.test == Pairs(["a bird sings ."], ["鳥 が 歌 う 。"])
    # What a model wrote with spaces of its own is split as the references are.
    assert DATASETS["aspec"].scored(["鳥が 歌う 。"]) == corpus.test.target


def test_lines_that_kytea_loses_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_aspec(tmp_path)
    put_kytea(tmp_path, monkeypatch, lost_lines=1)
    with pytest.raises(InputError, match=r"kytea split 2 lines into 1, exit 0"):
        read_aspec(tmp_path)


def test_a_damaged_line_of_aspec_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_aspec(tmp_path)
    put_kytea(tmp_path, monkeypatch)
    (tmp_path / "train/train-1.txt").write_text("0.9 ||| A-1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train-1\.txt, line 1: 2 fields, but an ASPEC line has four or more"):
        read_aspec(tmp_path)
