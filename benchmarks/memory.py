"""How much memory a process held at most."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def highest_resident() -> int:
    """The highest resident size of this process, in bytes.

    Linux's own record begins with the program; getrusage's may be that of the process which started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
