"""The precision of a training's matrix products: float32, or bfloat16 where the processor is faster at it."""

from __future__ import annotations

import subprocess
import sys

from lexicode import SettingError

PRECISIONS = ("float32", "bfloat16")
# A product and a layer of each kind that the model has, with their gradients.
TRIAL = """
import torch
with torch.autocast("cpu", torch.bfloat16):
    states = torch.nn.LSTM(64, 64, batch_first=True, bidirectional=True)(torch.ones(32, 4, 64))[0]
    torch.nn.Linear(128, 64)(states).float().sum().backward()
"""


def check_precision(precision: str) -> None:
    """Some processors claim bfloat16 and die of it, and one that dies tells nobody why: so another process tries."""
    if precision != "bfloat16":
        return
    tried = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, check=False)
    if tried.returncode:
        raise SettingError(
            f"products in bfloat16 fail on this machine (exit {tried.returncode}); take --precision float32, or set "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE"
        )
