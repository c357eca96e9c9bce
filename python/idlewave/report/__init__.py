"""The report: plots, numbers and sentences, and one HTML file that opens offline.

>>> report = report_of(Measurement.load("machine"), Trace.load("trace"), None, study)
>>> build(report, Path("report"))
"""

from __future__ import annotations

from idlewave.measure.noise.detour_plots import plot_detour_lengths, plot_detours
from idlewave.report.computation_plot import plot_computation_sites
from idlewave.report.findings import findings
from idlewave.report.network_plot import plot_network
from idlewave.report.page import build
from idlewave.report.parts import Report, report_of
from idlewave.report.program_plots import plot_communication, plot_prediction, plot_time
from idlewave.report.study_plots import plot_run_time, plot_slowdown

__all__ = [
    "Report",
    "build",
    "findings",
    "plot_communication",
    "plot_computation_sites",
    "plot_detour_lengths",
    "plot_detours",
    "plot_network",
    "plot_prediction",
    "plot_run_time",
    "plot_slowdown",
    "plot_time",
    "report_of",
]
