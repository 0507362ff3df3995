"""Files to words and arrays, and back. Which format a file is in, its content tells."""

from lexicode.formats.original import read_original_codes, write_original_codes
from lexicode.formats.reading import read_table
from lexicode.formats.table import Table
from lexicode.formats.writing import write_npy, write_word2vec_binary, write_word2vec_text, write_words

__all__ = [
    "Table",
    "read_original_codes",
    "read_table",
    "write_npy",
    "write_original_codes",
    "write_word2vec_binary",
    "write_word2vec_text",
    "write_words",
]
