"""Axes that all figures of a network have: message sizes and times."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from ....formatting import size_text, time_text


def scale_sizes(axes: Axes, sizes: pd.Series, most: int = 7) -> None:
    """Message sizes along x, in powers of two; about `most` of them are labelled."""
    low, high = math.floor(math.log2(sizes.min())), math.ceil(math.log2(sizes.max()))
    stride = max(1, math.ceil((high - low) / most))
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in range(low, high + 1, stride)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    axes.set_xlim(sizes.min() / 1.4, sizes.max() * 1.4)


def scale_times(axes: Axes) -> None:
    """Times in ns along a logarithmic y."""
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value * 1e3)))
    axes.yaxis.set_minor_formatter(NullFormatter())
