"""The BLEU of the rows, compared with that of rows of the same seeds."""

from __future__ import annotations

from experiments.common.comparing import Comparison, pooled_spread
from experiments.common.results import Row

# With fewer the standard deviation between seeds is itself a matter of luck.
LEAST_DEGREES = 3


class SeedComparison(Comparison):
    """A seed's rows all come from that seed's baseline, so only seeds that both sides have are compared."""

    def comparable(self, name: str, reference: str) -> bool:
        return reference in self.found and bool(self.sides(name, reference)[0])

    def sides(self, name: str, reference: str) -> tuple[list[Row], list[Row]]:
        own, other = ({row["seed"]: row for row in self.found[each]} for each in (name, reference))
        shared = sorted(own.keys() & other.keys())
        return [own[seed] for seed in shared], [other[seed] for seed in shared]


def compared(groups: dict[str, list[Row]]) -> SeedComparison:
    """name -> its rows of all seeds; BLEU is compared"""
    spread = pooled_spread(([row["bleu"] for row in group] for group in groups.values()), least_degrees=LEAST_DEGREES)
    return SeedComparison(found=groups, value=lambda row: float(row["bleu"]), spread=spread)
