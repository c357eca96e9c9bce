"""From a study's runs to slowdown by noise at each scale."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

PS_PER_S = 1e12


@dataclass(frozen=True)
class Scale:
    """One number of ranks. Times in s; slowdowns are fractions (0.02: 2 % longer), one a seed.

    `baseline_s` is None where no run was without noise; `slowdowns` is empty where none was with it, or
    where a run without noise takes no time.
    """

    ranks: int
    baseline_s: float | None
    noisy_s: tuple[float, ...]
    slowdowns: tuple[float, ...]
    messages: int
    seconds: float

    @property
    def median(self) -> float:
        """The median slowdown."""
        return float(pd.Series(self.slowdowns).median())


def scales(study: pd.DataFrame) -> list[Scale]:
    """The scales of a study's table, smallest first. The baseline is the median of the runs without noise."""
    result = []
    for ranks, runs in study.groupby("ranks", sort=True):
        with_noise = runs["noise"].astype(bool)
        quiet = runs.loc[~with_noise, "finish_ps"].astype(float) / PS_PER_S
        noisy = runs.loc[with_noise, "finish_ps"].astype(float) / PS_PER_S
        baseline = float(quiet.median()) if len(quiet) else None
        result.append(
            Scale(
                ranks=int(str(ranks)),
                baseline_s=baseline,
                noisy_s=tuple(noisy),
                slowdowns=tuple(noisy / baseline - 1) if baseline else (),
                messages=int(runs["messages"].max()),
                seconds=float(runs["seconds"].sum()),
            )
        )
    return result
