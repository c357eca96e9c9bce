"""What a table of contention says: slowdowns with intervals, and what goes with the time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import InputError
from ..formatting import plural
from .columns import NO_TRAFFIC, counter_columns, probe_columns
from .traffic import TOLERANCE, rate_note
from .victim_run import is_quiet

DRAWS = 2000
"""Draws of a bootstrap."""
KEYS = ["victim", "traffic", "pair_rate_Bps", "pattern", "stores", "cores"]
"""The columns of an impact that say what it is of."""
STALLED = "counter.stalled_cycles"
IN_PLACE = "probe.latency_dram_s"
"""What takes the place of stalled cycles where the machine does not count them."""


def complete_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of pairs that have both runs, from one start of the measurement."""
    quiet = is_quiet(table)
    both = table.assign(quiet=quiet).groupby(["run", "pair"])["quiet"].nunique()
    keys = pd.MultiIndex.from_frame(table[["run", "pair"]])
    return table[keys.isin(both[both == 2].index)]


def pair_draws(own: pd.DataFrame, draws: int, seed: int) -> NDArray[np.float64]:
    """The logarithm of the slowdown of each pair of one setting: a row a pair; the first column is what was measured,
    the others draws of its iterations."""
    random = np.random.default_rng(seed)
    rows = []
    for _, pair in own.groupby(["run", "pair"]):
        quiet = is_quiet(pair)
        rows.append(
            _medians(pair.loc[~quiet, "seconds"].to_numpy(), draws, random)
            - _medians(pair.loc[quiet, "seconds"].to_numpy(), draws, random)
        )
    return np.array(rows).reshape(-1, draws + 1)


def _medians(values: NDArray[np.float64], draws: int, random: np.random.Generator) -> NDArray[np.float64]:
    logs = np.log(np.maximum(values, 1e-12))
    drawn = np.median(logs[random.integers(0, len(logs), (draws, len(logs)))], axis=1)
    return np.concatenate([[np.median(logs)], drawn])


def mean_draws(pairs: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The mean over pairs: what was measured, and draws of the pairs and of the iterations in each."""
    random = np.random.default_rng(seed)
    count, columns = pairs.shape
    chosen = random.integers(0, count, (columns - 1, count))
    drawn = pairs[chosen, np.arange(1, columns)[:, None]].mean(axis=1)
    return np.concatenate([[pairs[:, 0].mean()], drawn])


def expanded_level(pairs: int, level: float = 0.95) -> float:
    """The level of the percentile interval of few pairs, widened by what Student's t is wider than the normal law, and
    by n/(n-1) for the variance of draws (T. Hesterberg, What Teachers Should Know About the Bootstrap, 2015)."""
    from scipy import stats

    if pairs < 2:
        return 1.0
    wide = math.sqrt(pairs / (pairs - 1)) * stats.t.ppf(0.5 + level / 2, pairs - 1)
    return float(1 - 2 * stats.norm.sf(wide))


def interval(draws: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The ends of the percentile interval of draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def impact_table(table: pd.DataFrame, draws: int = DRAWS, seed: int = 1) -> pd.DataFrame:
    """The slowdown of each setting: KEYS, achieved_rate_Bps, reached, pairs, iterations, quiet_s and traffic_s (medians
    of an iteration), slowdown (the geometric mean over pairs of the ratio of medians) with its 95 % interval (low,
    high).

    The bootstrap draws pairs, and in each the iterations of both runs. With one pair there is no interval (NaN). Raises
    InputError if no pair is complete.
    """
    rows = []
    for keys, own in _settings(table):
        quiet = is_quiet(own)
        pairs = pair_draws(own, draws, seed)
        means = mean_draws(pairs, seed)
        low, high = interval(means[1:], expanded_level(len(pairs))) if len(pairs) > 1 else (math.nan, math.nan)
        achieved = float(own.loc[~quiet, "achieved_rate_Bps"].median())
        rows.append(
            {
                **dict(zip(KEYS, keys, strict=True)),
                "achieved_rate_Bps": achieved,
                "reached": achieved >= (1 - TOLERANCE) * float(own["pair_rate_Bps"].iloc[0]),
                "pairs": len(pairs),
                "iterations": len(own),
                "quiet_s": float(own.loc[quiet, "seconds"].median()),
                "traffic_s": float(own.loc[~quiet, "seconds"].median()),
                "slowdown": math.exp(means[0]),
                "low": math.exp(low),
                "high": math.exp(high),
            }
        )
    if not rows:
        raise InputError("the table of contention has no pair of runs, without and with traffic")
    return pd.DataFrame(rows)


def _settings(table: pd.DataFrame) -> list[tuple[tuple[object, ...], pd.DataFrame]]:
    """The rows of each setting with the values of KEYS, where both runs of a pair have the kind of its traffic."""
    whole = complete_pairs(table)
    kinds = whole[~is_quiet(whole)].groupby(["run", "pair"])["traffic"].first().rename("kind")
    joined = whole.join(kinds, on=["run", "pair"])
    keys = ["victim", "kind", *KEYS[2:]]
    return [(tuple(values), own) for values, own in joined.groupby(keys, sort=True)]


def rate_notes(table: pd.DataFrame) -> list[str]:
    """Sentences about rates that were not reached, the lowest of each asked rate."""
    busy = table[~is_quiet(table)]
    notes = []
    for (kind, cores, rate), own in busy.groupby(["traffic", "cores", "asked_rate_Bps"]):
        asked = float(str(rate))
        lowest = float(own["achieved_rate_Bps"].min())
        if lowest < (1 - TOLERANCE) * asked:
            where = "on the victim's core" if cores == 0 else f"from {plural(int(str(cores)), 'core')}"
            notes.append(f"Traffic '{kind}' {where}: {rate_note(asked, lowest)}")
    return notes


def sampled_columns(table: pd.DataFrame) -> list[str]:
    """The counters and probes that have values."""
    names = [column.name for column in (*counter_columns(), *probe_columns())]
    return [name for name in names if name in table and table[name].notna().any()]


def normalised(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The columns over the median of the victim's rows without traffic."""
    quiet = table[is_quiet(table)].groupby("victim")[[*columns]].median()
    values = table[[*columns]].to_numpy(dtype=float) / quiet.loc[table["victim"]].to_numpy(dtype=float)
    return pd.DataFrame(values, columns=[*columns], index=table.index)


def correlation_table(table: pd.DataFrame, draws: int = 400, seed: int = 1) -> pd.DataFrame:
    """Correlations over all victims as in the talk's table IV: a row for traffic (none, or its kind), metric (seconds,
    and stalled cycles or what takes their place) and column, with Pearson's coefficient, its 95 % interval and the
    number of rows.

    Each value is over the victim's median without traffic, because an iteration of one victim has nothing to do with
    that of another. The bootstrap draws runs. A column that does not vary has no coefficient (NaN). Pairs that lack a
    run are left out.
    """
    table = complete_pairs(table)
    columns = sampled_columns(table)
    stalled = STALLED if STALLED in columns else IN_PLACE
    metrics = ["seconds", *([stalled] if stalled in columns else [])]
    rows = []
    for kind, own in table.groupby("traffic", sort=False):
        values = normalised(table, ["seconds", *columns]).loc[own.index]
        runs = [group.index for _, group in own.groupby(["run", "pair"])]
        found = _correlations(values, runs, metrics, columns, draws, seed)
        rows += [{"traffic": kind, "rows": len(own), **row} for row in found]
    order = {NO_TRAFFIC: 0}
    result = pd.DataFrame(rows)
    return result.sort_values("traffic", key=lambda kinds: kinds.map(order).fillna(1), kind="stable", ignore_index=True)


def _correlations(
    values: pd.DataFrame,
    runs: Sequence[pd.Index],
    metrics: Sequence[str],
    columns: Sequence[str],
    draws: int,
    seed: int,
) -> list[dict[str, object]]:
    names = ["seconds", *columns]
    array = values[names].to_numpy(dtype=float)
    places = {index: place for place, index in enumerate(values.index)}
    blocks = [np.array([places[index] for index in run]) for run in runs]
    random = np.random.default_rng(seed)
    drawn = np.array(
        [_pearson(array[np.concatenate([blocks[i] for i in random.integers(0, len(blocks), len(blocks))])])
         for _ in range(draws)]
    )  # fmt: skip
    measured = _pearson(array)
    rows: list[dict[str, object]] = []
    for metric in metrics:
        for column in columns:
            if column == metric:
                continue
            at = names.index(metric), names.index(column)
            own = drawn[:, at[0], at[1]]
            own = own[np.isfinite(own)]
            low, high = interval(own, 0.95) if len(own) > draws // 2 else (math.nan, math.nan)
            rows.append(
                {"metric": metric, "column": column, "correlation": float(measured[at]), "low": low, "high": high}
            )
    return rows


def _pearson(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """All coefficients; NaN of a column that does not vary or has no values."""
    usable = values[np.isfinite(values).all(axis=1)]
    width = values.shape[1]
    if len(usable) < 3:
        return np.full((width, width), np.nan)
    centred = usable - usable.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    norms[norms <= 1e-12 * np.abs(usable).sum(axis=0)] = np.nan
    result: NDArray[np.float64] = (centred.T @ centred) / np.outer(norms, norms)
    return result
