"""What the recipes share.

results.py   rows of figures in a JSON file, written one by one; the commit they come from
sizes.py     bytes as the paper counts them, and as lexicode's file has them
claims.py    which of several processes does what
learning.py  codes that are learned once and kept in a work folder
codebooks.py the same codes with other codebooks
uniform.py   the cheap rival: each value rounded to one of 2, 4, 16 or 256 levels
pruning.py   the other rival: which values of a table are the smallest
tables.py    Markdown
plots.py     matplotlib, in one style
"""
