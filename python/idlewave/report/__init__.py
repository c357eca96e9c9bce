"""The report: plots, numbers and sentences from tables, and one HTML file that opens offline."""

from __future__ import annotations

from idlewave.measure.noise.detour_plots import plot_detour_lengths, plot_detours
from idlewave.report.data import (
    ComparisonData,
    MachineData,
    NetworkData,
    NetworkSegment,
    NoiseData,
    ProgramData,
    ReportData,
    StudyData,
)
from idlewave.report.findings import findings
from idlewave.report.page import build
from idlewave.report.plot_network import plot_network
from idlewave.report.plot_program import plot_communication, plot_prediction, plot_time
from idlewave.report.plot_scale import plot_run_time, plot_slowdown

__all__ = [
    "ComparisonData",
    "MachineData",
    "NetworkData",
    "NetworkSegment",
    "NoiseData",
    "ProgramData",
    "ReportData",
    "StudyData",
    "build",
    "findings",
    "plot_communication",
    "plot_detour_lengths",
    "plot_detours",
    "plot_network",
    "plot_prediction",
    "plot_run_time",
    "plot_slowdown",
    "plot_time",
]
