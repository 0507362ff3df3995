"""`lexicode compress` with the paper's learner, checkpoints and several processes, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexicode import CodedEmbedding, Vectors
from lexicode.cli.compressing import Job

SECONDS = 120


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "lexicode", "compress", *map(str, arguments)]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=SECONDS, check=False)


def report(*arguments: object) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture
def table(tmp_path: Path, clustered: Vectors) -> Path:
    for part in range(3):
        np.save(tmp_path / f"part-{part}.npy", clustered.matrix[200 * part : 200 * (part + 1)])
    return tmp_path


def test_two_processes_learn_additive_codes_like_one(table: Path) -> None:
    one = report(table / "part-*.npy", "-o", table / "one", "--scheme", "4x8", "--effort", "fast")
    two = report(table / "part-*.npy", "-o", table / "two", "--scheme", "4x8", "--effort", "fast", "--processes", 2)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-3)
    assert two["rows"] == one["rows"] == 600
    assert two["bytes"]["original"] == one["bytes"]["original"] == 600 * 10 * 4
    assert len(CodedEmbedding.load(table / "two")) == 600


@pytest.mark.parametrize("exact", [300, 400])
def test_a_process_may_have_no_row_to_learn_from(table: Path, exact: int) -> None:
    shared = (table / "part-*.npy", "-o", table / "coded", "--scheme", "4x4", "--effort", "fast", "--exact", exact)
    alone, two = report(*shared), report(*shared, "--processes", 2)
    assert two["loss"] == pytest.approx(alone["loss"], rel=0.05)
    timed = (*shared[:5], "--time", "1s", "--exact", exact, "--processes", 2)
    assert report(*timed)["rows"] == 600


def test_values_that_one_share_lacks_are_in_the_table(table: Path) -> None:
    np.save(table / "part-0.npy", np.load(table / "part-0.npy") * 1e-6)
    answer = report(
        table / "part-*.npy", "-o", table / "coded", "--scheme", "4x4", "--effort", "fast", "--processes", 3
    )
    assert answer["rows"] == 600


def test_a_share_of_nothing_but_repeats_is_named(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("a 1 2\nb 3 4\n")
    done = run(
        tmp_path / "one.txt", tmp_path / "two.txt", "-o", tmp_path / "t", "--duplicates", "first", "--processes", 2
    )
    assert done.returncode == 2
    assert "process 1 of 2 has no rows but such whose words stand in earlier ones; use fewer processes" in done.stderr


@pytest.mark.slow
def test_two_processes_train_the_network_like_one(table: Path) -> None:
    losses = []
    for processes in (1, 2):
        curve = table / f"{processes}.json"
        answer = report(
            table / "part-*.npy", "-o", table / "coded", "--scheme", "3x8", "--learner", "gumbel", "--iterations", 2000,
            "--threads", 1, "--processes", processes, "--curve", curve,
        )  # fmt: skip
        losses.append(answer["loss"])
        points = json.loads(curve.read_text())
        assert [point["iteration"] for point in points] == [0, 1000, 2000]
        assert points[-1]["hard_loss"] < points[0]["hard_loss"]
    assert losses[1] == pytest.approx(losses[0], rel=0.1)


def test_a_bad_row_in_one_share_ends_the_run_with_its_sentence(table: Path) -> None:
    bad = np.load(table / "part-2.npy")
    bad[150] = np.inf
    np.save(table / "part-2.npy", bad)
    done = run(table / "part-*.npy", "-o", table / "coded", "--processes", 2)
    assert done.returncode == 2
    assert "part-2.npy: row 150: the value inf of column 0 is not a finite number" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (table / "coded").exists()


def children(pid: int) -> list[int]:
    """The processes that a process started to do its work."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid:
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return sorted(found)


def wait_for(path: Path) -> None:
    until = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.05)


LONG = ("--scheme", "2x4", "--learner", "gumbel", "--iterations", 5000, "--threads", 1)


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds its processes in /proc")
def test_a_process_that_is_killed_ends_the_run_and_leaves_a_checkpoint(table: Path) -> None:
    arguments = (table / "part-0.npy", "-o", table / "coded", *LONG, "--processes", 2, "--checkpoint", table / "ckpt")
    with subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True) as process:
        wait_for(table / "ckpt")
        workers = children(process.pid)
        assert len(workers) == 2
        os.kill(workers[1], signal.SIGKILL)
        _, error = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "of 2 was killed by SIGKILL; the run has ended, and no file was written; the same command goes on" in error
    assert len(error.splitlines()) == 1
    assert {entry.name for entry in table.iterdir()} == {"part-0.npy", "part-1.npy", "part-2.npy", "ckpt"}
    for worker in workers:
        assert not Path(f"/proc/{worker}").exists()


TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "-m", "lexicode", "compress"]


def started_by_torchrun(pid: int) -> dict[int, int]:
    """The processes that torchrun started, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                names = dict(line.split("=", 1) for line in (entry / "environ").read_text().split("\0") if "=" in line)
                found[int(names["RANK"])] = int(entry.name)
        except (FileNotFoundError, ProcessLookupError, KeyError):
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="finds its processes in /proc")
@pytest.mark.parametrize(("learner", "victim"), [("gumbel", 1), ("additive", 0)])
def test_a_process_of_torchrun_that_is_killed_is_named(table: Path, learner: str, victim: int) -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32)
    np.save(table / "rows.npy", rows)
    options = ["--checkpoint", "ckpt", "--learner", learner, "--scheme", "16x16", "--threads", "1"]
    options += ["--effort", "thorough"] if learner == "additive" else []
    arguments = [*TORCHRUN, "rows.npy", "-o", "coded", *options]
    with subprocess.Popen(arguments, cwd=table, stderr=subprocess.PIPE, text=True) as process:
        wait_for(table / "ckpt")
        workers = started_by_torchrun(process.pid)
        assert sorted(workers) == [0, 1]
        os.kill(workers[victim], signal.SIGKILL)
        _, error = process.communicate(timeout=30)
    assert process.returncode != 0
    ours = [line for line in error.splitlines() if line.startswith("lexicode: ")]
    assert ours == [
        f"lexicode: process {victim} of 2 was killed or has ended; the run has ended, and no file was written; "
        "the same command goes on from ckpt"
    ]
    assert not (table / "coded").exists()
    for worker in workers.values():
        assert not Path(f"/proc/{worker}").exists()


def test_what_a_run_leaves_behind_is_told_as_it_is(tmp_path: Path) -> None:
    given: dict[str, Any] = {"output": str(tmp_path / "coded"), "started": time.time() - 10}
    given["settings"] = {"checkpoint": str(tmp_path / "ckpt")}
    job = Job(**{field.name: given.get(field.name) for field in fields(Job)})
    assert job.outcome() == "no file was written"
    (tmp_path / "ckpt").touch()
    assert job.outcome() == f"no file was written; the same command goes on from {tmp_path / 'ckpt'}"
    (tmp_path / "coded").touch()
    assert job.outcome() == f"{tmp_path / 'coded'} was written before, whole"
    os.utime(tmp_path / "coded", (1, 1))
    assert job.outcome().startswith("no file was written")


@pytest.mark.slow
def test_a_run_killed_at_any_moment_goes_on_to_the_same_bytes(table: Path) -> None:
    arguments = (table / "part-0.npy", *LONG)
    with subprocess.Popen(command(*arguments, "-o", table / "a", "--checkpoint", table / "ckpt")) as process:
        wait_for(table / "ckpt")
        process.kill()
    assert not (table / "a").exists()
    assert run(*arguments, "-o", table / "a", "--checkpoint", table / "ckpt").returncode == 0
    assert run(*arguments, "-o", table / "b").returncode == 0
    assert (table / "a").read_bytes() == (table / "b").read_bytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--learner", "product", "--iterations", 5], "--iterations is for --learner gumbel, not for product"),
        (["--refine"], "--refine is for --learner gumbel, not for additive"),
        (["--learner", "product", "--loss", "cosine"], "--loss is for --learner additive or gumbel, not for product"),
        (["--learner", "gumbel", "--effort", "fast"], "--effort is for --learner additive, not for gumbel"),
        (["--learner", "product", "--checkpoint", "c"], "--checkpoint is for --learner additive or gumbel, not for"),
        (["--learner", "product", "--curve", "c"], "--curve is for --learner additive or gumbel, not for product"),
        (["--learner", "product", "--processes", 2], "--processes is for --learner additive or gumbel, not for"),
        (["--budget", "1MB", "--processes", 2], "--budget and --ratio try schemes in one process"),
        (["--learner", "gumbel", "--iterations", 0], "iterations=0 is less than 1"),
        (["--curve", "none/here.json"], "none: no such directory"),
    ],
)
def test_options_that_do_not_go_together_are_named(
    table: Path,
    options: list[object],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lexicode.cli import main

    arguments = [table / "part-0.npy", "-o", table / "coded", *options]
    monkeypatch.setattr(sys, "argv", ["lexicode", "compress", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (table / "coded").exists()
