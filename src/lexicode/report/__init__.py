"""Measurements -> what a person reads."""

from lexicode.report.terminal import measurement_table, neighbour_table, readable_bytes, similarity_table, size_table

__all__ = ["measurement_table", "neighbour_table", "readable_bytes", "similarity_table", "size_table"]
