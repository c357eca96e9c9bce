"""Pictures of what concerns all ranks of a job: the pairs' latencies as a matrix, the clocks over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from .clocks import ClockMeasurement

# Okabe and Ito, Color Universal Design (2008).
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
MUTED = "#666666"
STYLE: Any = {"font.size": 9.0, "axes.titlelocation": "left", "axes.titlesize": 9.0, "legend.fontsize": 8.0}
NAMED = len(COLOURS)
"""So many ranks get a colour of their own; the others are grey."""


def plot_clocks(found: ClockMeasurement, file: Path) -> None:
    """Write a picture: above, how far each clock has drifted; below, what its line leaves, with the bursts' bounds."""
    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 5.2), layout="constrained", dpi=150)
        above, below = figure.subplots(2, 1, sharex=True)
        widest = sorted(found.lines, key=lambda rank: -abs(found.lines[rank].drift_ppm))
        colours = dict(zip(widest[:NAMED], COLOURS, strict=False))
        begin = min(_rank0_time(found, rank).min() for rank in found.lines)
        for rank, line in sorted(found.lines.items()):
            bursts = found.bursts[found.bursts["rank"] == rank]
            at, offset = bursts["at_ns"].to_numpy(), bursts["offset_ns"].to_numpy()
            seconds = (_rank0_time(found, rank) - begin) / 1e9
            colour = colours.get(rank, MUTED)
            label = f"rank {rank}: {line.drift_ppm:+.3f} ppm" if rank in colours else None
            start = float(line.offset_at(at[:1])[0])
            above.plot(seconds, (offset - start) / 1000, ".", color=colour, markersize=3, label=label)
            above.plot(seconds, (line.offset_at(at) - start) / 1000, "-", color=colour, linewidth=0.7)
            below.errorbar(
                seconds,
                (offset - line.offset_at(at)) / 1000,
                bursts["error_ns"].to_numpy() / 1000,
                fmt=".", color=colour, markersize=3, elinewidth=0.4, alpha=0.8,
            )  # fmt: skip
        above.set(ylabel="offset since the beginning (µs)", title="Clocks against rank 0's")
        above.legend(frameon=False, loc="best")
        reach = 1.5 * max(max(line.bound_ns, line.worst_ns) for line in found.lines.values()) / 1000
        below.set(xlabel="time (s)", ylabel="offset less its line (µs)", ylim=(-reach, reach))
        below.set_title("What the line leaves; bars: between what each burst's exchanges hold the offset")
        for axes in (above, below):
            axes.grid(linewidth=0.3)
        figure.savefig(file)


def _rank0_time(found: ClockMeasurement, rank: int) -> np.ndarray:
    bursts = found.bursts[found.bursts["rank"] == rank]
    return np.asarray(bursts["at_ns"] + bursts["offset_ns"])
