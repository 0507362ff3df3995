"""(vectors, coded) -> measurements."""

from lexicode.evaluation.measuring import Measurements, evaluate
from lexicode.evaluation.rate_distortion import gaussian_distortion
from lexicode.evaluation.reconstruction import Reconstruction, reconstruction
from lexicode.evaluation.similarity import Similarity, similarity

__all__ = [
    "Measurements",
    "Reconstruction",
    "Similarity",
    "evaluate",
    "gaussian_distortion",
    "reconstruction",
    "similarity",
]
