"""Files to words and arrays, and back, one file per format. Which format a file is in, its content tells.

Nothing is imported here: looking up a word must not load the readers.
"""
