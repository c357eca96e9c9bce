"""Which counters go with performance: rank correlations over lags, with p-values by permuting blocks.

A counter's rate in a phase is what it grew by, over the length of the phase. The rate `lag` phases before each phase of
a series is compared with the figure of the series, by Spearman's correlation; lag 1 is the idle phase just before, lag
0 the phase itself, and a round has six phases. A p-value is that of the strongest correlation over all lags: the share
of permutations of the series in blocks, longer than it remembers, in which any lag is as strong. All p-values of a
recording are corrected by Holm's method (Scandinavian Journal of Statistics 1979): the probability that any of the
counters found is none, is at most the level, however the counters depend on each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .recording import COUNTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .series import Series

LAGS = 12
"""The largest lag, in phases: two rounds."""
LEVEL = 0.05
LEAST = 20
"""Fewer phases with both figure and rate say nothing."""
PERMUTATIONS = 2000
MOST_PERMUTATIONS = 20_000
LEAST_BLOCKS = 8
"""A series that remembers so long that it has fewer blocks gets no p-value."""
_CHUNK = 250


class _Lagged(NamedTuple):
    """The rates of one counter before each phase of a series, a column a lag."""

    counter: str
    rates: npt.NDArray[np.float64]


def correlations(
    table: pd.DataFrame,
    series: Sequence[Series],
    counters: Sequence[str],
    *,
    lags: int = LAGS,
    permutations: int | None = None,
    seed: int = 1,
) -> pd.DataFrame:
    """The correlation of each counter with each series at each lag: a row for each of them.

    `permutations`: of each series; by default so many that p-values are small enough for all counters.

    Columns: those of `series.KEY`; counter (without "counter."), lag, phases; correlation, NaN where the counter did
    not change; strongest: whether it is the strongest of the series' and counter's lags. In these rows, else NaN: p (of
    the strongest over all lags) and p_holm, corrected for all counters and series of the table.
    """
    import pandas as pd

    random_seeds = range(seed, seed + len(series))
    rates = _rates(table, counters)
    tests = max(1, len(series) * len(counters))
    permutations = permutations or min(max(PERMUTATIONS, round(2 * tests / LEVEL)), MOST_PERMUTATIONS)
    rows = []
    for one, of_series in zip(series, random_seeds, strict=True):
        lagged = [_Lagged(name, _before(one, rates, name, lags)) for name in counters]
        rows += _of_series(one, lagged, permutations, of_series)
    columns = ["test", "rank", "peer", "size", "counter", "lag", "phases", "correlation", "strongest", "p"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(p_holm=holm(found["p"]))


def holm(p: pd.Series) -> npt.NDArray[np.float64]:
    """p-values corrected by Holm's step-down method; NaN are no tests, and stay."""
    import numpy as np

    values = p.to_numpy(dtype=np.float64)
    corrected = np.full(len(values), np.nan)
    order = np.argsort(values)[: int(np.isfinite(values).sum())]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order])) if len(order) else []
    return corrected


def _rates(table: pd.DataFrame, counters: Sequence[str]) -> pd.DataFrame:
    """run, and the rates of the counters, a row a phase; of several pairs in a phase the mean."""
    import numpy as np
    import pandas as pd

    lengths = table["length_ns"].to_numpy() / 1e9
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = {name: np.where(lengths > 0, table[name].to_numpy() / lengths, np.nan) for name in counters}
    columns = {name: table[name].to_numpy() for name in ("phase", "run")}
    return pd.DataFrame({**columns, **rates}).groupby("phase").mean()


def _before(one: Series, rates: pd.DataFrame, counter: str, lags: int) -> npt.NDArray[np.float64]:
    """The rate of the counter `lag` phases before each phase of the series, a column a lag; NaN where there is none, or
    another run."""
    import numpy as np

    of_phase = rates[counter]
    found = np.full((len(one.phase), lags + 1), np.nan)
    for lag in range(lags + 1):
        before = one.phase - lag
        same = rates["run"].reindex(before).to_numpy() == one.run
        found[:, lag] = np.where(same, of_phase.reindex(before).to_numpy(), np.nan)
    return found


def _of_series(one: Series, lagged: Sequence[_Lagged], permutations: int, seed: int) -> list[tuple[object, ...]]:
    import numpy as np
    from scipy.stats import rankdata

    ranks = rankdata(one.value)
    columns = [column for of in lagged for column in of.rates.T]
    if not columns:
        return []
    scores, valid = _scores(np.array(columns).T)
    observed = _spearman(ranks[None, :], scores, valid)[0]
    observed[valid.sum(axis=0) < LEAST] = np.nan
    exceeded = _exceeded(ranks, scores, valid, observed, len(lagged), permutations, seed)
    rows: list[tuple[object, ...]] = []
    lags = len(observed) // len(lagged)
    for number, of in enumerate(lagged):
        own = observed[number * lags : (number + 1) * lags]
        strongest = int(np.nanargmax(np.abs(own))) if np.isfinite(own).any() else -1
        for lag in range(lags):
            phases = int(valid[:, number * lags + lag].sum())
            p = float(exceeded[number]) if lag == strongest else float("nan")
            name = of.counter.removeprefix(COUNTER)
            rows.append((*one.key.values(), name, lag, phases, float(own[lag]), lag == strongest, p))
    return rows


def _scores(columns: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The centred ranks of each column, 0 where it has no value, and 1 where it has one."""
    import numpy as np
    from scipy.stats import rankdata

    valid = np.isfinite(columns)
    scores = np.zeros(columns.shape)
    for number in range(columns.shape[1]):
        own = valid[:, number]
        if own.any():
            ranked = rankdata(columns[own, number])
            scores[own, number] = ranked - ranked.mean()
    return scores, valid.astype(np.float64)


def _spearman(
    ranks: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], valid: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The correlation of each row of `ranks` with each column of `scores`, where that has values; NaN if one of them is
    constant there."""
    import numpy as np

    counts = valid.sum(axis=0)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (centred**2) @ valid - (centred @ valid) ** 2 / counts
        found = (centred @ scores) / np.sqrt(spread * (scores**2).sum(axis=0))
    return np.where(np.isfinite(found), found, np.nan)


def _exceeded(
    ranks: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
    valid: npt.NDArray[np.float64],
    observed: npt.NDArray[np.float64],
    counters: int,
    permutations: int,
    seed: int,
) -> npt.NDArray[np.float64]:
    """For each counter the p-value of its strongest correlation."""
    import numpy as np

    strongest = _strongest(observed[None, :], counters)[0]
    length = block_length(ranks)
    if len(ranks) < LEAST or len(ranks) < LEAST_BLOCKS * length:
        return np.full(counters, np.nan)
    random = np.random.default_rng(seed)
    as_strong = np.ones(counters)
    for begin in range(0, permutations, _CHUNK):
        count = min(_CHUNK, permutations - begin)
        permuted = _permuted(ranks, length, count, random)
        found = _strongest(_spearman(permuted, scores, valid), counters)
        as_strong += (found >= strongest - 1e-12).sum(axis=0)
    return np.where(strongest > 0, as_strong / (permutations + 1), np.nan)


def _strongest(found: npt.NDArray[np.float64], counters: int) -> npt.NDArray[np.float64]:
    """The largest absolute correlation of each counter, over its lags; 0 if it has none."""
    import numpy as np

    by_counter = np.nan_to_num(np.abs(found)).reshape(len(found), counters, -1)
    return np.asarray(by_counter.max(axis=2))


def block_length(ranks: npt.NDArray[np.float64]) -> int:
    """How many successive values are permuted together: four times as many as one value goes with.

    That is 1 plus twice the sum of autocorrelations (as far as they are beyond what independent values have), so 1 for
    independent values, of which each is then permuted by itself.
    """
    import numpy as np

    count = len(ranks)
    centred = ranks - ranks.mean()
    variance = float(centred @ centred)
    if count < 3 or variance == 0:
        return 1
    total = 0.0
    for lag in range(1, count // 2):
        correlation = float(centred[lag:] @ centred[:-lag]) / variance
        if correlation < 2 / np.sqrt(count):
            break
        total += correlation
    return 1 if total == 0 else int(np.ceil(4 * (1 + 2 * total)))


def _permuted(
    ranks: npt.NDArray[np.float64], length: int, count: int, random: np.random.Generator
) -> npt.NDArray[np.float64]:
    """`count` permutations of `ranks`: on a circle that is cut into blocks at a random place, in a random order."""
    import numpy as np

    if length == 1:
        return random.permuted(np.tile(ranks, (count, 1)), axis=1)
    found = []
    for _ in range(count):
        blocks = np.array_split(np.roll(ranks, int(random.integers(len(ranks)))), len(ranks) // length)
        found.append(np.concatenate([blocks[place] for place in random.permutation(len(blocks))]))
    return np.array(found)
