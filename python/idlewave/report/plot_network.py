"""The figure of the network, as `measure.network.plot_curves` draws it."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from idlewave.measure.network.plots.curve_plot import Mark, plot_curves
from idlewave.report.data import MachineData
from idlewave.report.network import rules_of
from idlewave.wording import size_text


def plot_network(quantities: pd.DataFrame, machine: MachineData | None = None, spread: str = "spread") -> Figure:
    """Median and spread of each quantity against message size (log-log), with the model's lines.

    `quantities`: series, size (bytes), median_ns, low_ns, high_ns, as `network.quantities` gives it; `spread` names
    what the last two are. Where `machine` has residuals, strips show them in percent of what was measured.
    """
    if machine is None:
        return plot_curves(quantities, spread=spread)
    marks = [] if machine.S is None else [Mark(machine.S, f"eager limit S = {size_text(machine.S)}")]
    return plot_curves(quantities, rules_of(machine), machine.residuals, marks, spread=spread)
