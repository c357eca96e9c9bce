"""Figures of performance over time: series with counters, hours, correlations, predictions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from idlewave.formatting import MINUS, size_text
from idlewave.measure.overtime.recording import COUNTER
from idlewave.measure.overtime.settings import HIGHER_IS_BETTER, IDLE
from idlewave.overtime.correlation import LEVEL
from idlewave.overtime.defaults import TOLERANCE
from idlewave.overtime.prediction import BASELINE, PREDICTORS
from idlewave.overtime.series import Series, series_name, series_of
from idlewave.plot_limits import Limits, bulk_limits, cut_count, cut_text, mark_outside
from idlewave.plot_style import (
    BLUE,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    PALETTE,
    SMALL,
    VERMILLION,
    new_figure,
    say_empty,
    styled,
    tidy,
)

MOST_COUNTERS = 4
MOST_POINTS = 600
"""A longer series is drawn by the medians of so many stretches, and the range of most of their values."""
MOST_BOXES = 48
MOST_ROWS = 24
MOST_PANELS = 6
_BAND = (0.05, 0.95)
_DAY_S = 86_400
_SCALES = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_COUNTS = ((1e9, "billion/s"), (1e6, "million/s"), (1e3, "thousand/s"), (1.0, "1/s"))
_RATES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


@styled
def plot_overtime(table: pd.DataFrame, found: pd.DataFrame, counters: Sequence[str] = ()) -> Figure:
    """The figures of active phases over time with their levels and changes, and beneath the rates of counters.

    `table`: as of a recording; `found`: as of `overtime.changes.levels`. Of `counters` the first four are drawn, in
    active and in idle phases apart.
    """
    series = series_of(table)
    groups = _by_test(series)
    shown = list(counters)[:MOST_COUNTERS]
    panels = max(1, len(groups) + len(shown))
    figure = new_figure(0.9 + 1.25 * panels)
    axes = np.atleast_1d(figure.subplots(panels, 1, sharex=True))
    if not series:
        say_empty(axes[0], "no phase has a usable value")
        return figure
    zero_ns = int(table["start_ns"].min())
    scale, unit = _time_unit(float(table["start_ns"].max() - zero_ns) / 1e9)
    for panel, group in zip(axes, groups, strict=False):
        _draw_series(panel, group, found, zero_ns, scale)
    for panel, counter in zip(axes[len(groups) :], shown, strict=False):
        _draw_counter(panel, table, counter, zero_ns, scale)
    axes[-1].set_xlabel(f"time since the beginning [{unit}]")
    axes[-1].set_xlim(0, max((int(table["start_ns"].max()) - zero_ns) / 1e9 / scale, 1e-9))
    _say_marks(figure, counters=bool(shown))
    figure.align_ylabels(list(axes))
    return figure


def _by_test(series: Sequence[Series]) -> list[list[Series]]:
    """The series of each test and size, one a pair."""
    groups: dict[tuple[str, int], list[Series]] = {}
    for one in series:
        groups.setdefault((one.test, one.size), []).append(one)
    return list(groups.values())


def _draw_series(axes: Axes, group: Sequence[Series], found: pd.DataFrame, zero_ns: int, scale: float) -> None:
    """The values of the pairs, their levels, and a line at each change."""
    everything = np.concatenate([one.value for one in group])
    size, unit = _figure_unit(group[0].test, float(np.median(everything)))
    limits = _bound(axes, everything / size)
    for number, one in enumerate(group):
        colour = PALETTE[number % len(PALETTE)] if len(group) <= len(PALETTE) else BLUE
        hours = (one.start_ns - zero_ns) / 1e9 / scale
        _draw_values(axes, hours, one.value / size, colour, limits)
        own = found[np.all([found[name] == value for name, value in one.key.items()], axis=0)]
        starts = (own["start_ns"].to_numpy() - zero_ns) / 1e9 / scale
        ends = starts + own["seconds"].to_numpy() / scale
        axes.hlines(own["level"] / size, starts, ends, color=INK, linewidth=1.4, zorder=4)
        for start in starts[own["by_change"].to_numpy(dtype=bool)]:
            axes.axvline(start, color=VERMILLION, linewidth=0.9, linestyle=(0, (4, 2)), zorder=3)
    kind = "bandwidth" if group[0].test in HIGHER_IS_BETTER else group[0].test
    axes.set_ylabel(f"{kind},\n{size_text(group[0].size)} [{unit}]")
    tidy(axes)


def _draw_counter(axes: Axes, table: pd.DataFrame, counter: str, zero_ns: int, scale: float) -> None:
    """The rate of a counter, in active and in idle phases."""
    lengths = np.maximum(table["length_ns"].to_numpy(), 1) / 1e9
    rates = table[counter].to_numpy(dtype=np.float64) / lengths
    hours = (table["start_ns"].to_numpy() - zero_ns) / 1e9 / scale
    idle = (table["test"] == IDLE).to_numpy()
    usable = np.isfinite(rates)
    size, unit = _rate_unit(rates[usable])
    limits = _bound(axes, rates[usable] / size)
    for chosen, colour in ((~idle & usable, BLUE), (idle & usable, ORANGE)):
        if chosen.any():
            _draw_values(axes, hours[chosen], rates[chosen] / size, colour, limits)
    name = "\n".join(textwrap.wrap(counter.removeprefix(COUNTER).replace(".", " ").replace("_", " "), 14)[:3])
    axes.set_ylabel(f"{name}\n[{unit}]", fontsize=SMALL)
    tidy(axes)


def _draw_values(
    axes: Axes, places: npt.NDArray[np.float64], values: npt.NDArray[np.float64], colour: str, limits: Limits
) -> None:
    """Points within the limits; of a long series the medians of stretches, and the range of most of their values."""
    if len(values) <= MOST_POINTS:
        axes.plot(places, values, linestyle="none", marker=".", markersize=2.5, color=colour, alpha=0.8)
        mark_outside(axes, limits, places, values, colour)
        return
    stretches = np.array_split(np.arange(len(values)), MOST_POINTS)
    middle, low, high = (np.array([np.quantile(values[stretch], q) for stretch in stretches]) for q in (0.5, *_BAND))
    at = np.array([places[stretch].mean() for stretch in stretches])
    axes.fill_between(at, low, high, color=colour, alpha=0.25, linewidth=0)
    axes.plot(at, middle, color=colour, linewidth=0.8)
    mark_outside(axes, limits, at, middle, colour)


def _bound(axes: Axes, values: npt.NDArray[np.float64]) -> Limits:
    """Bound the y axis by the bulk of the values; returns its limits without the margin."""
    limits = bulk_limits(values)
    margin = 0.08 * max(limits.high - limits.low, abs(limits.high) / 50) or 1.0
    axes.set_ylim(limits.low - margin, limits.high + margin)
    return limits


def _say_marks(figure: Figure, *, counters: bool) -> None:
    handles = [
        figure.axes[0].plot([], [], color=INK, linewidth=1.4, label="level")[0],
        figure.axes[0].plot([], [], color=VERMILLION, linewidth=0.9, linestyle="--", label="change")[0],
    ]
    if counters:
        for colour, name in ((BLUE, "counters: active phases"), (ORANGE, "idle phases")):
            handles += figure.axes[0].plot([], [], color=colour, marker=".", linestyle="none", label=name)
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    if cut := cut_text(cut_count(figure), "value"):
        figure.axes[0].set_title(cut, fontsize=SMALL, fontweight="normal")


def _time_unit(seconds: float) -> tuple[float, str]:
    return (3600.0, "h") if seconds > 2 * 3600 else (60.0, "min") if seconds > 120 else (1.0, "s")


def _figure_unit(test: str, value: float) -> tuple[float, str]:
    """The scale and unit of a figure of that test."""
    scales = _RATES if test in HIGHER_IS_BETTER else _SCALES
    scale, prefix = next(((s, p) for s, p in scales if value >= s), scales[-1])
    return scale, f"{prefix}B/s" if test in HIGHER_IS_BETTER else f"{prefix}s"


def _rate_unit(rates: npt.NDArray[np.float64]) -> tuple[float, str]:
    middle = float(np.median(np.abs(rates))) if len(rates) else 0.0
    return next((pair for pair in _COUNTS if middle >= pair[0]), _COUNTS[-1])


@styled
def plot_overtime_hours(table: pd.DataFrame) -> Figure:
    """The distribution of latency by hour: of the recording, or of the day (UTC) where it is longer than two days.

    Boxes have half of the values, whiskers nine tenths. Without latency the first other test is drawn.
    """
    figure = new_figure(2.7)
    axes = figure.subplots()
    tidy(axes)
    groups = _by_test(series_of(table))
    if not groups:
        say_empty(axes, "no phase has a usable value")
        return figure
    series = groups[0]
    values = np.concatenate([one.value for one in series])
    seconds = np.concatenate([one.start_ns for one in series]) / 1e9
    size, unit = _figure_unit(series[0].test, float(np.median(values)))
    by_day = seconds.max() - seconds.min() > MOST_BOXES * 3600
    hours = ((seconds % _DAY_S if by_day else seconds - seconds.min()) // 3600).astype(int)
    boxes = [_box(values[hours == hour] / size) for hour in np.unique(hours)]
    axes.bxp(
        boxes, positions=list(np.unique(hours) + 0.5), widths=0.6, showfliers=False, patch_artist=True,
        boxprops={"facecolor": FAINT, "edgecolor": BLUE}, medianprops={"color": VERMILLION, "linewidth": 1.6},
        whiskerprops={"color": BLUE}, capprops={"color": BLUE}, manage_ticks=False,
    )  # fmt: skip
    limits = bulk_limits(values / size)
    ends = np.array([(box["whislo"], box["whishi"]) for box in boxes])
    mark_outside(axes, limits, np.tile(np.unique(hours) + 0.5, 2), ends.T.ravel(), BLUE)
    outside = limits.outside(values / size) - cut_count(figure)
    if outside > 0:
        far = limits.above(values / size) | limits.below(values / size)
        mark_outside(axes, limits, hours[far] + 0.5, (values / size)[far], MUTED)
    _bound(axes, values / size)
    axes.set_xlim(int(hours.min()), int(hours.max()) + 1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("hour of the day (UTC)" if by_day else "hour of the recording")
    axes.set_ylabel(f"{series[0].test}, {size_text(series[0].size)} [{unit}]")
    if cut := cut_text(cut_count(figure), "value"):
        axes.set_title(cut, fontsize=SMALL, fontweight="normal")
    return figure


def _box(values: npt.NDArray[np.float64]) -> dict[str, float]:
    quantiles = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
    return dict(zip(("whislo", "q1", "med", "q3", "whishi"), map(float, quantiles), strict=True))


@styled
def plot_overtime_correlations(found: pd.DataFrame) -> Figure:
    """The strongest correlation of each counter with each series over all lags, and its lag.

    `found`: as of `overtime.correlation.correlations`. Frames mark what is significant after the correction.
    """
    strongest = found[found["strongest"].to_numpy(dtype=bool) & np.isfinite(found["correlation"].to_numpy(dtype=float))]
    strength = strongest.assign(size_of=strongest["correlation"].abs()).groupby("counter", sort=False)["size_of"].max()
    counters = list(strength.sort_values(ascending=False, kind="stable").index[:MOST_ROWS])
    keys = list(dict.fromkeys(zip(*(strongest[name] for name in ("test", "rank", "peer", "size")), strict=True)))
    keys = keys[: 2 * MOST_PANELS]
    figure = new_figure(1.3 + 0.3 * max(1, len(counters)))
    axes = figure.subplots()
    if not counters:
        say_empty(axes, "no counter changed")
        return figure
    matrix = np.full((len(counters), len(keys)), np.nan)
    for row in strongest.itertuples():
        key = (row.test, row.rank, row.peer, row.size)
        if row.counter not in counters or key not in keys:
            continue
        place = counters.index(row.counter), keys.index(key)
        matrix[place] = np.clip(row.correlation, -1, 1)
        _say_cell(axes, place, float(matrix[place]), int(row.lag), significant=bool(row.p_holm <= LEVEL))
    image = axes.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    axes.set_yticks(range(len(counters)), [_short(name) for name in counters])
    axes.set_xticks(range(len(keys)), [series_name(*key).replace(", ", "\n") for key in keys])
    axes.tick_params(length=0)
    figure.colorbar(image, label="rank correlation", shrink=0.8)
    return figure


def _say_cell(axes: Axes, place: tuple[int, int], value: float, lag: int, *, significant: bool) -> None:
    row, column = place
    colour = "white" if abs(value) > 0.6 else INK
    text = f"{value:+.2f}, {lag} before" if lag else f"{value:+.2f}"
    axes.text(column, row, text.replace("-", MINUS), ha="center", va="center", color=colour, fontsize=SMALL)
    if significant:
        x, y = (0.48 * np.array(side) for side in ((-1, 1, 1, -1, -1), (-1, -1, 1, 1, -1)))
        axes.plot(column + x, row + 0.96 * y, color=INK, linewidth=1.6, zorder=5)


def _short(name: str) -> str:
    return name if len(name) <= 34 else f"…{name[-33:]}"


@styled
def plot_overtime_predictions(found: pd.DataFrame, tolerance: float = TOLERANCE) -> Figure:
    """What was predicted for the next phase against what was observed: a row a series, a column a predictor.

    `found`: as of `overtime.prediction.predictions`; the shortest horizon is drawn. In the shaded half it was worse
    than predicted by more than the tolerance.
    """
    groups = list(found.groupby(["test", "rank", "peer", "size"], sort=False))[:MOST_PANELS]
    predictors = [name for name in PREDICTORS if name in set(found["predictor"])] or [BASELINE]
    figure = new_figure(0.7 + 1.8 * max(1, len(groups)))
    if not groups:
        say_empty(figure.subplots(), "too few phases to predict the next")
        return figure
    panels = np.atleast_2d(figure.subplots(len(groups), len(predictors), squeeze=False))
    for row, (_, group) in zip(panels, groups, strict=True):
        test, message = str(group["test"].iloc[0]), int(group["size"].iloc[0])
        next_one = group[group["horizon"] == group["horizon"].min()]
        size, unit = _figure_unit(test, float(np.nanmedian(next_one["observed"])))
        both = next_one[["predicted", "observed"]].to_numpy(dtype=np.float64) / size
        usable = both[np.isfinite(both).all(axis=1)]
        limits = bulk_limits(usable)
        margin = 0.06 * max(limits.high - limits.low, abs(limits.high) / 50) or 1.0
        ends = (limits.low - margin, limits.high + margin)
        for axes, predictor in zip(row, predictors, strict=True):
            own = both[(next_one["predictor"] == predictor).to_numpy()]
            _draw_predictions(axes, own, ends, tolerance, worse_above=test not in HIGHER_IS_BETTER)
        row[0].set_ylabel(f"{test}, {size_text(message)}:\nobserved [{unit}]")
        row[len(row) // 2].set_xlabel(f"predicted [{unit}]")
    for axes, predictor in zip(panels[0], predictors, strict=True):
        axes.set_title(_PREDICTED_BY[predictor])
    if cut := cut_text(cut_count(figure), "phase"):
        figure.suptitle(cut, fontsize=SMALL, ha="right", x=0.99)
    return figure


_PREDICTED_BY = {
    "active": "by the last active phase",
    "idle": "by counters when idle",
    "baseline": "by the median so far",
}


def _draw_predictions(
    axes: Axes, both: npt.NDArray[np.float64], ends: tuple[float, float], tolerance: float, *, worse_above: bool
) -> None:
    line = np.array(ends)
    factor = 1 + tolerance if worse_above else 1 / (1 + tolerance)
    axes.fill_between(line, line * factor, ends[1] if worse_above else ends[0], color=FAINT, linewidth=0, zorder=0)
    axes.plot(line, line, color=MUTED, linewidth=0.8)
    usable = both[np.isfinite(both).all(axis=1)]
    axes.plot(usable[:, 0], usable[:, 1], ".", color=BLUE, markersize=2.5, alpha=0.6, rasterized=len(usable) > 2000)
    limits = Limits(*ends)
    across = limits.above(usable[:, 1]) | limits.below(usable[:, 1])
    mark_outside(axes, limits, np.clip(usable[:, 0], *ends), usable[:, 1], BLUE)
    mark_outside(axes, limits, np.clip(usable[~across, 1], *ends), usable[~across, 0], BLUE, across="x")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    tidy(axes)
