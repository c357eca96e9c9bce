"""The figure of the clocks of a job's ranks: the drift of each, and the residuals of its line."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....formatting import time_text
from ....plot_limits import Limits, bulk_limits, mark_cut, mark_outside
from ....plot_style import MUTED, PALETTE, new_figure, styled, tidy
from ..job.clocks import ClockMeasurement

NAMED = 6
"""The number of ranks with a colour of their own, which drift most; the others are grey."""


@styled
def plot_clocks(found: ClockMeasurement) -> Figure:
    """Above, the drift of each clock against rank 0's; below, the residuals of its line, with the bursts' bounds."""
    figure = new_figure(5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    widest = sorted(found.lines, key=lambda rank: -abs(found.lines[rank].drift_ppm))
    colours = dict(zip(widest[:NAMED], PALETTE, strict=False))
    reach = bulk_limits([max(line.bound_ns, line.worst_ns) for line in found.lines.values()]).high / 1000
    begin = min(_rank0_time(found, rank).min() for rank in found.lines)
    for rank in sorted(found.lines):
        _draw(above, below, found, rank, begin, colours.get(rank, ""), Limits(-1.5 * reach, 1.5 * reach))
    above.set(ylabel="offset since the beginning [µs]", title="How far each rank’s clock has drifted from rank 0’s")
    above.legend(loc="best")
    below.set(xlabel="time [s]", ylabel="offset less its line [µs]", ylim=(-1.5 * reach, 1.5 * reach))
    below.set_title("What its line leaves, and the bounds of each burst")
    _cut_drifts(above, found)
    for axes in (above, below):
        tidy(axes, "both")
    return figure


def _cut_drifts(axes: Axes, found: ClockMeasurement) -> None:
    """Limit the axes so that neither a clock that drifts much more than the others nor a burst far from all others
    flattens the other lines."""
    values = {rank: _since_begin(found, rank) for rank in found.lines}
    own = {rank: bulk_limits(offsets) for rank, offsets in values.items()}
    high = bulk_limits([max(0.0, ends.high) for ends in own.values()]).high
    low = bulk_limits([min(0.0, ends.low) for ends in own.values()]).low
    limits, span = Limits(low, high), (high - low) or 1.0
    axes.set_ylim(low - 0.05 * span, high + 0.05 * span)
    begin = min(_rank0_time(found, rank).min() for rank in found.lines)
    for rank, ends in own.items():
        if limits.above(ends.high):
            text = f"rank {rank}: up to {time_text(ends.high * 1e6)}"
            mark_cut(axes, "top", [0.98], MUTED, [text], fraction=True)
        elif limits.below(ends.low):
            text = f"rank {rank}: down to {time_text(ends.low * 1e6)}"
            mark_cut(axes, "bottom", [0.98], MUTED, [text], fraction=True)
        else:
            mark_outside(axes, limits, (_rank0_time(found, rank) - begin) / 1e9, values[rank])


def _since_begin(found: ClockMeasurement, rank: int) -> np.ndarray:
    bursts, line = found.bursts[found.bursts["rank"] == rank], found.lines[rank]
    start = float(line.offset_at(bursts["at_ns"].to_numpy()[:1])[0])
    return (bursts["offset_ns"].to_numpy(dtype=float) - start) / 1000


def _draw(
    above: Axes, below: Axes, found: ClockMeasurement, rank: int, begin: float, colour: str, limits: Limits
) -> None:
    line = found.lines[rank]
    bursts = found.bursts[found.bursts["rank"] == rank]
    at, offset = bursts["at_ns"].to_numpy(), bursts["offset_ns"].to_numpy()
    seconds = (_rank0_time(found, rank) - begin) / 1e9
    label = f"rank {rank}: {line.drift_ppm:+.3f} ppm" if colour else None
    colour = colour or MUTED
    start = float(line.offset_at(at[:1])[0])
    above.plot(seconds, (offset - start) / 1000, "o", color=colour, markersize=2.4, label=label)
    above.plot(seconds, (line.offset_at(at) - start) / 1000, "-", color=colour, linewidth=0.8)
    left, error = (offset - line.offset_at(at)) / 1000, bursts["error_ns"].to_numpy() / 1000
    below.errorbar(seconds, left, error, fmt="o", color=colour, markersize=2.4, elinewidth=0.5, alpha=0.8)
    mark_outside(below, limits, seconds, left, colour)


def _rank0_time(found: ClockMeasurement, rank: int) -> np.ndarray:
    bursts = found.bursts[found.bursts["rank"] == rank]
    return np.asarray(bursts["at_ns"] + bursts["offset_ns"])
