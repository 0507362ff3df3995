"""Section 5.2 and section 6 of the paper: IMDB sentiment on compressed embeddings. Read recipe.py first.

reviews.py   texts to row numbers             lstm.py      the layer, quick on a processor
plan.py      which rows, in what order        training.py  the model, its training, pruning
rows.py      a row's name to its embeddings   codes.py     what codes look like (section 6)
aiming.py    codes for this task              scaling.py   rows that vary as the vectors do
recipe.py    each row, start to end           report.py, figures.py   sentiment.md and its plots
"""
