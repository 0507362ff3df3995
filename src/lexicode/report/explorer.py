"""The explorer's data: words, codes and neighbours, as the page's script reads them."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.evaluation.explorer import Neighbourhoods
from lexicode.evaluation.findings import Findings
from lexicode.packing import pack

# Cosines travel as whole numbers, so many to 1.
COSINE_STEPS = 10_000
# A word that has lost none of its neighbours shows nothing, nor one that has lost all.
LEAST_KEPT, MOST_KEPT = 0.5, 0.8


def explorer_json(findings: Findings) -> str:
    """Rows are named by their place in `words`, so that each word stands in the page once."""
    explorer = findings.explorer
    M, K = findings.balance.counts.shape
    bits = K.bit_length() - 1
    data: dict[str, Any] = {
        "codebooks": M,
        "bits": bits,
        "byWord": findings.words is not None,
        "neighbours": explorer.before.rows.shape[1],
        "total": findings.measurements.rows,
        "words": [findings.name_of(int(row)) for row in explorer.named],
        "rows": explorer.named.tolist(),
        "exact": np.flatnonzero(np.isin(explorer.named, sorted(explorer.exact))).tolist(),
        "codes": base64.b64encode(pack(explorer.codes, bits=bits).tobytes()).decode(),
        "asked": _places(explorer, explorer.rows),
        "before": _places(explorer, explorer.before.rows),
        "beforeCosines": _whole(explorer.before.cosines),
        "after": _places(explorer, explorer.after.rows),
        "afterCosines": _whole(explorer.after.cosines),
        "cosineSteps": COSINE_STEPS,
        "first": first_shown(findings),
    }
    return script_safe(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def first_shown(findings: Findings) -> str:
    """The word that the page opens with: one that keeps most of its neighbours but not all, the nearest there are."""
    explorer = findings.explorer
    names = [findings.name_of(int(row)) for row in explorer.rows]
    closeness = explorer.before.cosines.mean(axis=1) if explorer.before.cosines.size else np.zeros(len(names))
    telling = (explorer.kept >= LEAST_KEPT) & (explorer.kept <= MOST_KEPT)
    plain = [i for i, name in enumerate(names) if len(name) >= 5 and name.isalpha()]
    choices = [i for i in plain if telling[i]] or plain or list(range(len(names)))
    return names[max(choices, key=lambda i: float(closeness[i]))]


def script_safe(text: str) -> str:
    """JSON that no word in it can break out of a script element: < > & as \\u escapes, which JSON reads alike."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _places(explorer: Neighbourhoods, rows: npt.NDArray[np.int64]) -> list[int]:
    """Row numbers of any shape -> their places among the rows that are named, in one list"""
    places: list[int] = np.searchsorted(explorer.named, rows.ravel()).tolist()
    return places


def _whole(cosines: npt.NDArray[np.float32]) -> list[int]:
    whole: list[int] = np.rint(cosines.ravel() * COSINE_STEPS).astype(np.int64).tolist()
    return whole
