"""Axes that all figures of a network have: message sizes and times."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from ...units import PICOSECONDS, format_time

SPACE = "\u202f"  # narrow, and no line breaks there


def time_label(picoseconds: float) -> str:
    """A time as on an axis: 1300000 -> "1.3 µs"."""
    text = format_time(picoseconds, 3)
    unit = max((u for u in PICOSECONDS if text.endswith(u)), key=len)
    number = text.removesuffix(unit).replace("-", "\u2212")
    return f"{number}{SPACE}{unit.replace('us', 'µs')}" if picoseconds else f"0{SPACE}s"


def size_label(size: float) -> str:
    """A message size: in binary units where these are exact, else in bytes."""
    for unit, scale in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale and size % scale == 0:
            return f"{int(size // scale):,}{SPACE}{unit}"
    return f"{int(size):,}{SPACE}B"


def scale_sizes(axes: Axes, sizes: pd.Series, most: int = 7) -> None:
    """Message sizes along x, in powers of two; about `most` of them are named."""
    low, high = math.floor(math.log2(sizes.min())), math.ceil(math.log2(sizes.max()))
    stride = max(1, math.ceil((high - low) / most))
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in range(low, high + 1, stride)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_label(value)))
    axes.set_xlim(sizes.min() / 1.4, sizes.max() * 1.4)


def scale_times(axes: Axes) -> None:
    """Times in ns along a logarithmic y."""
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: time_label(value * 1e3)))
    axes.yaxis.set_minor_formatter(NullFormatter())
