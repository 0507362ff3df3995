"""What the rows show, in sentences that are made from them."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.common.results import Row, mean_and_spread
from experiments.common.sizes import FLOAT32_BYTES, mebibytes, smaller
from experiments.translation.comparing import SeedComparison, compared, listed
from experiments.translation.model import READOUT
from experiments.translation.resampling import COVERED, SAMPLES, Resampling
from experiments.translation.rows import RowName

PAPER_ITERATIONS = 200_000
# The paper's claim for translation: no loss from here on, in percent by its count.
CLAIMED = 94


def verdict(groups: dict[str, list[Row]], resampling: Resampling) -> str:
    """The baseline and what its tables are worth when fixed, the paper's claim, the same by lexicode and the smallest
    without loss, the rivals, the coded softmax; nothing of rows whose seed has no baseline."""
    seeds = {row["seed"] for row in groups.get("baseline", ())}
    if not seeds:
        return ""
    kept = {name: [row for row in group if row["seed"] in seeds] for name, group in groups.items()}
    sentences = _Telling(compared({name: group for name, group in kept.items() if group}), resampling).sentences()
    return "\n".join(["## What it shows", "", *(f"- {sentence}" for sentence in sentences)])


@dataclass(frozen=True)
class _Telling:
    rows: SeedComparison
    resampling: Resampling

    def sentences(self) -> list[str]:
        return [
            self._baseline(),
            *self._noise(),
            *self._control(),
            *(f"The paper's network, {self._told(name)}." for name in self._names("gumbel")),
            *(f"Lexicode, {self._told(name)}." for name in self._names("additive")),
            *self._claim(),
            *self._smallest(),
            *self._losses(),
            *(f"The rival {self._told(name)}." for name in self._names("uniform", "prune")),
            *self._heads(),
        ]

    def _baseline(self) -> str:
        rows = self.rows
        size = mebibytes(rows.found["baseline"][0]["paper_bytes"])
        return f"The baseline reaches {rows.figures('baseline')} with {size} MB."

    def _noise(self) -> list[str]:
        """How much of a difference may be luck: of the seeds and of the test's sentences"""
        several = {name: self.rows.values(name) for name, group in self.rows.found.items() if len(group) > 1}
        lines = []
        if self.rows.spread is not None:
            lines.append(
                f"A seed's standard deviation, by the {len(several)} rows of several seeds, is {self.rows.spread:.2f}; "
                "the standard errors follow from it."
            )
        elif several:
            told = "; ".join(f"{name} {listed(f'{value:.2f}' for value in values)}" for name, values in several.items())
            lines.append(f"Too few rows have several seeds for a standard error. Those that have: {told}.")
        else:
            lines.append("All rows are of one seed: what another one would change is not known.")
        lines += self._schedule()
        if any(self._bracket(name, "baseline") for name in self.rows.found if name != "baseline"):
            lines.append(
                f"In square brackets, for rows whose translations are all kept: between which bounds {COVERED} % of "
                f"{SAMPLES:,} resamplings of the test's sentences have the difference. What another seed would change "
                "is not in them."
            )
        return lines

    def _schedule(self) -> list[str]:
        """A run's length, which the validation's ups and downs decide"""
        runs = [row for group in self.rows.found.values() for row in group if row["kind"] != "prune"]
        lengths = [row["iterations"] for row in runs if "head" not in row]
        if len(set(lengths)) == 1:
            return []
        return [
            f"The schedule has its luck too: {len(lengths)} runs from fresh values end after {min(lengths):,} to "
            f"{max(lengths):,} iterations, as the ups and downs of their validation scores have it."
        ]

    def _control(self) -> list[str]:
        if "fixed" not in self.rows.found:
            return []
        return [
            f"The baseline's own tables, fixed while the rest trains again from fresh values, "
            f"{self.rows.figures('fixed')}: {self._beside('fixed', 'baseline')}. Coded and uniform rows are trained in "
            "this very way, so what they gain or lose by their size is their difference from fixed of the same seed; "
            "where there is none, part of what they gain over the baseline is not theirs."
        ]

    def _names(self, *kinds: str) -> list[str]:
        """Rows of these kinds whose softmax is dense, the largest first"""
        found = self.rows.found
        names = [name for name, group in found.items() if group[0]["kind"] in kinds and "head" not in group[0]]
        return sorted(names, key=lambda name: (-int(found[name][0]["paper_bytes"]), name))

    def _told(self, name: str) -> str:
        first, base = (side[0] for side in self.rows.sides(name, "baseline"))
        count = smaller(first["paper_bytes"], base["paper_bytes"])
        told = f"{name}: {self.rows.figures(name)}, {self._against_both(name)}; {count} by the paper's count"
        if first["kind"] in ("prune", "uniform"):
            return told
        stored = (
            f"{told}, {smaller(first['file_bytes'], base['file_bytes'])} as a file of {first['file_bytes']:,} bytes"
        )
        made = first["learning_iterations"]
        if first["kind"] == "gumbel" and made < PAPER_ITERATIONS:
            return f"{stored} (the network was stopped after {made:,} of {PAPER_ITERATIONS:,} iterations)"
        return stored

    def _against_both(self, name: str) -> str:
        beside = self._beside(name, "baseline")
        if self.rows.comparable(name, "fixed") and self.rows.found[name][0]["kind"] != "prune":
            beside += f" and {self._beside(name, 'fixed')}"
        return beside

    def _beside(self, name: str, reference: str) -> str:
        return self.rows.against(name, reference) + self._bracket(name, reference)

    def _bracket(self, name: str, reference: str) -> str:
        return self.resampling.bracket(*self.rows.sides(name, reference))

    def _claim(self) -> list[str]:
        """All coded rows that are as small as the paper says can be had for nothing, and those past the paper"""
        base = self.rows.found["baseline"][0]["paper_bytes"]
        names = [
            name
            for name in self._names("gumbel", "additive")
            if self.rows.found[name][0]["paper_bytes"] <= (1 - CLAIMED / 100) * base
        ]
        plain = [name for name in names if not RowName.parse(name).weighted]
        weighted = [name for name in names if name not in plain]
        lines = []
        if len(plain) > 1:
            lines.append(
                f"All codes that make the tables {CLAIMED} % smaller or more, from where on the paper finds no loss, "
                f"and leave the softmax dense ({', '.join(plain)}): {self._together(plain)}."
            )
        if len(weighted) > 1:
            lines.append(
                f"Those in which a row counts by the square root of its look-ups ({', '.join(weighted)}): "
                f"{self._together(weighted)}."
            )
        return lines

    def _together(self, names: list[str]) -> str:
        told = f"{self.rows.together(names)} against the baselines of their seeds"
        controlled = [name for name in names if self.rows.comparable(name, "fixed")]
        return f"{told}, {self.rows.together(controlled, 'fixed')} against fixed" if controlled else told

    def _smallest(self) -> list[str]:
        """Which schemes are not below the baseline; by the validation set, for whoever chooses by the test set finds
        the luckiest."""
        names = [name for name in self._names("additive") if not RowName.parse(name).each]
        if not names:
            return []
        told = {name: self._validations(name) for name in names}
        kept = {name: (own, base) for name, (own, base) in told.items() if own >= base}
        which = ", ".join(f"{name} ({own:.2f}, baseline {base:.2f})" for name, (own, base) in kept.items())
        smallest = ""
        if len(kept) > 1:
            size = min(self.rows.found[name][0]["paper_bytes"] for name in kept)
            least = [name for name in kept if self.rows.found[name][0]["paper_bytes"] == size]
            smallest = f" The smallest: {listed(least)}."
        return [
            f"Of lexicode's rows ({len(names)} tried), on the validation set not below the smoothed BLEU of the "
            f"baseline's same seeds: {which or 'none'}.{smallest}"
        ]

    def _validations(self, name: str) -> tuple[float, float]:
        """The row's and the baseline's"""
        own, base = (
            mean_and_spread([row["validation"] for row in side])[0] for side in self.rows.sides(name, "baseline")
        )
        return own, base

    def _losses(self) -> list[str]:
        """Both learners, where both coded the same tables alike: the distance to these, and BLEU"""
        pairs = [(name.replace("gumbel", "additive"), name) for name in self._names("gumbel")]
        losses, scores = [], []
        for own, network in pairs:
            if own not in self.rows.found or not self.rows.comparable(own, network):
                continue
            ours, theirs = (mean_and_spread([row["loss"] for row in side])[0] for side in self.rows.sides(own, network))
            change = ours / theirs - 1
            scheme = own.partition("-")[2]
            losses.append(f"{100 * abs(change):.0f} % {'lower' if change < 0 else 'higher'} at {scheme}")
            scores.append(f"at {scheme} {self._beside(own, network)}")
        if not losses:
            return []
        return [
            f"Lexicode's loss a row is, beside the network's, {' and '.join(losses)}. Its BLEU is {'; '.join(scores)}."
        ]

    def _heads(self) -> list[str]:
        """Past the paper: the softmax's table coded as well"""
        lines = []
        for name, group in self.rows.found.items():
            if "head" not in group[0]:
                continue
            head, dense = group[0]["head"], READOUT * group[0]["rows"][1] * FLOAT32_BYTES
            beside = self._beside(name, "baseline")
            if self.rows.comparable(name, plain := name.removesuffix("-head")):
                beside += f" and {self._beside(name, plain)}"
            lines.append(
                f"With the softmax coded too, {name}: {self.rows.figures(name)}, {beside}; the softmax's "
                f"{mebibytes(dense)} MB become a file of {head['file_bytes']:,} bytes, "
                f"{smaller(head['file_bytes'], dense)}. Its codebooks start at the baseline's trained softmax, where "
                "other rows' softmax starts fresh."
            )
        return lines
