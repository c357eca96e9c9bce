"""Bounds of the times in a study: rows of unknown origin that no program can have are refused.

Noise lengthens what a processor does. All the same a program may end a bit earlier with noise, where messages come in
another order; and a program of a microsecond may wait a second for a detour. So the bounds are far from what is seen.
Rows that a provenance vouches for are not checked: on a network that costs nothing, messages take no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

SHORTEST = 100
"""A run with noise takes at least 1/SHORTEST of the time of the run without."""
LONGEST = 10_000_000
"""A run with noise takes at most LONGEST times as long: ten seconds for a microsecond."""


def check_plausible(runs: pd.DataFrame, name: str) -> None:
    """Raise InputError, naming the row, if no program can have these runs. Messages call the study `name`."""
    _check_messages(runs, name)
    noise = runs["noise"].to_numpy(dtype=bool)
    finish = runs["finish_ps"].to_numpy(dtype=float)
    quiet = runs["ranks"].map(runs[~noise].groupby("ranks")["finish_ps"].median()).to_numpy(dtype=float)
    _check_times(runs, name, noise & (finish < quiet / SHORTEST), f"at least 1/{SHORTEST} of", quiet)
    _check_times(runs, name, noise & (finish > quiet * LONGEST), f"at most {LONGEST:,} times", quiet)


def _check_messages(runs: pd.DataFrame, name: str) -> None:
    """The same program on the same ranks sends the same messages, and they take time."""
    sent = runs["messages"].to_numpy()
    expected = runs.groupby("ranks")["messages"].transform("first").to_numpy()
    for row in np.flatnonzero(sent != expected)[:1]:
        said = f"expected {expected[row]}, as in the first run of as many ranks, found {sent[row]}"
        raise InputError(f"{name}: messages: row {row + 1}: {said}")
    for row in np.flatnonzero((runs["finish_ps"].to_numpy() == 0) & (sent > 0))[:1]:
        said = f"expected a time from 1 on, for messages were sent ({sent[row]}), found 0"
        raise InputError(f"{name}: finish_ps: row {row + 1}: {said}")


def _check_times(
    runs: pd.DataFrame, name: str, wrong: npt.NDArray[np.bool_], bound: str, quiet: npt.NDArray[np.float64]
) -> None:
    for row in np.flatnonzero(wrong)[:1]:
        ranks, finish = (int(runs[column].iloc[row]) for column in ("ranks", "finish_ps"))
        said = f"expected {bound} the {quiet[row]:.0f} ps without noise (ranks: {ranks}), found {finish}"
        raise InputError(f"{name}: finish_ps: row {row + 1}: {said}")
