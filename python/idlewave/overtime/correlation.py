"""Which counters go with performance: rank correlations over lags, with p-values by permuting blocks.

A counter's rate in a phase is what it grew by, over the length of the phase. The rate `lag` phases before each phase of
a series is compared with the value of the series, by Spearman's correlation; lag 1 is the idle phase just before, lag
0 the phase itself, and a round has six phases. A p-value is that of the strongest correlation over all lags: the share
of permutations of the series in blocks, longer than it is autocorrelated, in which any lag is as strong. All p-values
of a recording are corrected by Holm's method: if each is one, the probability that any of the counters found is none,
is at most the level, however the counters depend on each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..measure.overtime.recording import COUNTER
from ..multiple_tests import holm
from .defaults import LAGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .series import Series

LEVEL = 0.05
LEAST = 20
"""Fewer phases with both value and rate say nothing."""
PERMUTATIONS = 2000
_MOST_OF_ALL = 20_000
"""So many permutations are made for all counters at most; more only for those that none of these reached."""
MOST_PERMUTATIONS = 200_000
LEAST_BLOCKS = 8
"""A series that is autocorrelated so long that it has fewer blocks gets no p-value."""
PERIODIC = 0.01
"""So many series that have no period are taken for periodic ones, at most."""
_LEAST_PAIRS = 10
"""Fewer pairs of values show no autocorrelation."""
_CHUNK = 250
"""So many permutations are tried at a time."""
_NUMBERS = 1 << 22
"""What is in memory at a time has so many numbers a matrix: counters are compared, and series permuted, in groups."""


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

    `permutations`: of each series; by default so many that p-values are small enough for all counters, as far as
    `MOST_PERMUTATIONS` of them go (`most_judged`).

    Columns: those of `series.KEY`; counter (without "counter."), lag, phases; correlation, NaN where the counter did
    not change; strongest: whether it is the strongest of the series' and counter's lags. In these rows, else NaN: p (of
    the strongest over all lags) and p_holm, corrected for all counters and series of the table.
    """
    import pandas as pd

    tests = max(1, len(series) * len(counters))
    permutations = permutations or min(max(PERMUTATIONS, round(2 * tests / LEVEL)), MOST_PERMUTATIONS)
    longest = max((len(one.value) for one in series), default=1)
    group = max(1, _NUMBERS // (longest * (lags + 1)))
    rows: dict[int, list[tuple[object, ...]]] = {number: [] for number in range(len(series))}
    for begin in range(0, len(counters), group):
        names = counters[begin : begin + group]
        rates = _rates(table, names)
        for number, one in enumerate(series):
            rows[number] += _of_series(one, rates, names, lags, permutations, seed + number)
    columns = ["test", "rank", "peer", "size", "counter", "lag", "phases", "correlation", "strongest", "p"]
    found = pd.DataFrame([row for own in rows.values() for row in own], columns=columns)
    return found.assign(p_holm=holm(found["p"]))


def most_judged() -> int:
    """Of how many pairs of a counter and a series the smallest p-value there is can be below `LEVEL`, corrected."""
    return int(LEVEL * (MOST_PERMUTATIONS + 1))


def _rates(table: pd.DataFrame, counters: Sequence[str]) -> pd.DataFrame:
    """run, and the rates of the counters, a row a phase; of several pairs in a phase the mean."""
    import numpy as np
    import pandas as pd

    lengths = table["length_ns"].to_numpy() / 1e9
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = {name: np.where(lengths > 0, table[name].to_numpy() / lengths, np.nan) for name in counters}
    columns = {name: table[name].to_numpy() for name in ("phase", "run")}
    return pd.DataFrame({**columns, **rates}).groupby("phase").mean()


def _lagged(one: Series, rates: pd.DataFrame, counters: Sequence[str], lags: int) -> npt.NDArray[np.float64]:
    """The rates of the counters 0 to `lags` phases before each phase of the series, a column a counter and lag; NaN
    where there is none, or another run."""
    import numpy as np
    import pandas as pd

    found = np.full((len(one.phase), len(counters), lags + 1), np.nan)
    phases = pd.Index(one.phase)
    runs, own = rates["run"].to_numpy(), rates[list(counters)].to_numpy(dtype=np.float64)
    for lag in range(lags + 1):
        place = rates.index.get_indexer(phases - lag)
        there = place >= 0
        there[there] = runs[place[there]] == one.run[there]
        found[there, :, lag] = own[place[there]]
    return found.reshape(len(one.phase), -1)


def _of_series(
    one: Series, rates: pd.DataFrame, counters: Sequence[str], lags: int, permutations: int, seed: int
) -> list[tuple[object, ...]]:
    import numpy as np
    from scipy.stats import rankdata

    ranks = rankdata(one.value)
    scores = _scores(_lagged(one, rates, counters, lags))
    observed = _spearman(ranks[None, :], scores)[0]
    observed[scores.phases < LEAST] = np.nan
    length = block_length(ranks, one.run)
    exceeded = _exceeded(ranks, length, scores, observed, len(counters), permutations, seed)
    rows: list[tuple[object, ...]] = []
    for number, counter in enumerate(counters):
        columns = slice(number * (lags + 1), (number + 1) * (lags + 1))
        own, phases = observed[columns], scores.phases[columns]
        strongest = int(np.nanargmax(np.abs(own))) if np.isfinite(own).any() else -1
        for lag in range(lags + 1):
            p = float(exceeded[number]) if lag == strongest else float("nan")
            name = counter.removeprefix(COUNTER)
            rows.append((*one.key.values(), name, lag, int(phases[lag]), float(own[lag]), lag == strongest, p))
    return rows


class _Scores(NamedTuple):
    """The centred ranks of columns of rates, 0 where a column has no value, and the sums of their squares.

    `there` has a column for each set of rows in which any column has values, 1 in these rows, and `which` the set of
    each column: counters that are read together share one a lag. `phases`: the number of values of each column.
    """

    ranks: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64]
    there: npt.NDArray[np.float64]
    which: npt.NDArray[np.int64]
    phases: npt.NDArray[np.int64]

    def of(self, columns: npt.NDArray[np.int64]) -> _Scores:
        """Those of some of the columns."""
        return self._replace(
            ranks=self.ranks[:, columns],
            squares=self.squares[columns],
            which=self.which[columns],
            phases=self.phases[columns],
        )


def _scores(columns: npt.NDArray[np.float64]) -> _Scores:
    import numpy as np
    from scipy.stats import rankdata

    valid = np.isfinite(columns)
    scores = np.zeros(columns.shape)
    for number in range(columns.shape[1]):
        own = valid[:, number]
        if own.any():
            ranked = rankdata(columns[own, number])
            scores[own, number] = ranked - ranked.mean()
    packed = np.packbits(valid, axis=0)
    sets: dict[bytes, int] = {}
    which = np.array([sets.setdefault(packed[:, n].tobytes(), len(sets)) for n in range(columns.shape[1])])
    _, first = np.unique(which, return_index=True)
    squares = np.einsum("ij,ij->j", scores, scores)
    return _Scores(scores, squares, valid[:, first].astype(np.float64), which, valid.sum(axis=0))


def _spearman(ranks: npt.NDArray[np.float64], scores: _Scores) -> npt.NDArray[np.float64]:
    """The correlation of each row of `ranks` with each column of the scores, where that has values; NaN if one of them
    is constant there."""
    import numpy as np

    counts = scores.there.sum(axis=0)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (centred**2) @ scores.there - (centred @ scores.there) ** 2 / counts
        found = (centred @ scores.ranks) / np.sqrt(spread[:, scores.which] * scores.squares)
    return np.where(np.isfinite(found), found, np.nan)


def _exceeded(
    ranks: npt.NDArray[np.float64],
    length: int,
    scores: _Scores,
    observed: npt.NDArray[np.float64],
    counters: int,
    permutations: int,
    seed: int,
) -> npt.NDArray[np.float64]:
    """For each counter the p-value of its strongest correlation, by permuting blocks of this length.

    The permutations are those of the seed: the same ones for whatever counters are compared together. More than
    `_MOST_OF_ALL` are made for the counters alone that none of these reached: whoever was
    reached keeps a larger p-value than they can get, so each remains one.
    """
    import numpy as np

    strongest = _strongest(observed[None, :], counters)[0]
    if len(ranks) < LEAST or len(ranks) < LEAST_BLOCKS * length:
        return np.full(counters, np.nan)
    random = np.random.default_rng(seed)
    as_strong, tried = np.ones(counters), np.full(counters, permutations)
    whole = min(permutations, _MOST_OF_ALL)
    as_strong += _as_strong(ranks, length, scores, strongest, whole, random)
    unreached = np.flatnonzero((as_strong == 1) & (strongest > 0))
    if whole < permutations and len(unreached):
        columns = (unreached[:, None] * (len(observed) // counters) + np.arange(len(observed) // counters)).ravel()
        own = scores.of(columns)
        as_strong[unreached] += _as_strong(ranks, length, own, strongest[unreached], permutations - whole, random)
    tried[np.setdiff1d(np.arange(counters), unreached)] = whole
    return np.where(strongest > 0, as_strong / (tried + 1), np.nan)


def _as_strong(
    ranks: npt.NDArray[np.float64],
    length: int,
    scores: _Scores,
    strongest: npt.NDArray[np.float64],
    permutations: int,
    random: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """For each counter, in how many permutations any of its correlations is as strong as its strongest one."""
    import numpy as np

    found = np.zeros(len(strongest))
    at_once = max(1, min(_CHUNK, _NUMBERS // len(ranks)))
    for begin in range(0, permutations, at_once):
        permuted = _permuted(ranks, length, min(at_once, permutations - begin), random)
        found += (_strongest(_spearman(permuted, scores), len(strongest)) >= strongest - 1e-12).sum(axis=0)
    return found


def _strongest(found: npt.NDArray[np.float64], counters: int) -> npt.NDArray[np.float64]:
    """The largest absolute correlation of each counter, over its lags; 0 if it has none."""
    import numpy as np

    by_counter = np.nan_to_num(np.abs(found)).reshape(len(found), counters, -1)
    return np.asarray(by_counter.max(axis=2))


def block_length(ranks: npt.NDArray[np.float64], run: npt.NDArray[np.int64]) -> int:
    """How many successive values are permuted together: four times as many as one value goes with.

    That is 1 plus twice the sum of the absolute autocorrelations that are beyond what independent values have, over all
    lags up to a third of the series; so 1 for independent values, of which each is then permuted by itself. The whole
    series is one block if it is periodic, or nearly so: no part of it then stands for another. Values of different runs
    do not follow each other.
    """
    import numpy as np

    found, pairs = _autocorrelations(ranks, run)
    if not len(found):
        return 1
    if _is_periodic(ranks, float(found[0])):
        return len(ranks)
    # Pairs of lags follow each other as long as one of them is beyond the scatter of independent values; of all the
    # lags after these, of which some are by chance, what counts has to be beyond the largest that so many have.
    beyond = np.abs(found) * np.sqrt(pairs)
    close = np.repeat((beyond[: len(beyond) // 2 * 2].reshape(-1, 2) > 2).any(axis=1), 2)
    initial = int(np.argmin(close)) if not close.all() else len(close)
    counts = (np.arange(len(found)) < initial) | (beyond > np.sqrt(2 * np.log(len(ranks))) + 0.5)
    weights = 1 - np.arange(1, len(found) + 1) / len(ranks)
    total = float((np.abs(found) * weights)[counts].sum())
    return 1 if total == 0 else int(np.ceil(4 * (1 + 2 * total)))


def _is_periodic(ranks: npt.NDArray[np.float64], correlation: float) -> bool:
    """Whether one frequency stands out, by Fisher's test of the periodogram, beyond the correlation of successive
    values, which is taken out before."""
    import numpy as np

    if len(ranks) < LEAST:
        return False
    centred = ranks - ranks.mean()
    rest = centred[1:] - correlation * centred[:-1]
    power = np.abs(np.fft.rfft(rest - rest.mean()))[1 : (len(rest) + 1) // 2] ** 2
    whole = float(power.sum())
    return whole > 0 and len(power) * (1 - float(power.max()) / whole) ** (len(power) - 1) < PERIODIC


def _autocorrelations(
    ranks: npt.NDArray[np.float64], run: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The autocorrelations at the lags 1, 2, … up to a third of the series, as far as pairs of values within a run show
    them, and how many such pairs there are."""
    import numpy as np

    count = len(ranks)
    centred = ranks - ranks.mean()
    variance = float(centred @ centred) / count if count else 0.0
    longest = count // 3
    if longest < 1 or variance == 0:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    products, pairs = np.zeros(longest + 1), np.zeros(longest + 1, dtype=np.int64)
    for own in np.split(centred, np.flatnonzero(np.diff(run)) + 1):
        spectrum = np.fft.rfft(own, 2 * len(own))
        size = min(len(own), longest + 1)
        products[:size] += np.fft.irfft(np.abs(spectrum) ** 2, 2 * len(own))[:size]
        pairs[:size] += len(own) - np.arange(size)
    shown = pairs[1:] >= _LEAST_PAIRS
    last = int(np.argmin(shown)) if not shown.all() else longest
    return products[1 : last + 1] / pairs[1 : last + 1] / variance, pairs[1 : last + 1]


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
