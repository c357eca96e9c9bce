"""The figure of the network: `measure.network.plots.curve_plot` with the fit that was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..formatting import SPACE, size_text
from ..measure.network.fitting.quantities import quantities_of
from ..measure.network.plots.curve_plot import Mark, plot_curves

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..measure import LogGP

SPREAD = f"95{SPACE}% intervals of the median"
"""What the bars of the figure are."""


def plot_network(fit: LogGP, residuals: pd.DataFrame) -> Figure:
    """Median and interval of each quantity against message size (log-log), and the model's lines.

    Strips below show `residuals`, the table of `residuals_of(fit)`, in percent of what was measured.
    """
    marks = [] if fit.S is None else [Mark(fit.S, f"eager limit S = {size_text(fit.S)}")]
    return plot_curves(quantities_of(fit), fit.network, residuals, marks, spread=SPREAD)
