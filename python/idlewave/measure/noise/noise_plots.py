"""Figures of noise beside those of single detours (`detour_plots.py`): spectra, cores in time, quanta, scale, nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from ...formatting import SPACE, percent_text, percent_tick, plural, si_text, time_text
from ...plot_limits import bulk_limits, cut_text, mark_cut, mark_outside, say_above
from ...plot_style import FAINT, MUTED, PALETTE, SMALL, VERMILLION, YELLOW, new_figure, say_empty, styled, tidy
from .ftq import Ftq, FtqCore
from .fwq import FwqCore
from .noise_recording import Detours
from .spectrum import Peak, Spectrum, Values, binned_loss

MOST_CORES = 8
_MOST_LABELS = 6
_MARKS = [colour for colour in PALETTE[1:] if colour != YELLOW]  # yellow points are hardly seen on white
_MOST_POINTS = 4000
_HEAT_COLUMNS = 240


@styled
def plot_length_cdf(groups: Mapping[str, npt.NDArray[np.int64]]) -> Figure:
    """The share of detours, and of their time, above each length; a line a group of lengths (ps)."""
    figure = new_figure(3.0)
    panels = figure.subplots(1, 2, sharex=True)
    for axes, title, label in zip(
        panels,
        ("How many detours are longer", "What the longer ones cost"),
        ("part of all detours", "part of the time lost"),
        strict=True,
    ):
        tidy(axes, "both")
        axes.set(title=title, xlabel="length of the detour", ylabel=label, xscale="log", yscale="log")
    for place, (name, lengths) in enumerate(groups.items()):
        values = np.sort(lengths[lengths > 0]).astype(np.float64)
        if len(values) == 0:
            continue
        colour = PALETTE[place % len(PALETTE)]
        panels[0].step(values, 1 - np.arange(len(values)) / len(values), where="post", color=colour, label=name, lw=1.1)
        cost = np.cumsum(values[::-1])[::-1] / values.sum()
        panels[1].step(values, cost, where="post", color=colour, lw=1.1)
    if not any((lengths > 0).any() for lengths in groups.values()):
        for axes in panels:
            say_empty(axes, "no detour was recorded")
        return figure
    longest = np.concatenate([lengths[lengths > 0] for lengths in groups.values()])
    limits = bulk_limits(longest, log=True)
    for axes in panels:
        _time_axis(axes, "x")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
        axes.set_ylim(top=1.4)
        axes.set_xlim(limits.low / 1.3, limits.high * 1.3)
    if beyond := int(limits.above(longest).sum()):
        text = f"{plural(beyond, 'detour')} up to {time_text(float(longest.max()))}"
        mark_cut(panels[0], "right", [0.95], MUTED, [text], fraction=True)
    panels[1].set_ylim(bottom=1e-4)
    if len(groups) > 1:
        panels[0].legend(loc="lower left", handlelength=1.2)
    return figure


@styled
def plot_spectrum(spectrum: Spectrum, peaks: Sequence[Peak] = ()) -> Figure:
    """Power of the lost share over frequency (log-log), its floor and threshold, the costliest peaks by name."""
    figure = new_figure(3.6 + 0.16 * min(len(peaks), _MOST_LABELS))
    axes = figure.subplots()
    tidy(axes, "both")
    shown = slice(3, None)
    if not spectrum.power[shown].any():
        say_empty(axes, "no time was lost")
        return figure
    frequency, power = _thinned(spectrum.frequency[shown], spectrum.power[shown])
    axes.plot(frequency, power, color=PALETTE[0], lw=0.7, rasterized=len(frequency) > 5000)
    axes.plot(spectrum.frequency[shown], spectrum.floor[shown], color=MUTED, lw=1.0, label="without periodic sources")
    axes.plot(
        spectrum.frequency[shown],
        spectrum.floor[shown] * spectrum.threshold,
        color=MUTED,
        lw=1.0,
        ls=(0, (4, 2)),
        label=f"{percent_tick(spectrum.false_alarm)} false alarms in all",
    )
    axes.set(xscale="log", yscale="log", xlabel="frequency [Hz]", ylabel="power of the lost share of time [1/Hz]")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: si_text(value)))
    axes.set_xlim(float(frequency[0]), spectrum.highest_hz)
    bulk = bulk_limits(power, log=True)
    floor = bulk_limits(spectrum.floor[shown], log=True).low if (spectrum.floor[shown] > 0).any() else bulk.low
    axes.set_ylim(min(floor / 30, bulk.high / 10), bulk.high * 3)
    beyond = bulk.above(power)
    mark_cut(axes, "top", frequency[beyond], PALETTE[0], [_hertz(value) for value in frequency[beyond]])
    for place, peak in enumerate(sorted(peaks, key=lambda p: -p.share)[:_MOST_LABELS]):
        _mark(axes, spectrum, peak, _MARKS[place % len(_MARKS)])
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.2), handlelength=1.6, borderaxespad=0)
    return figure


def _mark(axes: Axes, spectrum: Spectrum, peak: Peak, colour: str) -> None:
    """Draw points on a source's lines, and its frequency, cost and name in the legend."""
    seen = np.array([n * peak.frequency for n in peak.harmonics if n * peak.frequency <= spectrum.highest_hz])
    places = np.clip(np.round(seen / spectrum.frequency[1]).astype(int), 1, len(spectrum.power) - 2)
    heights = np.max([spectrum.power[places + side] for side in (-1, 0, 1)], axis=0)
    source = "source unknown" if peak.source == "unknown" else _short(peak.source)
    label = f"{_hertz(peak.frequency)}, {time_text(peak.length_ps, 2)} each: {source}"
    axes.plot(seen, heights, "o", ms=2.6, color=colour, mec="white", mew=0.3, zorder=4, label=label)


def _short(source: str) -> str:
    name = source.split(",")[0]
    return name if len(name) <= 50 else name.split(" (")[0]


def _hertz(frequency: float) -> str:
    return f"{frequency:.4g}{SPACE}Hz"


def _thinned(frequency: Values, power: Values) -> tuple[Values, Values]:
    """The highest power in each of some thousand parts of the logarithm: the height of lines does not change."""
    if len(frequency) <= _MOST_POINTS:
        return frequency, power
    parts = np.floor(np.log(frequency / frequency[0]) / np.log(frequency[-1] / frequency[0]) * _MOST_POINTS).astype(int)
    first = np.flatnonzero(np.diff(parts, prepend=-1))
    highest = np.maximum.reduceat(power, first)
    return frequency[first], highest


@styled
def plot_heat_map(cores: Sequence[Detours]) -> Figure:
    """The share of the time that detours took, by core and time; log colours."""
    figure = new_figure(min(1.5 + 0.32 * len(cores), 6.0))
    axes = figure.subplots()
    tidy(axes, "")
    table, step = _binned(cores)
    lost = table[table > 0]
    if len(lost) == 0:
        say_empty(axes, "no detour was recorded")
        return figure
    high = bulk_limits(lost, log=True).high
    low = min(max(float(np.quantile(lost, 0.02)), high * 1e-5), high / 10)
    axes.set_facecolor(FAINT)  # where a core was not recorded
    image = axes.imshow(
        np.maximum(table, low),
        aspect="auto",
        interpolation="nearest",
        cmap="cividis",
        norm=LogNorm(low, high),
        extent=(0, table.shape[1] * step, len(cores) - 0.5, -0.5),
    )
    axes.set(xlabel="time since the start of the recording [s]", ylabel="core")
    several = len({core.node for core in cores}) > 1
    names = [f"{core.node} {core.core}" if several else str(core.core) for core in cores]
    every = max(1, len(cores) // 24)
    axes.set_yticks(range(0, len(cores), every), names[::every])
    extend = "max" if float(lost.max()) > high else "neither"
    bar = figure.colorbar(image, ax=axes, pad=0.015, aspect=12 if len(cores) < 6 else 25, extend=extend)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.set_label("share of time lost", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL, width=0.6, color=MUTED)
    bar.outline.set_linewidth(0.4)
    return figure


def _binned(cores: Sequence[Detours]) -> tuple[Values, float]:
    """The share lost by core and bin, and a bin's seconds; not a number where a core was not recorded.

    The bins are those of the shortest recording, unless that is a single one far shorter than the others.
    """
    until = bulk_limits([core.duration for core in cores], log=True).low
    step = until * 1e-12 / _HEAT_COLUMNS
    table = np.full((len(cores), _HEAT_COLUMNS), np.nan)
    for row, core in zip(table, cores, strict=True):
        share = binned_loss(replace(core, duration=min(core.duration, round(until))), step)[:_HEAT_COLUMNS]
        row[: len(share)] = share
    return table, step


@styled
def plot_ftq(ftq: Ftq) -> Figure:
    """The share of each quantum that was lost, over time; a panel a core. Quanta drawn together have mean and worst."""
    cores = ftq.cores[:MOST_CORES]
    figure = new_figure(0.9 + 1.25 * len(cores))
    panels = figure.subplots(len(cores), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    limits = bulk_limits(np.concatenate([_together(core)[0] for core in cores]))
    for axes, core in zip(panels, cores, strict=True):
        tidy(axes)
        worst, mean, together = _together(core)
        time = np.arange(len(worst)) * together * ftq.quantum_s
        beyond = limits.above(worst)
        mark_cut(axes, "top", time[beyond], PALETTE[0], [_percent(value) for value in worst[beyond]])
        axes.vlines(time, 0, worst, color="#c9d8e6" if together > 1 else PALETTE[0], lw=0.6, rasterized=True)
        if together > 1:
            axes.plot(time, mean, color=PALETTE[0], lw=0.7, rasterized=True, label=f"mean of {together}")
            axes.plot([], [], color="#c9d8e6", lw=3, label="worst of them")
        axes.set_title(f"core {core.cpu}: {percent_text(core.overhead)} of its time lost")
        axes.set_xlim(0, len(core.loss) * ftq.quantum_s)
    if panels[0].get_legend_handles_labels()[0]:
        panels[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2)
    panels[0].set_ylim(0, min(105.0, 1.15 * max(limits.high, 1.0)))
    panels[-1].set_xlabel("time since the start of the recording [s]")
    figure.supylabel(f"lost of a quantum of {time_text(ftq.quantum_s * 1e12)} [%]", fontsize=9)
    return figure


def _together(core: FtqCore) -> tuple[Values, Values, int]:
    """The worst and the mean loss (%) of quanta that are drawn together, and their number."""
    together = max(1, len(core.loss) // _MOST_POINTS)
    parts = np.arange(0, len(core.loss), together)
    mean = np.add.reduceat(core.loss, parts) / np.diff(parts, append=len(core.loss))
    return np.maximum.reduceat(core.loss, parts) * 100, mean * 100, together


def _percent(value: float) -> str:
    return percent_text(value / 100)


@styled
def plot_fwq(cores: Sequence[FwqCore]) -> Figure:
    """The slowdown that a share of the quanta does not exceed, on a scale of rarity; a line a core."""
    figure = new_figure(3.0)
    axes = figure.subplots()
    tidy(axes, "both")
    longest = max(len(core.slowdown) for core in cores)
    limits = bulk_limits(np.concatenate([core.slowdown for core in cores[:MOST_CORES]]), log=True)
    for place, core in enumerate(cores[:MOST_CORES]):
        values = np.sort(core.slowdown)
        rarity = len(values) / np.arange(len(values), 0, -1)
        keep = np.unique(np.geomspace(1, len(values), 600).astype(int)) - 1
        keep = len(values) - 1 - keep[::-1]
        beyond = limits.above(values[keep])
        texts = [si_text(value) for value in values[keep][beyond]]
        mark_cut(axes, "top", rarity[keep][beyond], PALETTE[place], texts)
        axes.step(rarity[keep], values[keep], where="post", color=PALETTE[place], lw=1.2, label=f"core {core.cpu}")
    marks = [m for m in (1, 2, 10, 100, 1000, 10_000, 100_000, 1_000_000) if m <= longest]
    axes.set(xscale="log", xlabel="part of the pieces of work that are no slower")
    axes.set_ylabel("time of a piece of work\nover that of the quickest")
    axes.xaxis.set_major_locator(FixedLocator(marks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(1, longest * 1.1)
    if limits.high > 5:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_ylim(limits.low / 1.1, limits.high * 1.2)
    else:
        axes.set_ylim(limits.low - 0.05 * (limits.high - limits.low or 1), limits.high + 0.08 * (limits.high - 1 or 1))
    if len(cores) > 1:
        axes.legend(loc="upper left", handlelength=1.2, ncols=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _part_below(value)))
    return figure


def _part_below(rarity: float) -> str:
    """The share that is not worse than 1 of `rarity`: 100 -> "99 %"."""
    return f"{100 * (1 - 1 / rarity):.6g}{SPACE}%"


@styled
def plot_maximum(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Expected worst loss of P ranks in a window, over P; colours are windows, dashes a second noise.

    `tables`: as `compare.maximum_table` gives them, by name. Lower bounds are drawn faint.
    """
    figure = new_figure(3.3)
    axes = figure.subplots()
    tidy(axes, "both")
    windows = sorted({int(w) for table in tables.values() for w in table["window_ps"]})
    if not windows:
        say_empty(axes, "the recording is too short for any window")
        return figure
    limits = bulk_limits(np.concatenate([table["expected_ps"] for table in tables.values()]), log=True)
    cut = 0
    for dash, (name, table) in zip(("-", (0, (4, 2)), ":"), tables.items(), strict=False):
        for place, window in enumerate(windows):
            own = table[table["window_ps"] == window]
            if own.empty:
                continue
            known = own[~own["beyond"]]
            beyond = own[own.index >= (known.index[-1] if len(known) else own.index[0])]
            colour = PALETTE[place % len(PALETTE)]
            last = name == next(iter(tables))
            label = f"window {time_text(window)}" if last else None
            axes.plot(beyond["ranks"], beyond["expected_ps"], ls=dash, lw=1.2, color=colour, alpha=0.3)
            axes.plot(known["ranks"], known["expected_ps"], ls=dash, lw=1.4, color=colour, label=label)
            axes.plot(known["ranks"], known["expected_ps"], "o", ms=3, color=colour)
            cut += mark_outside(axes, limits, own["ranks"], own["expected_ps"], colour)
    if len(tables) > 1:
        for dash, name in zip(("-", (0, (4, 2)), ":"), tables, strict=False):
            axes.plot([], [], ls=dash, color=MUTED, lw=1.2, label=name)
    axes.plot([], [], color=MUTED, lw=1.2, alpha=0.3, label="at least (more than was recorded)")
    axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="expected worst loss of any rank in a window")
    axes.set_ylim(limits.low / 1.3, limits.high * 1.3)
    say_above(axes, cut_text(cut, "point"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: si_text(value)))
    _time_axis(axes, "y")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.8)
    return figure


@styled
def plot_nodes(table: pd.DataFrame, name: str = "node", most: int = 40) -> Figure:
    """Overhead and expected worst loss of each node (or core), the noisiest on top, outliers marked.

    `table` as `nodes.rank_nodes` or `nodes.rank_cores` gives it; the `most` noisiest.
    """
    shown = table.head(most).iloc[::-1]
    figure = new_figure(1.1 + 0.2 * len(shown))
    panels = figure.subplots(1, 3, sharey=True)
    rows = np.arange(len(shown))
    kinds = (
        ("overhead", "overhead", "overhead"),
        ("p999_ps", f"99.9{SPACE}% of detours below", "p999"),
        ("maximum_ps", f"worst of 1,000, in 1{SPACE}ms", "maximum"),
    )
    for axes, (column, title, flag) in zip(panels, kinds, strict=True):
        tidy(axes, "x")
        out = np.array([flag in text.split() for text in shown["outlier"]], dtype=bool)
        values = shown[column].to_numpy(dtype=float)
        limits, text = bulk_limits(values), percent_tick if column == "overhead" else time_text
        beyond = limits.above(values)
        colours = np.where(out, VERMILLION, PALETTE[0])
        axes.hlines(rows, 0, values, color=FAINT, lw=2.5)
        axes.scatter(values[~beyond], rows[~beyond], s=22, color=colours[~beyond], zorder=3)
        for row, value, colour in zip(rows[beyond], values[beyond], colours[beyond], strict=True):
            mark_cut(axes, "right", [row], str(colour), [text(value)])
        axes.axvline(float(table[column].median()), color=MUTED, lw=0.8, ls=(0, (4, 2)))
        axes.set_title(title)
        axes.set_xlim(0, max(limits.high * 1.15, 1e-9))
        axes.xaxis.set_major_locator(MaxNLocator(3))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _, text=text: text(value)))
    panels[0].set_yticks(rows, [f"{name} {value}" if name == "core" else str(value) for value in shown[name]])
    panels[0].set_ylim(-0.7, len(rows) - 0.3)
    note = f"dashed: median of all {name}s; red: far above it; worst of 1,000: the expected longest loss of 1,000 ranks"
    figure.supxlabel(note, fontsize=SMALL, color=MUTED)
    return figure


def _time_axis(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(numticks=10))
    axis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value)))
    axis.set_minor_formatter(NullFormatter())
