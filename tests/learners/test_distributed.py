"""Real processes, over gloo and over sockets. They take long to start, so each test tries many things in one start."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lexicode.learners.neighbours import wire_up

START = """
import os
import sys
import numpy as np
import torch
from lexicode.learners.distributed import join
from lexicode.errors import LearningError

team = join()
rank = team.rank
assert (team.size, team.stream, team.leads) == (3, (rank,), rank == 0)
"""

EXCHANGE = """
a, b = np.full((2, 2), rank + 1.0), np.array([rank], dtype=np.int64)
strided = np.zeros((4, 2))[:, 0]
strided[:] = 1
team.sum(a, b, strided)
assert a.tolist() == [[6, 6], [6, 6]] and b.tolist() == [3] and strided.tolist() == [3] * 4
mine = np.full(2, rank)
team.agree(mine)
assert mine.tolist() == [0, 0]
assert team.say({"rank": rank, "name": "x" * (rank + 1)}) == {"rank": 0, "name": "x"}
assert team.tell_all(["ü", rank]) == [["ü", 0], ["ü", 1], ["ü", 2]]
assert team.first_row(10 * (rank + 1)) == [0, 10, 30][rank]
assert team.total(rank, 1) == [3, 3]
rows = np.arange(2 * (rank + 1), dtype=np.uint16).reshape(-1, 2) + 100 * rank
whole = team.gather(rows)
assert (whole is None) == (rank != 0)
if whole is not None:
    assert whole.tolist() == [[0, 1], [100, 101], [102, 103], [200, 201], [202, 203], [204, 205]]
back = team.scatter(whole, rank + 1)
assert back.tolist() == rows.tolist() and back.dtype == np.uint16
try:
    if rank == 2:
        sys.stdout.write("leaving")
    else:
        while True:
            team.total(1.0)
except LearningError as error:
    sys.stdout.write(str(error))
# As the command's processes do: an orderly end may abort in torch's threads, which still hold the lost connection.
sys.stdout.flush()
os._exit(7)
"""


TENSORS = """
tensor = torch.full((3,), float(rank))
team.sum_tensor(tensor)
assert tensor.tolist() == [3, 3, 3]
"""


def test_three_processes_exchange_what_they_should_and_notice_a_loss(tmp_path: Path) -> None:
    meeting = f"file://{tmp_path / 'meeting'}"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", START + TENSORS + EXCHANGE],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ
            | {"RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "LEXICODE_MEETING": meeting},
        )
        for rank in range(3)
    ]
    check(processes)


NEIGHBOUR = """
import os
import socket
import sys
import numpy as np
from lexicode.errors import LearningError
from lexicode.learners.neighbours import Neighbours

rank, *wires = map(int, sys.argv[1:])
team = Neighbours(rank, 3, [socket.socket(fileno=wire) for wire in wires])
assert (team.size, team.stream, team.leads) == (3, (rank,), rank == 0)
assert "torch" not in sys.modules
large = np.arange(300_000.0) * (rank + 1)
team.sum(large)
assert (large == 6 * np.arange(300_000.0)).all()
"""


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="hands sockets down to its processes")
def test_three_neighbours_do_the_same_without_torch() -> None:
    wires = wire_up(3)
    processes = []
    for rank, own in enumerate(wires):
        numbers = [wire.fileno() for wire in own]
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", NEIGHBOUR + EXCHANGE, str(rank), *map(str, numbers)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=numbers,
            )
        )
    for own in wires:
        for wire in own:
            wire.close()
    check(processes)


def check(processes: list[subprocess.Popen[str]]) -> None:
    """The last process has left, and the others have noticed."""
    outputs = [process.communicate(timeout=120) for process in processes]
    assert outputs[2][0] == "leaving", outputs
    for rank, (out, err) in enumerate(outputs[:2]):
        assert f"process {rank} of 3 has lost another one, which ended or did not answer" in out, err
