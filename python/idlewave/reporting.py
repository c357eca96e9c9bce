"""A report's data from what the other steps left: a measured machine, a trace, a study."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

import pandas as pd

from .measure import Measurement
from .measure.network.quantities import quantities_of, residuals_of
from .report import (
    ComparisonData,
    MachineData,
    NetworkData,
    NetworkSegment,
    NoiseData,
    ProgramData,
    ReportData,
    StudyData,
)
from .timeline import Timeline
from .trace import Trace
from .wording import SPACE


def report_data(
    measurement: Measurement | None,
    trace: Trace | None,
    timeline: Timeline | None,
    study: pd.DataFrame | None,
    *,
    title: str = "Idlewave report",
) -> ReportData:
    """Everything that is known, as the report takes it; a part that is None is left out.

    `timeline` is the simulation of the traced ranks without noise, to be held against the measured run.
    """
    notes: list[str] = []
    if measurement is not None:
        notes += [*measurement.noise.notes, *measurement.network.notes]
    return ReportData(
        title=title,
        machine=machine_data(measurement) if measurement else None,
        noise=noise_data(measurement) if measurement else None,
        network=network_data(measurement) if measurement else None,
        program=program_data(trace) if trace else None,
        comparison=comparison_data(trace, timeline) if trace and timeline else None,
        study=StudyData(study) if study is not None else None,
        foreign_load=_foreign_load(measurement) if measurement else {},
        notes=tuple(notes),
        environment=_environment(measurement) if measurement else {},
        versions={name: importlib.metadata.version(name) for name in ("idlewave", "numpy", "pandas", "matplotlib")}
        | {"Python": platform.python_version()},
    )


def machine_data(measurement: Measurement) -> MachineData:
    """The parameters with their intervals, and how the fit meets each measured size."""
    fit = measurement.network.fit
    first = fit.ranges[0]
    p = first.parameters
    segments = tuple(
        NetworkSegment(
            r.first,
            r.parameters.L,
            r.parameters.o_s,
            r.parameters.o_r,
            r.parameters.g,
            r.parameters.G,
            r.parameters.O,
        )
        for r in fit.ranges[1:]
    )
    return MachineData(
        measurement.name,
        p.L,
        p.o_s,
        p.o_r,
        p.g,
        p.G,
        p.O,
        fit.S,
        segments,
        dict(first.intervals),
        residuals=residuals_of(fit),
    )


def noise_data(measurement: Measurement) -> NoiseData:
    """The detours, and a summary of each core."""
    cores = measurement.noise.cores
    table = pd.DataFrame(
        {
            "core": cores["core"],
            "duration_s": cores["duration_ps"] / 1e12,
            "resolution_ns": cores["resolution_ps"] / 1e3,
            "overhead": cores["overhead"],
            "rate_hz": cores["rate_per_s"],
            "median_ns": cores["p50_ps"] / 1e3,
            "p99_ns": cores["p99_ps"] / 1e3,
            "longest_ns": cores["longest_ps"] / 1e3,
        }
    )
    return NoiseData(measurement.noise.detours, table)


def network_data(measurement: Measurement) -> NetworkData:
    """The samples, and the medians that were fitted."""
    return NetworkData(
        measurement.network.samples,
        quantities_of(measurement.network.fit),
        spread=f"95{SPACE}% intervals of the median",
    )


def program_data(trace: Trace) -> ProgramData:
    """Who talks to whom, and where the time goes."""
    return ProgramData(
        trace.command or str(trace.directory),
        trace.ranks,
        trace.measured_s,
        trace.communication(),
        trace.time(),
        trace.totals(),
        cores=len(os.sched_getaffinity(0)),
    )


def comparison_data(trace: Trace, timeline: Timeline) -> ComparisonData:
    """The run time as measured and as simulated."""
    measured = trace.run_times()
    ranks = pd.DataFrame(
        {"rank": measured["rank"], "measured_s": measured["seconds"], "predicted_s": timeline.finish / 1e12}
    )
    return ComparisonData(trace.measured_s, timeline.max_finish / 1e12, ranks, noise=False)


def _foreign_load(measurement: Measurement) -> dict[str, float]:
    cores = measurement.noise.cores
    return {f"noise, core {core}": float(load) for core, load in zip(cores["core"], cores["foreign_load"], strict=True)}


def _environment(measurement: Measurement) -> dict[str, str]:
    said = measurement.network.environment
    mpi: dict[str, Any] = said.get("mpi") or {}
    shown = {
        "host": said.get("host"),
        "processor": said.get("processor"),
        "kernel": said.get("kernel"),
        "cores": said.get("cores"),
        "usable cores": ", ".join(map(str, said.get("affinity") or [])),
        "hypervisor": None if said.get("hypervisor") is None else ("yes" if said["hypervisor"] else "no"),
        "clock source": said.get("clock_source"),
        "governor": said.get("governor"),
        "load average": ", ".join(f"{x:.2f}" for x in said.get("load_average") or []),
        "MPI": f"{mpi.get('vendor')} {mpi.get('version')}" if mpi else None,
        "measured": said.get("time"),
    }
    return {key: str(value) for key, value in shown.items() if value not in (None, "")}
