"""What goes with the time of an iteration, and with stalled cycles: Pearson's correlations, as in the talk's table IV.

Iterations of one run resemble each other, so runs are what is drawn for a confidence interval and permuted for a
p-value. A permutation exchanges the times of whole runs of one victim, while the counters and probes stay: without a
relation within a victim p is below 0.05 in at most 5 % of columns. Over all columns, with and without traffic, p-values
are corrected by Holm's method, so that of tables without any relation at most 5 % have one that is below 0.05.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import InputError
from ..formatting import join_words
from ..multiple_tests import holm
from .columns import NO_TRAFFIC, SAMPLED, counts_of_victim
from .defaults import SEED
from .impact_statistics import NO_PAIR
from .slowdowns import confidence_interval, expanded_level
from .table import complete_pairs, has_traffic

STALLED = "counter.stalled_cycles"
IN_PLACE = "probe.latency_dram_s"
"""What takes the place of stalled cycles where the machine does not count them."""
NO_COUNTERS = "The processor's counters could not be read: latency and bandwidth of memory were sampled in their place."
NOTHING_SAMPLED = "Neither the processor's counters nor latency and bandwidth of memory were sampled."
LEAST_RUNS = 5
"""Of fewer runs a coefficient has no confidence interval."""
PERMUTATIONS = 999
COLUMNS = ["traffic", "rows", "metric", "column", "correlation", "low", "high", "p", "p_holm"]
_CHUNK = 100
"""So many permutations are in memory at a time."""


def sampled_columns(table: pd.DataFrame) -> list[str]:
    """The counters and probes that have values."""
    return [column.name for column in SAMPLED if column.name in table and table[column.name].notna().any()]


def sampling_notes(table: pd.DataFrame) -> list[str]:
    """A sentence if there are no counters."""
    sampled = sampled_columns(table)
    if any(counts_of_victim(name) for name in sampled):
        return []
    return [NO_COUNTERS if sampled else NOTHING_SAMPLED]


def normalised(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The columns over the median of the victim's rows without traffic; NaN where that is 0 or not known."""
    medians = _quiet_medians(table, columns)
    usable = medians.where(medians != 0)
    values = table[[*columns]].to_numpy(dtype=float) / usable.loc[table["victim"]].to_numpy(dtype=float)
    return pd.DataFrame(values, columns=[*columns], index=table.index)


def _quiet_medians(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    return table[~has_traffic(table)].groupby("victim")[[*columns]].median()


def normalisation_notes(table: pd.DataFrame) -> list[str]:
    """Sentences about columns that have no ratio to a victim's median without traffic, and so no correlations in it."""
    table = complete_pairs(table)
    medians = _quiet_medians(table, sampled_columns(table))
    notes = []
    for victim, row in medians.iterrows():
        zero, unknown = ([str(name) for name in row.index[chosen]] for chosen in (row == 0, row.isna()))
        for names, why in ((zero, "0 in the median without traffic"), (unknown, "not known without traffic")):
            if names:
                verb, its = ("is", "its") if len(names) == 1 else ("are", "their")
                notes.append(f"{victim}: {join_words(names)} {verb} {why}: {its} correlations are without {victim}.")
    return notes


def correlation_table(table: pd.DataFrame, draws: int = 400, seed: int = SEED) -> pd.DataFrame:
    """Correlations over all victims as in the talk's table IV: a row for traffic (none, or its kind), metric (seconds,
    and stalled cycles or what takes their place) and column, with Pearson's coefficient, its 95 % confidence interval
    (low, high; NaN for fewer than `LEAST_RUNS` runs), the number of rows that have both values, the p-value of the
    coefficient's size, and that corrected for all columns and kinds of traffic of the metric (p_holm).

    Each value is over the victim's median without traffic, because an iteration of one victim has nothing to do with
    that of another; where that median is 0 or unknown, the victim's rows are left out of the coefficients of that
    column (`normalisation_notes`). The bootstrap draws runs. A column that does not vary has no coefficient (NaN).
    Pairs that lack a run are left out. Raises InputError if no pair is complete.
    """
    table = complete_pairs(table)
    if table.empty:
        raise InputError(NO_PAIR)
    columns = sampled_columns(table)
    stalled = STALLED if STALLED in columns else IN_PLACE
    metrics = ["seconds", *([stalled] if stalled in columns else [])]
    values = normalised(table, ["seconds", *columns])
    rows = []
    for kind, own in table.groupby("traffic", sort=False):
        runs = _Runs.of(own)
        for metric in metrics:
            found = _correlations(values.loc[own.index], runs, metric, columns, draws, seed)
            rows += [{"traffic": kind, **row} for row in found]
    result = pd.DataFrame(rows, columns=COLUMNS)
    for _, own in result.groupby("metric"):
        result.loc[own.index, "p_holm"] = holm(own["p"])
    order = {NO_TRAFFIC: 0}
    return result.sort_values("traffic", key=lambda kinds: kinds.map(order).fillna(1), kind="stable", ignore_index=True)


@dataclass(frozen=True, eq=False)
class _Runs:
    """The rows of each run by their positions, and the runs of each victim. `repeated` has a row a run: its rows again
    and again, up to the length of the longest run. `run` and `step`: for each row its run, and the how manieth it is
    there."""

    rows: Sequence[NDArray[np.int64]]
    of_victims: Sequence[NDArray[np.int64]]
    repeated: NDArray[np.int64]
    run: NDArray[np.int64]
    step: NDArray[np.int64]

    @classmethod
    def of(cls, table: pd.DataFrame) -> _Runs:
        groups = table.groupby(["victim", "run", "pair"], sort=False)
        run = np.asarray(groups.ngroup(), dtype=np.int64)
        step = np.asarray(groups.cumcount(), dtype=np.int64)
        rows = [np.flatnonzero(run == number) for number in range(run.max() + 1)]
        repeated = np.array([np.resize(own, step.max() + 1) for own in rows])
        victims, _ = pd.factorize(table["victim"].to_numpy()[[own[0] for own in rows]])
        return cls(rows, [np.flatnonzero(victims == one) for one in range(victims.max() + 1)], repeated, run, step)

    def drawn(self, random: np.random.Generator) -> NDArray[np.int64]:
        """The rows of as many runs, drawn with replacement."""
        return np.concatenate([self.rows[run] for run in random.integers(0, len(self.rows), len(self.rows))])

    def permuted(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """A row a permutation: for each row of the table the one whose value it gets. Runs of one victim are exchanged,
        and a run that is shorter than the one whose place it takes is repeated."""
        others = np.empty((count, len(self.rows)), dtype=np.int64)
        for runs in self.of_victims:
            others[:, runs] = random.permuted(np.tile(runs, (count, 1)), axis=1)
        chosen: NDArray[np.int64] = self.repeated[others[:, self.run], self.step]
        return chosen


def _correlations(
    values: pd.DataFrame, runs: _Runs, metric: str, columns: Sequence[str], draws: int, seed: int
) -> list[dict[str, object]]:
    random = np.random.default_rng(seed)
    others = [column for column in columns if column != metric]
    own, array = values[metric].to_numpy(dtype=float), values[others].to_numpy(dtype=float)
    measured = _pearson(own[None, :], array)[0]
    chosen = [runs.drawn(random) for _ in range(draws)]
    drawn = np.array([_pearson(own[None, some], array[some])[0] for some in chosen]).reshape(draws, len(others))
    p = _p_values(own, array, measured, runs, random)
    both = np.isfinite(own)[:, None] & np.isfinite(array)
    level = expanded_level(len(runs.rows))
    rows: list[dict[str, object]] = []
    for position, column in enumerate(others):
        coefficients = drawn[np.isfinite(drawn[:, position]), position]
        enough = len(runs.rows) >= LEAST_RUNS and len(coefficients) > draws // 2
        low, high = confidence_interval(coefficients, level) if enough else (math.nan, math.nan)
        rows.append(
            {
                "rows": int(both[:, position].sum()),
                "metric": metric,
                "column": column,
                "correlation": float(measured[position]),
                "low": low,
                "high": high,
                "p": float(p[position]),
            }
        )
    return rows


def _p_values(
    metric: NDArray[np.float64],
    columns: NDArray[np.float64],
    measured: NDArray[np.float64],
    runs: _Runs,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """The share of permutations, the given order included, in which a coefficient is as far from 0; NaN without one."""
    as_far = np.ones(len(measured))
    for first in range(0, PERMUTATIONS, _CHUNK):
        count = min(_CHUNK, PERMUTATIONS - first)
        found = _pearson(metric[runs.permuted(count, random)], columns)
        as_far += (~(np.abs(found) < np.abs(measured) - 1e-9)).sum(axis=0)
    return np.where(np.isfinite(measured), as_far / (1 + PERMUTATIONS), np.nan)


def _pearson(metrics: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coefficients of metrics, a row each, with columns, each over the rows that have both values; NaN for fewer
    than three of them, and where one of both does not vary."""
    ours, theirs = np.isfinite(metrics), np.isfinite(columns)
    x = np.where(ours, metrics - _mean(metrics[ours]), 0.0)  # near 0, so that sums of squares are exact enough
    y = np.where(theirs, columns - [_mean(column[known]) for column, known in zip(columns.T, theirs.T, strict=True)], 0)
    w, v = ours.astype(float), theirs.astype(float)
    count = np.where(w @ v < 3, np.nan, w @ v)
    sum_x, sum_y, squares_x, squares_y = x @ v, w @ y, x**2 @ v, w @ y**2
    spread_x, spread_y = squares_x - sum_x**2 / count, squares_y - sum_y**2 / count
    varies = (spread_x > 1e-12 * squares_x) & (spread_y > 1e-12 * squares_y)
    size = np.sqrt(np.where(varies, spread_x * spread_y, np.nan))
    coefficients: NDArray[np.float64] = (x @ y - sum_x * sum_y / count) / size
    return coefficients


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0
