"""A report's data from what the other steps left: a measured machine, a trace, a study."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from .belonging import MACHINE, Belonging, Part, belonging
from .errors import InputError
from .machine import Machine
from .machine_table import scope_from
from .measure import Measurement
from .measure.network.fitting.quantities import quantities_of, residuals_of
from .provenance import Provenance
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
from .study_table import provenance_of_study
from .timeline import Timeline
from .trace import Trace
from .wording import SPACE, join_words


def report_data(
    measurement: Measurement | None,
    trace: Trace | None,
    timeline: Timeline | None,
    study: pd.DataFrame | None,
    *,
    title: str = "Idlewave report",
    allow_mixed: bool = False,
    study_name: str = "the study",
) -> ReportData:
    """Everything that is known, as the report takes it; a part that is None is left out.

    `timeline` is the simulation of the traced ranks without noise, to be held against the measured run. What the parts
    carry as their provenance must show that they belong together: the study and the timeline are of this machine and
    this trace. Else InputError is raised, or, if `allow_mixed`, the report's sentences say so. `study_name` is what
    sentences call the study.
    """
    parts = Parts(measurement, trace, timeline, study, study_name)
    found = parts.belonging()
    if found.misfits and not allow_mixed:
        raise InputError(
            f"these parts do not belong together. {' '.join(found.all())} "
            "(--allow-mixed makes the report all the same, and says so in it)"
        )
    notes = found.notes
    if measurement is not None:
        notes += [*measurement.noise.notes, *measurement.network.notes]
    return ReportData(
        title=title,
        machine=machine_data(measurement) if measurement else None,
        noise=noise_data(measurement) if measurement else None,
        network=network_data(measurement) if measurement else None,
        program=program_data(trace) if trace else None,
        comparison=comparison_data(trace, timeline) if trace and timeline else None,
        study=study_data(study, parts.of_study, found.noise) if study is not None else None,
        foreign_load=_foreign_load(measurement) if measurement else {},
        notes=tuple(notes),
        environment=_environment(measurement) if measurement else {},
        versions={name: importlib.metadata.version(name) for name in ("idlewave", "numpy", "pandas", "matplotlib")}
        | {"Python": platform.python_version()},
        mixed={topic: tuple(sentences) for topic, sentences in found.misfits.items()},
        provenance=parts.provenance(title, allow_mixed=allow_mixed),
    )


@dataclass(frozen=True)
class Parts:
    """What a report is made from; None is what it has not."""

    measurement: Measurement | None
    trace: Trace | None
    timeline: Timeline | None
    study: pd.DataFrame | None
    study_name: str

    def belonging(self) -> Belonging:
        """Whether they belong together."""
        measurement, trace = self.measurement, self.trace
        predicted = self.timeline.provenance if self.timeline else None
        found = belonging(
            Part(self._measured_in(), self.machine.provenance) if measurement else None,
            Part(str(trace.directory), trace.provenance) if trace else None,
            predicted,
            Part(self.study_name, self.of_study) if self.study is not None else None,
        )
        if measurement is not None:
            found.add(MACHINE, measurement.misfits())
        if measurement is not None and trace is not None:
            found.notes.extend(_other_hosts(measurement, trace))
        return found

    def provenance(self, title: str, *, allow_mixed: bool) -> Provenance:
        """Of the report."""
        sources = []
        if self.measurement is not None:
            said = self.measurement.provenance or Provenance("measurement")
            sources.append(replace(said, name=self._measured_in(), digests=self.machine.provenance.digests))
        if self.trace is not None:
            sources.append(self.trace.provenance)
        if self.timeline is not None and self.timeline.provenance is not None:
            sources.append(self.timeline.provenance)
        if self.study is not None:
            sources.append(replace(self.of_study or Provenance("study"), name=self.study_name))
        options = {"allow_mixed": True} if allow_mixed else {}
        return Provenance.made("report", title, by="idlewave.report.build", options=options, sources=tuple(sources))

    @cached_property
    def machine(self) -> Machine:
        """The machine that was measured."""
        assert self.measurement is not None
        return self.measurement.machine()

    @cached_property
    def of_study(self) -> Provenance | None:
        """What the study carries, held against its rows."""
        return None if self.study is None else provenance_of_study(self.study, self.study_name)

    def _measured_in(self) -> str:
        assert self.measurement is not None
        return str(self.measurement.folder or self.measurement.name)


def _other_hosts(measurement: Measurement, trace: Trace) -> list[str]:
    """A sentence, if the program did not run where the machine was measured."""
    ranks = measurement.network.probe.get("ranks") or []
    places = [measurement.noise.environment, measurement.network.environment, *ranks]
    measured = sorted({str(place["host"]) for place in places if place.get("host")})
    traced = sorted(set(trace.processes["host"].astype(str)))
    if not measured or not set(traced) - set(measured):
        return []
    return [
        f"The program ran on {join_words(traced)}, and what was measured is {join_words(measured)}: its computation is "
        "that of the former, messages and noise are those of the latter."
    ]


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
        place=measurement.network.place,
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


def study_data(study: pd.DataFrame, provenance: Provenance | None = None, noise: str = "noise") -> StudyData:
    """The runs, with what slows the program in them, and over which networks they went, where `provenance` (default:
    what the table carries) says so."""
    made_of = provenance or Provenance.of_table(study, "the study")
    machine = None if made_of is None else made_of.find("machine")
    scope = None if machine is None else machine.options.get("scope")
    return StudyData(study, None if scope is None else scope_from(scope, "the study"), noise)


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
