"""The version, in a file of its own so that an artefact can record it."""

VERSION = "0.1.0"
