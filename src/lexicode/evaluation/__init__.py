"""(vectors, coded) -> measurements."""

from lexicode.evaluation.measuring import Measurements, evaluate
from lexicode.evaluation.reconstruction import Reconstruction, reconstruction

__all__ = ["Measurements", "Reconstruction", "evaluate", "reconstruction"]
