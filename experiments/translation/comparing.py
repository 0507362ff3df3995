"""The BLEU of the rows, compared with that of rows of the same seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from experiments.common.comparing import Comparison, pooled_spread
from experiments.common.results import Row, mean_and_spread

# With fewer the standard deviation between seeds is itself a matter of luck.
LEAST_DEGREES = 3


class SeedComparison(Comparison):
    """A seed's rows all come from that seed's baseline, so only seeds that both sides have are compared."""

    def sides(self, name: str, reference: str) -> tuple[list[Row], list[Row]]:
        own, other = ({row["seed"]: row for row in self.found[each]} for each in (name, reference))
        shared = sorted(own.keys() & other.keys())
        return [own[seed] for seed in shared], [other[seed] for seed in shared]

    def comparable(self, name: str, reference: str) -> bool:
        return reference in self.found and bool(self.sides(name, reference)[0])

    def figures(self, name: str) -> str:
        """`41.43 (seed 1)`, or `40.77 (40.58 and 40.96 with seeds 1 and 2)`"""
        seeds = listed(str(row["seed"]) for row in self.found[name])
        if len(self.found[name]) == 1:
            return f"{self.mean(name):.2f} (seed {seeds})"
        return f"{self.mean(name):.2f} ({listed(f'{value:.2f}' for value in self.values(name))} with seeds {seeds})"

    def against(self, name: str, reference: str = "baseline") -> str:
        """With the seeds that are compared, where the row has more."""
        told, (own, _) = super().against(name, reference), self.sides(name, reference)
        if len(own) == len(self.found[name]):
            return told
        return f"{told} at seed {listed(str(row['seed']) for row in own)}"

    def together(self, names: Iterable[str], reference: str = "baseline") -> str:
        """The mean of all runs of several rows against that of their references, a reference as often as it is one."""
        own, others = (
            [row for side in sides for row in side]
            for sides in zip(*(self.sides(name, reference) for name in names), strict=True)
        )
        gain = (
            mean_and_spread([self.value(row) for row in own])[0]
            - mean_and_spread([self.value(row) for row in others])[0]
        )
        told = f"{gain:+.2f} in the mean of {len(own)} runs"
        if self.spread is None:
            return told
        # A reference that many runs share is no more certain for that.
        shares = [count / len(own) for count in Counter(row["seed"] for row in others).values()]
        error = self.spread * (1 / len(own) + sum(share**2 for share in shares)) ** 0.5
        return f"{told} (standard error {error:.2f})"


def listed(words: Iterable[str]) -> str:
    """`1`, `1 and 2`, `1, 2 and 3`"""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


def compared(groups: dict[str, list[Row]]) -> SeedComparison:
    """name -> its rows of all seeds; BLEU is compared"""
    spread = pooled_spread(([row["bleu"] for row in group] for group in groups.values()), least_degrees=LEAST_DEGREES)
    return SeedComparison(found=groups, value=lambda row: float(row["bleu"]), spread=spread)
