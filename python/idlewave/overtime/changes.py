"""Where performance changes: levels of a series, its drift, and how long it stays as it is.

The points of change are those of PELT (Killick, Fearnhead and Eckley, JASA 2012), the exact minimum of squared
distances from each segment's mean plus a penalty for each segment, on normal scores of the values' ranks: so how often
a change is found where there is none does not depend on how the values are distributed. Their scatter is that of
successive values, which a change of level does not widen; values further than `CLIP` times the scatter from the median
of their neighbours count as that far; and the penalty grows with the correlation of successive values. Each change has
to be borne out by the ranks within the two levels beside it.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .series import Series

LEAST = 5
"""A level lasts at least so many phases; shorter excursions are outliers."""
FALSE_ALARMS = 0.01
"""The share of series of independent values, without any change, in which one is found, at most."""
CORRELATED_FALSE_ALARMS = 0.05
"""The same where successive values are correlated by 0.3."""
CLIP = 3.0
MOST_CORRELATION = 0.9
"""The strongest correlation of successive values that the penalty counts with."""
FEW = 8
"""Of so many values half of the correlation that they show counts."""
MOST_DRIFT_POINTS = 400
"""A longer series is divided into so many stretches, and their medians count."""
LEAST_DRIFT_HOURS = 0.1
"""What changes in less time says nothing of an hour."""
CONFIDENCE = 0.95
QUANTILES = (0.1, 0.5, 0.9)


class Slope(NamedTuple):
    """A slope with its interval, as a share per hour."""

    per_hour: float
    low: float
    high: float


def change_points(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The positions at which a new level of `values` begins, in order; they are positive.

    Of series of independent values at most `FALSE_ALARMS` have one found, of those whose successive values are
    correlated by 0.3 at most `CORRELATED_FALSE_ALARMS`. Fewer than two times `LEAST` values have none.
    """
    import numpy as np

    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2 * LEAST:
        return np.zeros(0, dtype=np.int64)
    _, inflation = _standardised(_normal_scores(found))
    penalty = inflation * _penalty(len(found))
    logs = np.log(found)
    places = _located(logs, np.array(_divided(found, penalty), dtype=np.int64))
    return _located(logs, _confirmed(found, places, penalty))


def _divided(values: npt.NDArray[np.float64], penalty: float) -> list[int]:
    """The change points by ranks within the whole, and again by ranks within each of the pieces.

    Levels that lie near to each other differ little in the ranks of a series with others further away.
    """
    if len(values) < 2 * LEAST:
        return []
    places = [int(place) for place in _pelt(_standardised(_normal_scores(values))[0], penalty)]
    if not places:
        return []
    found = set(places)
    for begin, end in zip([0, *places], [*places, len(values)], strict=True):
        found |= {begin + place for place in _divided(values[begin:end], penalty)}
    return sorted(found)


def _normal_scores(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The quantiles of the normal distribution at the values' ranks (van der Waerden)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores: npt.NDArray[np.float64] = ndtri(rankdata(values) / (len(values) + 1))
    return scores


def _confirmed(values: npt.NDArray[np.float64], found: npt.NDArray[np.int64], penalty: float) -> npt.NDArray[np.int64]:
    """The change points without those, the weakest first, that ranks within the two levels beside them do not bear out.

    Ranks within the whole series scatter more in the outermost of its levels than in the others.
    """
    import numpy as np

    left = [0, *(int(place) for place in found), len(values)]
    while len(left) > 2:
        gains = [_gain(values[a:c], b - a) for a, b, c in zip(left, left[1:], left[2:], strict=False)]
        weakest = int(np.argmin(gains))
        if gains[weakest] >= penalty:
            break
        del left[weakest + 1]
    return np.array(left[1:-1], dtype=np.int64)


def _gain(values: npt.NDArray[np.float64], place: int) -> float:
    """Twice the logarithm of how much likelier normal scores of `values` are with two means than with one."""
    import numpy as np

    scores = _normal_scores(values)
    within = sum(float(((side - side.mean()) ** 2).sum()) for side in (scores[:place], scores[place:]))
    whole = float(((scores - scores.mean()) ** 2).sum())
    if whole == 0:
        return 0.0
    return len(values) * float(np.log(whole / max(within, 1e-12 * whole)))


def _located(logs: npt.NDArray[np.float64], found: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The change points where values go over from one level's median to the next one's: least absolute distances.

    Ranks weigh values by how many lie between them, not by how far they are apart, which moves some by a phase.
    """
    import numpy as np

    ends = [0, *(int(place) for place in found), len(logs)]
    for number in range(1, len(ends) - 1):
        begin, place, end = ends[number - 1 : number + 2]
        before, after = (np.median(logs[a:b]) for a, b in ((begin, place), (place, end)))
        gain = np.cumsum(np.abs(logs[begin:end] - after) - np.abs(logs[begin:end] - before))
        last = end - LEAST - begin
        ends[number] = begin + LEAST + int(np.argmax(gain[LEAST - 1 : last]))
    return np.array(ends[1:-1], dtype=np.int64)


def _penalty(count: int) -> float:
    """The penalty of a segment of independent values of variance 1."""
    from math import log

    return 7.0 + 1.5 * log(count)


def _standardised(series: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
    """`series` in units of its scatter without outliers, and the factor that correlation puts on the variance of
    means."""
    import numpy as np
    from scipy.ndimage import median_filter

    steps = np.abs(np.diff(series))
    scatter = 1.4826 * float(np.median(steps)) / np.sqrt(2)
    few_steps = scatter == 0  # most values are equal: the clock or the library has few
    if few_steps:
        scatter = float(np.sqrt(np.mean(steps**2) / 2))
    if scatter == 0:
        return np.zeros_like(series), 1.0
    middle = median_filter(series, 2 * LEAST - 1, mode="mirror")  # the outermost value counts once
    clipped = np.clip(series, middle - CLIP * scatter, middle + CLIP * scatter)
    stepped = _steps(series, scatter)
    once, twice = (_half_mean_square(clipped, lag, scatter, stepped) for lag in (1, 2))
    # Of correlation r^k between values k apart, these are the variance times 1 - r and 1 - r².
    correlation = min(_surely_shown(twice / once - 1, len(series)), MOST_CORRELATION) if once > 0 else 0.0
    variance = once / (1 - correlation)
    if few_steps:  # clipping may have left next to nothing of them, or they all are changes of level
        variance = max(variance, scatter**2)
    return clipped / np.sqrt(variance), (1 + correlation) / (1 - correlation)


def _surely_shown(correlation: float, count: int) -> float:
    """What `count` values show of a correlation that they seem to have: few show little, and more would hide changes.

    They show half of it if they are `FEW`, and less by half of the standard error that independent values have.
    """
    return max(correlation * count / (count + FEW) - 0.5 / math.sqrt(count), 0.0)


def _steps(series: npt.NDArray[np.float64], scatter: float) -> npt.NDArray[np.bool_]:
    """Where, between each value and the next, the medians of the `LEAST` values on both sides are far apart.

    A change of level is such a place, and so are its neighbours. Series without changes have hardly any.
    """
    import numpy as np

    medians = np.median(np.lib.stride_tricks.sliding_window_view(series, LEAST), axis=1)
    found = np.zeros(len(series) - 1, dtype=np.bool_)
    found[LEAST - 1 : len(series) - LEAST] = np.abs(medians[LEAST:] - medians[:-LEAST]) > CLIP * scatter
    return found


def _half_mean_square(
    series: npt.NDArray[np.float64], lag: int, scatter: float, stepped: npt.NDArray[np.bool_]
) -> float:
    """Half the mean square of steps over `lag` values, none of which counts as larger than clipping leaves it.

    Those across a place of `stepped` are left out: a change of level is no correlation.
    """
    import numpy as np

    most = 2 * CLIP * scatter
    crossed = np.convolve(stepped, np.ones(lag), "valid") > 0
    squares = np.clip(series[lag:] - series[:-lag], -most, most)[~crossed] ** 2
    return float(np.mean(squares) / 2) if len(squares) else scatter**2


def _pelt(series: npt.NDArray[np.float64], penalty: float) -> npt.NDArray[np.int64]:
    """The segmentation of least cost, each segment of at least `LEAST` values."""
    import numpy as np

    count = len(series)
    sums = np.concatenate(([0.0], np.cumsum(series)))
    squares = np.concatenate(([0.0], np.cumsum(series**2)))
    best = np.full(count + 1, np.inf)
    best[0] = -penalty
    before = np.zeros(count + 1, dtype=np.int64)
    starts = np.array([0], dtype=np.int64)
    ends = np.array([count + LEAST], dtype=np.int64)  # from which end on a start cannot be the best any more
    for end in range(LEAST, count + 1):
        if end >= 2 * LEAST:
            starts = np.append(starts, end - LEAST)
            ends = np.append(ends, count + LEAST)
        total = sums[end] - sums[starts]
        costs = best[starts] + squares[end] - squares[starts] - total * total / (end - starts)
        chosen = int(np.argmin(costs))
        best[end] = costs[chosen] + penalty
        before[end] = starts[chosen]
        # A segment that begins here is long enough only `LEAST` values later.
        ends = np.where(costs > best[end], np.minimum(ends, end + LEAST), ends)
        if end % LEAST == 0:
            alive = ends > end
            starts, ends = starts[alive], ends[alive]
    found = []
    end = int(before[count])
    while end > 0:
        found.append(end)
        end = int(before[end])
    return np.array(found[::-1], dtype=np.int64)


def levels(series: Iterable[Series]) -> pd.DataFrame:
    """The levels of each series: a row for each time in which it stayed the same.

    Each run of the recording is looked at by itself: an interruption ends a level, and is no change.

    Columns: those of `series.KEY`; first_phase, last_phase, phases, start_ns; seconds, until the next level begins or
    the run ends; level (median), low and high (5 and 95 % of the values); step, the level by the one before it
    (NaN for the first of a run); by_change, whether it began with a change; whole, whether it began and ended by one.
    """
    import pandas as pd

    rows = [row for one in series for row in _levels(one)]
    return pd.DataFrame(rows, columns=_LEVEL_COLUMNS)


_LEVEL_COLUMNS = [
    *("test", "rank", "peer", "size", "first_phase", "last_phase", "phases", "start_ns", "seconds"),
    *("level", "low", "high", "step", "by_change", "whole"),
]


def _levels(one: Series) -> Iterable[dict[str, object]]:
    import numpy as np

    interruptions = [int(place) for place in np.flatnonzero(np.diff(one.run)) + 1]
    changes = set()
    for begin, end in pairwise([0, *interruptions, len(one.value)]):
        changes |= {begin + int(place) for place in change_points(one.value[begin:end])}
    ends = sorted({*changes, *interruptions, len(one.value)})
    begin, before = 0, float("nan")
    for end in ends:
        values = one.value[begin:end]
        low, middle, high = (float(value) for value in np.quantile(values, (0.05, 0.5, 0.95)))
        until = one.start_ns[end] if end in changes else _end_of(one, end - 1)
        by_change = begin in changes
        yield {
            **one.key,
            "first_phase": int(one.phase[begin]),
            "last_phase": int(one.phase[end - 1]),
            "phases": end - begin,
            "start_ns": int(one.start_ns[begin]),
            "seconds": float(until - one.start_ns[begin]) / 1e9,
            "level": middle,
            "low": low,
            "high": high,
            "step": middle / before if by_change else float("nan"),
            "by_change": by_change,
            "whole": by_change and end in changes,
        }
        begin, before = end, middle


def _recorded_ns(one: Series) -> int:
    """How long the runs of a series lasted, without the interruptions between them."""
    import numpy as np

    last = [*np.flatnonzero(np.diff(one.run)), len(one.run) - 1]
    first = [0, *(place + 1 for place in last[:-1])]
    return sum(_end_of(one, end) - int(one.start_ns[begin]) for begin, end in zip(first, last, strict=True))


def _end_of(one: Series, place: int) -> int:
    return int(one.start_ns[place] + one.length_ns[place])


def stability(found: pd.DataFrame) -> pd.DataFrame:
    """How long levels last, from the table of `levels`: a row a test and size.

    Columns: test, size, levels, whole (levels that began and ended with a change); quantiles p10_s, p50_s, p90_s;
    longest_s. The quantiles are those of Kaplan and Meier, because levels that the recording cuts off lasted at least
    as long as was seen; NaN where so few levels ended that a quantile is beyond `longest_s`.
    """
    import pandas as pd

    rows = []
    for (test, size), group in found.groupby(["test", "size"], sort=False):
        seconds = group["seconds"].to_numpy()
        whole = group["whole"].to_numpy(dtype=bool)
        quantiles = {f"p{100 * q:.0f}_s": _survival_quantile(seconds, whole, q) for q in QUANTILES}
        rows.append(
            {
                "test": test,
                "size": size,
                "levels": len(group),
                "whole": int(whole.sum()),
                **quantiles,
                "longest_s": float(seconds.max()),
            }
        )
    return pd.DataFrame(rows, columns=["test", "size", "levels", "whole", "p10_s", "p50_s", "p90_s", "longest_s"])


def _survival_quantile(seconds: npt.NDArray[np.float64], whole: npt.NDArray[np.bool_], share: float) -> float:
    """The time within which `share` of the levels end."""
    import numpy as np
    from scipy.stats import CensoredData, ecdf

    if not whole.any():
        return float("nan")
    survival = ecdf(CensoredData(uncensored=seconds[whole], right=seconds[~whole])).sf
    reached = np.flatnonzero(survival.probabilities <= 1 - share + 1e-12)
    return float(survival.quantiles[reached[0]]) if len(reached) else float("nan")


def drift(one: Series) -> Slope:
    """The slope of a series by Theil and Sen (JASA 1968), as a share per hour, with its 95 % interval.

    It is the median of the slopes between all pairs, so outliers do not move it; steps between levels do. The interval
    is wider by what correlation of successive values takes from their number. Fewer than three values, and series of
    less than `LEAST_DRIFT_HOURS`, have none: NaN.
    """
    import numpy as np
    from scipy.stats import theilslopes

    count = len(one.value)
    hours = (one.start_ns - one.start_ns[:1]) / 3.6e12
    if count < 3 or hours[-1] < LEAST_DRIFT_HOURS:
        return Slope(float("nan"), float("nan"), float("nan"))
    logs = np.log(one.value)
    _, inflation = _standardised(logs)
    if count > MOST_DRIFT_POINTS:
        stretches = np.array_split(np.arange(count), MOST_DRIFT_POINTS)
        logs = np.array([np.median(logs[stretch]) for stretch in stretches])
        hours = np.array([np.mean(hours[stretch]) for stretch in stretches])
        inflation = max(1.0, inflation * MOST_DRIFT_POINTS / count)
    slope, _, low, high = theilslopes(logs, hours, CONFIDENCE)
    wider = inflation**0.5
    ends = (slope, slope - (slope - low) * wider, slope + (high - slope) * wider)
    return Slope(*(float(np.expm1(np.clip(end, -700, 700))) for end in ends))


def summary(series: Iterable[Series], found: pd.DataFrame) -> pd.DataFrame:
    """A row for each series: how many phases over how many hours, quantiles of its values, changes, and drift.

    `found` is the table of `levels` of the same series. Columns: those of `series.KEY`; phases; hours, in which it was
    recorded, and span_hours, from its beginning to its end with the interruptions; median, p05, p95, least, most;
    changes; drift_per_h, drift_low, drift_high.
    """
    import numpy as np
    import pandas as pd

    rows = []
    for one in series:
        own = found[np.all([found[name] == value for name, value in one.key.items()], axis=0)]
        least, low, middle, high, most = (float(v) for v in np.quantile(one.value, (0, 0.05, 0.5, 0.95, 1)))
        slope = drift(one)
        rows.append(
            {
                **one.key,
                "phases": len(one.value),
                "hours": _recorded_ns(one) / 3.6e12,
                "span_hours": (_end_of(one, -1) - int(one.start_ns[0])) / 3.6e12,
                "median": middle,
                "p05": low,
                "p95": high,
                "least": least,
                "most": most,
                "changes": int(own["by_change"].sum()),
                "drift_per_h": slope.per_hour,
                "drift_low": slope.low,
                "drift_high": slope.high,
            }
        )
    return pd.DataFrame(rows)
