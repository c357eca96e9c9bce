"""What a table of contention says: slowdowns, and what goes with the time, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import InputError
from ..formatting import join_words, plural
from .columns import NO_TRAFFIC, SAMPLED
from .defaults import SEED
from .slowdowns import DRAWS, confidence_interval, slowdown_of
from .table import complete_pairs, has_traffic
from .traffic import rate_note, reached

KEYS = ["victim", "traffic", "pair_rate_Bps", "pattern", "stores", "cores"]
"""The columns of an impact that say what it is of."""
STALLED = "counter.stalled_cycles"
IN_PLACE = "probe.latency_dram_s"
"""What takes the place of stalled cycles where the machine does not count them."""
NO_PAIR = "the table of contention has no pair of runs, without and with traffic"


def impact_table(table: pd.DataFrame, draws: int = DRAWS, seed: int = SEED) -> pd.DataFrame:
    """The slowdown of each setting (`slowdown_of`): KEYS, achieved_rate_Bps, reached, pairs, iterations, quiet_s and
    traffic_s (medians of an iteration), slowdown, and its 95 % confidence interval (low, high).

    Raises InputError if no pair is complete.
    """
    rows = []
    for keys, own in _settings(table):
        traffic = has_traffic(own)
        found = slowdown_of(own, draws, seed)
        achieved = float(own.loc[traffic, "achieved_rate_Bps"].median())
        rows.append(
            {
                **dict(zip(KEYS, keys, strict=True)),
                "achieved_rate_Bps": achieved,
                "reached": reached(float(own["pair_rate_Bps"].iloc[0]), achieved),
                "pairs": len(found.logarithms),
                "iterations": len(own),
                "quiet_s": float(own.loc[~traffic, "seconds"].median()),
                "traffic_s": float(own.loc[traffic, "seconds"].median()),
                "slowdown": found.value,
                "low": found.low,
                "high": found.high,
            }
        )
    if not rows:
        raise InputError(NO_PAIR)
    return pd.DataFrame(rows)


def _settings(table: pd.DataFrame) -> list[tuple[tuple[object, ...], pd.DataFrame]]:
    """The rows of each setting with the values of KEYS, where both runs of a pair have the kind of its traffic."""
    whole = complete_pairs(table)
    kinds = whole[has_traffic(whole)].groupby(["run", "pair"])["traffic"].first().rename("kind")
    joined = whole.join(kinds, on=["run", "pair"])
    keys = ["victim", "kind", *KEYS[2:]]
    return [(tuple(values), own) for values, own in joined.groupby(keys, sort=True)]


def rate_notes(table: pd.DataFrame) -> list[str]:
    """Sentences about rates that were not reached, the lowest of each asked rate."""
    busy = table[has_traffic(table)]
    notes = []
    for (kind, cores, rate), own in busy.groupby(["traffic", "cores", "asked_rate_Bps"]):
        asked = float(str(rate))
        lowest = float(own["achieved_rate_Bps"].min())
        if not reached(asked, lowest):
            where = "on the victim's core" if cores == 0 else f"from {plural(int(str(cores)), 'core')}"
            notes.append(f"Traffic '{kind}' {where}: {rate_note(asked, lowest)}")
    return notes


def sampled_columns(table: pd.DataFrame) -> list[str]:
    """The counters and probes that have values."""
    return [column.name for column in SAMPLED if column.name in table and table[column.name].notna().any()]


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
    (low, high) and the number of rows that have both values.

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
        runs = [group.index for _, group in own.groupby(["run", "pair"])]
        found = _correlations(values.loc[own.index], runs, metrics, columns, draws, seed)
        rows += [{"traffic": kind, **row} for row in found]
    result = pd.DataFrame(rows, columns=["traffic", "rows", "metric", "column", "correlation", "low", "high"])
    order = {NO_TRAFFIC: 0}
    return result.sort_values("traffic", key=lambda kinds: kinds.map(order).fillna(1), kind="stable", ignore_index=True)


def _correlations(
    values: pd.DataFrame,
    runs: Sequence[pd.Index],
    metrics: Sequence[str],
    columns: Sequence[str],
    draws: int,
    seed: int,
) -> list[dict[str, object]]:
    positions = pd.Series(np.arange(len(values)), index=values.index)
    blocks = [positions.loc[run].to_numpy() for run in runs]
    random = np.random.default_rng(seed)
    chosen = [
        np.concatenate([blocks[i] for i in random.integers(0, len(blocks), len(blocks))]) for _ in range(draws)
    ]  # fmt: skip
    array = values[[*columns]].to_numpy(dtype=float)
    rows: list[dict[str, object]] = []
    for metric in metrics:
        own = values[metric].to_numpy(dtype=float)
        both = np.isfinite(own)[:, None] & np.isfinite(array)
        measured = _pearson(own, array)
        drawn = np.array([_pearson(own[some], array[some]) for some in chosen])
        for position, column in enumerate(columns):
            if column == metric:
                continue
            coefficients = drawn[np.isfinite(drawn[:, position]), position]
            low, high = confidence_interval(coefficients) if len(coefficients) > draws // 2 else (math.nan, math.nan)
            rows.append(
                {
                    "rows": int(both[:, position].sum()),
                    "metric": metric,
                    "column": column,
                    "correlation": float(measured[position]),
                    "low": low,
                    "high": high,
                }
            )
    return rows


def _pearson(metric: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coefficients of a metric with each column, each over the rows that have both values; NaN for fewer than three
    of them, and where one of both does not vary."""
    both = np.isfinite(metric)[:, None] & np.isfinite(columns)
    count = both.sum(axis=0)
    ours, of_ours = _centred(np.where(both, metric[:, None], 0.0), both, count)
    theirs, of_theirs = _centred(np.where(both, columns, 0.0), both, count)
    coefficients: NDArray[np.float64] = (ours * theirs).sum(axis=0) / np.where(count < 3, np.nan, of_ours * of_theirs)
    return coefficients


def _centred(
    values: NDArray[np.float64], both: NDArray[np.bool_], count: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values less their mean, 0 where there is none, and their norms; NaN for the norm of what does not vary."""
    centred = np.where(both, values - values.sum(axis=0) / np.maximum(count, 1), 0.0)
    norms = np.sqrt((centred**2).sum(axis=0))
    return centred, np.where(norms <= 1e-12 * np.abs(values).sum(axis=0), np.nan, norms)
