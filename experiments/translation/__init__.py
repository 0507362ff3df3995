"""Section 5.3 of the paper: translation with coded embeddings. `python -m experiments.translation --help`.

corpora.py     the corpora as they are distributed -> tokenized lines
segmenting.py  byte-pair pieces; preparing.py both languages of a corpus as row numbers
datasets.py    the named data sets, their settings, the paper's figures
model.py       the paper's model; attention.py its first decoder layer; batches.py what it is fed with
training.py    the paper's schedule, kept in a file; losses.py what it lowers; precision.py what it multiplies in;
               pruning.py the rival that needs it
decoding.py    beam search; scoring.py BLEU
rows.py        what each row puts in the tables' place
recipe.py      a row from its tables to its BLEU; outputs.py its whole translations
reporting.py   results/translation.json -> Markdown and plots; verdict.py its sentences; swapping.py rows that nothing
               trained again; vocabularies.py sizes by arithmetic; drawing.py BLEU by size; comparing.py rows of the
               same seeds; resampling.py what the choice of sentences may explain
"""
