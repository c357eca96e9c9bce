"""How well what was seen last predicts what comes: the last active phase, and the counters of the last idle phase.

Three predictors, each of which learns only from what came before: "active", the last value of the same test; "idle", a
ridge regression of the logarithm of the value on the logarithms of the counters' rates in the last idle phase, fitted
to all earlier phases; "baseline", the median of all earlier values. Where a counter could not be read its mean until
then counts; which counters are used at all `idle_counters` says, by the idle phases of the whole recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..measure.overtime.settings import IDLE
from .defaults import TOLERANCE
from .idle_counters import idle_counters
from .series import KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .series import Series

ACTIVE, FROM_IDLE, BASELINE = PREDICTORS = ("active", "idle", "baseline")
LEARN = 30
"""Predictions begin when so many phases of a series are known."""
AHEAD_S = (0.0, 60.0, 600.0, 1800.0, 3600.0)
"""How far ahead is predicted, s; 0: the next phase."""
_GROWTH = 1.05
"""The regression is fitted again when it knows so many times as many phases."""


class _Known(NamedTuple):
    """What is known before each phase of a series: the last value (NaN: none of this run), the median of all earlier
    ones, and the logarithms of the counters' rates in the last idle phase."""

    last: npt.NDArray[np.float64]
    median: npt.NDArray[np.float64]
    rates: npt.NDArray[np.float64]


def predictions(
    table: pd.DataFrame, series: Sequence[Series], counters: Sequence[str], *, ahead_s: Sequence[float] = AHEAD_S
) -> pd.DataFrame:
    """What each predictor said of each phase, and what was observed: a row for each prediction.

    Columns: those of `series.KEY`; predictor; horizon, in phases of the series (1: the next one); ahead_s, the time
    from the last known phase of the series to the predicted one; phase, start_ns, predicted, observed. Only phases that
    both "active" and "baseline" predict are there; of "idle" those of them before which any counter was read when idle,
    and none if no counter can predict (`idle_counters`).
    """
    import pandas as pd

    used = idle_counters(table, counters, least=LEARN // 2).used
    tables = [
        _of_horizon(one, known, horizon)
        for one in series
        for known in (_known(table, one, used),)
        for horizon in _horizons(one, ahead_s)
    ]
    columns = [*KEY, "predictor", "horizon", "ahead_s", "phase", "start_ns", "predicted", "observed"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def errors(found: pd.DataFrame, *, tolerance: float = TOLERANCE) -> pd.DataFrame:
    """How far predictions were off, by series, predictor and horizon.

    Columns: those of `series.KEY`; predictor, horizon, ahead_s (median), predictions; median_error and p90_error, of
    |observed / predicted − 1|; optimistic and pessimistic, the shares that were worse and better than predicted by more
    than `tolerance`: for times observed > predicted · (1 + tolerance) is worse, for bandwidth observed <
    predicted / (1 + tolerance).
    """
    import numpy as np
    import pandas as pd

    from ..measure.overtime.settings import HIGHER_IS_BETTER

    rows = []
    for key, group in found.groupby([*KEY, "predictor", "horizon"], sort=False):
        ratio = group["observed"].to_numpy() / group["predicted"].to_numpy()
        worse = 1 / ratio if key[0] in HIGHER_IS_BETTER else ratio
        middle, high = np.quantile(np.abs(ratio - 1), (0.5, 0.9))
        optimistic, pessimistic = (worse > 1 + tolerance).mean(), (worse < 1 / (1 + tolerance)).mean()
        rows.append((*key, group["ahead_s"].median(), len(group), middle, high, optimistic, pessimistic))
    columns = ["ahead_s", "predictions", "median_error", "p90_error", "optimistic", "pessimistic"]
    return pd.DataFrame(rows, columns=[*KEY, "predictor", "horizon", *columns])


def _horizons(one: Series, ahead_s: Sequence[float]) -> list[int]:
    """The horizons, in phases, of which the series is long enough for `LEARN` predictions."""
    import numpy as np

    if len(one.value) < 2 * LEARN:
        return []
    apart = float(np.median(np.diff(one.start_ns))) / 1e9
    horizons = {max(1, round(ahead / apart)) for ahead in ahead_s}
    return sorted(horizon for horizon in horizons if len(one.value) - LEARN - horizon >= LEARN)


def _known(table: pd.DataFrame, one: Series, counters: Sequence[str]) -> _Known:
    import numpy as np
    import pandas as pd

    same_run = np.concatenate(([False], np.diff(one.run) == 0))
    last = np.where(same_run, np.concatenate(([np.nan], one.value[:-1])), np.nan)
    median = pd.Series(one.value).expanding().median().shift().to_numpy()
    idle = table[table["test"] == IDLE]
    seconds = np.maximum(idle["length_ns"].to_numpy(), 1)[:, None] / 1e9
    rates = np.log1p(np.clip(idle[list(counters)].to_numpy(dtype=np.float64) / seconds, 0, None))
    place = np.searchsorted(idle["phase"].to_numpy(), one.phase) - 1
    there = place >= 0
    there[there] = idle["run"].to_numpy()[place[there]] == one.run[there]
    before = np.full((len(one.phase), len(counters)), np.nan)
    before[there] = rates[place[there]]
    return _Known(last, median, before)


def _of_horizon(one: Series, known: _Known, horizon: int) -> pd.DataFrame:
    """The predictions of a series so many phases ahead."""
    import numpy as np
    import pandas as pd

    places = np.arange(LEARN + horizon, len(one.value))
    seen = places - (horizon - 1)  # what is known then is what is known before this phase
    same_run = one.run[places] == one.run[seen]
    predicted = {ACTIVE: known.last[seen], BASELINE: known.median[seen]}
    if known.rates.shape[1]:
        predicted[FROM_IDLE] = _from_idle(one, known.rates, horizon, places)
    usable = same_run & np.isfinite(predicted[ACTIVE]) & np.isfinite(predicted[BASELINE])
    ahead = (one.start_ns[places] - one.start_ns[seen - 1]) / 1e9
    columns = {
        "ahead_s": ahead,
        "phase": one.phase[places],
        "start_ns": one.start_ns[places],
        "observed": one.value[places],
    }
    whole = pd.DataFrame(columns)
    tables = [
        whole.assign(**one.key, predictor=name, horizon=horizon, predicted=values)[usable & np.isfinite(values)]
        for name in PREDICTORS
        if (values := predicted.get(name)) is not None
    ]
    order = [*KEY, "predictor", "horizon", "ahead_s", "phase", "start_ns", "predicted", "observed"]
    found: pd.DataFrame = pd.concat(tables, ignore_index=True)[order]
    return found


def _from_idle(
    one: Series, rates: npt.NDArray[np.float64], horizon: int, places: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The values that the regression predicts. NaN where no counter could be read in the idle phase."""
    import numpy as np

    shift = horizon - 1
    logs = np.log(one.value)
    # The rates before a phase, and the value `shift` phases later, if that is of the same run.
    before, later = (
        rates[: len(logs) - shift],
        np.where(one.run[shift:] == one.run[: len(logs) - shift], logs[shift:], np.nan),
    )
    found = np.full(len(places), np.nan)
    for begin, end in _stretches(len(places)):
        # Of the first phase that is predicted, the values before what is known are known: `places - horizon` and
        # earlier.
        known = int(places[begin]) - horizon + 1 - shift
        found[begin:end] = np.exp(_ridge(before[:known], later[:known], rates[places[begin:end] - shift]))
    return found


def _stretches(count: int) -> Iterator[tuple[int, int]]:
    """Stretches of predictions that one regression makes; each longer one after more phases are known."""
    begin = 0
    while begin < count:
        end = min(count, max(begin + 1, int((LEARN + begin) * _GROWTH) - LEARN))
        yield begin, end
        begin = end


def _ridge(
    known: npt.NDArray[np.float64], logs: npt.NDArray[np.float64], asked: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The predictions for `asked`: within what was seen, and as uncertain as the number of counters makes them.

    The coefficients of rates and values in units of their scatter have a penalty of as many phases as there are
    counters.
    """
    import numpy as np

    usable = np.isfinite(known).any(axis=1) & np.isfinite(logs)
    if usable.sum() < LEARN // 2:
        return np.full(len(asked), np.nan)
    x, low_high = known[usable], np.quantile(logs[usable], (0.01, 0.99))
    y = np.clip(logs[usable], *low_high)
    there = np.isfinite(x)
    counts = np.maximum(there.sum(axis=0), 1)
    centre = np.where(there, x, 0).sum(axis=0) / counts
    scale = np.sqrt((np.where(there, x - centre, 0) ** 2).sum(axis=0) / counts)
    scale = np.where(scale > 0, scale, np.inf)  # a counter that never changed says nothing
    scaled = np.nan_to_num((x - centre) / scale)  # the mean where it is not known
    gram = scaled.T @ scaled + x.shape[1] * np.eye(x.shape[1])
    coefficients = np.linalg.solve(gram, scaled.T @ (y - y.mean()))
    predicted = np.clip(y.mean() + np.nan_to_num((asked - centre) / scale) @ coefficients, *low_high)
    return np.where(np.isfinite(asked).any(axis=1), predicted, np.nan)
