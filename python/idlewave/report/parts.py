"""The parts of a report: what was measured, traced, simulated and studied, and whether that belongs together."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..formatting import join_words
from ..machine_file.reader import scope_from_json
from ..provenance import Provenance
from ..studies.table import checked_study, provenance_of_study
from .consistency import MACHINE, Consistency, Part, consistency_of
from .places import add_places, source_of_recording, sources_of_contention
from .sections import Section, sections_of

if TYPE_CHECKING:
    import pandas as pd

    from ..contention.analysis import ContentionAnalysis
    from ..machine import Machine, Scope
    from ..measure import Measurement, NetworkMeasurement, NoiseMeasurement
    from ..overtime.analysis import Analysis
    from ..timeline import Timeline
    from ..trace import Trace

DEFAULT_TITLE = "Idlewave report"
_LIBRARIES = ("idlewave", "numpy", "pandas", "matplotlib")


@dataclass(frozen=True)
class Report:
    """The parts of a report; `report_of` puts them together. A part that is None is left out of the page.

    `prediction` is the simulation of the traced ranks without noise, which is compared with the traced run.
    `consistency` says whether the parts belong together. `provenance` says what the report is made from,
    `study_provenance` what the study is made from. `collectives` says which algorithms the prediction's collectives
    follow. `overtime` is what a recording over time says, `contention` what a table of contention says.
    """

    title: str = DEFAULT_TITLE
    measurement: Measurement | None = None
    trace: Trace | None = None
    prediction: Timeline | None = None
    study: pd.DataFrame | None = None
    consistency: Consistency = field(default_factory=Consistency)
    provenance: Provenance | None = None
    study_provenance: Provenance | None = None
    collectives: str = ""
    overtime: Analysis | None = None
    contention: ContentionAnalysis | None = None

    def __post_init__(self) -> None:
        if self.study is not None:
            checked_study(self.study, "the study")

    @cached_property
    def machine(self) -> Machine | None:
        """The machine that was measured."""
        return None if self.measurement is None else self.measurement.machine()

    @property
    def noise(self) -> NoiseMeasurement | None:
        """The measured noise."""
        return None if self.measurement is None else self.measurement.noise

    @property
    def network(self) -> NetworkMeasurement | None:
        """The measured network."""
        return None if self.measurement is None else self.measurement.network

    @cached_property
    def scope(self) -> Scope | None:
        """The networks between the ranks of the study; None where its provenance does not say. Raises InputError."""
        machine = None if self.study_provenance is None else self.study_provenance.find("machine")
        scope = None if machine is None else machine.options.get("scope")
        return None if scope is None else scope_from_json(scope, "the study")

    @cached_property
    def residuals(self) -> pd.DataFrame | None:
        """The medians of the measured network beside what the fit predicts, as `residuals_of` has them."""
        from ..measure.network.fitting.quantities import residuals_of

        return None if self.network is None else residuals_of(self.network.fit)

    @cached_property
    def sections(self) -> list[Section]:
        """The sections on what varies."""
        return list(sections_of(self))

    @property
    def command(self) -> str:
        """The command of the traced run, or the trace's folder where that is not known; "" without a trace."""
        return "" if self.trace is None else self.trace.command or str(self.trace.directory)

    @property
    def notes(self) -> tuple[str, ...]:
        """Further sentences for the section on what the numbers rest on."""
        measured = () if self.measurement is None else (*self.measurement.noise.notes, *self.measurement.network.notes)
        predicted = (f"The prediction has {self.collectives}.",) if self.collectives else ()
        return (*predicted, *self.consistency.notes, *measured)

    @property
    def foreign_load(self) -> dict[str, float]:
        """For each step of measuring, the share of the processor time that other processes used meanwhile."""
        if self.measurement is None:
            return {}
        cores = self.measurement.noise.cores
        loads = zip(cores["core"], cores["foreign_load"], strict=True)
        return {f"noise, core {core}": float(load) for core, load in loads}

    @property
    def environment(self) -> dict[str, str]:
        """Where the machine was measured: host, processor, kernel, MPI and so on, as far as it was recorded."""
        if self.measurement is not None:
            return _environment(self.measurement.network.environment)
        if self.contention is not None:
            return _environment(self.contention.environment)
        return {} if self.overtime is None else _environment(self.overtime.recording.said.get("environment") or {})

    @property
    def versions(self) -> dict[str, str]:
        """The versions of Python and of the libraries that make the report."""
        trained = self.contention is not None and self.contention.evaluation is not None
        libraries = (*_LIBRARIES, *(("scikit-learn",) if trained else ()))
        return {name: importlib.metadata.version(name) for name in libraries} | {"Python": platform.python_version()}

    def warning(self, topic: str) -> str:
        """The sentences on parts that do not belong together, of one topic, to follow another sentence; or nothing."""
        return "".join(f" {sentence}" for sentence in self.consistency.contradictions.get(topic, ()))


def report_of(
    measurement: Measurement | None = None,
    trace: Trace | None = None,
    prediction: Timeline | None = None,
    study: pd.DataFrame | None = None,
    *,
    title: str = DEFAULT_TITLE,
    allow_mixed: bool = False,
    study_name: str = "the study",
    collectives: str = "",
    overtime: Analysis | None = None,
    contention: ContentionAnalysis | None = None,
) -> Report:
    """A report of these parts; a part that is None is left out.

    `prediction` is the simulation of the traced ranks without noise. The provenance of the parts must show that they
    belong together: the study and the prediction are of this machine and this trace. If they do not, InputError is
    raised; with `allow_mixed` the sentences of the report say so instead. Sentences call the study `study_name`.
    `collectives` is what `AlgorithmChoice.sentence` says of the prediction. `overtime`, of
    `overtime.analysis.Analysis(read_overtime(folder))`, and `contention`, of `contention.analysis.read_analysis`, must
    be of the measured processor.
    """
    of_study = None if study is None else provenance_of_study(study, study_name)
    found = _consistency(measurement, trace, prediction, None if study is None else Part(study_name, of_study))
    add_places(found, measurement, overtime, contention)
    if found.contradictions and not allow_mixed:
        raise InputError(
            f"these parts do not belong together. {' '.join(found.sentences())} "
            "(--allow-mixed makes the report all the same, and says so in it)"
        )
    sources = _sources(measurement, trace, prediction)
    if study is not None:
        sources.append(replace(of_study or Provenance("study"), name=study_name))
    if overtime is not None:
        sources.append(source_of_recording(overtime))
    if contention is not None:
        sources += sources_of_contention(contention)
    options = {"allow_mixed": True} if allow_mixed else {}
    provenance = Provenance.made("report", title, by="idlewave.report.build", options=options, sources=tuple(sources))
    parts = (measurement, trace, prediction, study)
    return Report(title, *parts, found, provenance, of_study, collectives, overtime, contention)


def _consistency(
    measurement: Measurement | None, trace: Trace | None, prediction: Timeline | None, study: Part | None
) -> Consistency:
    found = consistency_of(
        None if measurement is None else Part(_folder_of(measurement), measurement.machine().provenance),
        None if trace is None else Part(str(trace.directory), trace.provenance),
        None if prediction is None else prediction.provenance,
        study,
    )
    if measurement is not None:
        found.add(MACHINE, measurement.misfits())
    if measurement is not None and trace is not None:
        found.notes.extend(_other_hosts(measurement, trace))
    return found


def _sources(measurement: Measurement | None, trace: Trace | None, prediction: Timeline | None) -> list[Provenance]:
    """What the report is made from, without the study."""
    sources = []
    if measurement is not None:
        own = measurement.provenance or Provenance("measurement")
        digests = measurement.machine().provenance.digests
        sources.append(replace(own, name=_folder_of(measurement), digests=digests))
    if trace is not None:
        sources.append(trace.provenance)
    if prediction is not None and prediction.provenance is not None:
        sources.append(prediction.provenance)
    return sources


def _folder_of(measurement: Measurement) -> str:
    return str(measurement.folder or measurement.name)


def _other_hosts(measurement: Measurement, trace: Trace) -> list[str]:
    """A sentence, if the program did not run where the machine was measured."""
    ranks = measurement.network.probe.get("ranks") or []
    places = [measurement.noise.environment, measurement.network.environment, *ranks]
    measured = sorted({str(place["host"]) for place in places if place.get("host")})
    traced = sorted(set(trace.processes["host"].astype(str)))
    if not measured or not set(traced) - set(measured):
        return []
    return [
        f"The program ran on {join_words(traced)}, but the machine was measured on {join_words(measured)}: computation "
        "is that of the former, messages and noise are those of the latter."
    ]


def _environment(measured: Mapping[str, Any]) -> dict[str, str]:
    mpi: dict[str, Any] = measured.get("mpi") or {}
    hypervisor = measured.get("hypervisor")
    shown = {
        "host": measured.get("host"),
        "processor": measured.get("processor"),
        "kernel": measured.get("kernel"),
        "cores": measured.get("cores"),
        "usable cores": ", ".join(map(str, measured.get("affinity") or [])),
        "hypervisor": None if hypervisor is None else ("yes" if hypervisor else "no"),
        "clock source": measured.get("clock_source"),
        "governor": measured.get("governor"),
        "load average": ", ".join(f"{x:.2f}" for x in measured.get("load_average") or []),
        "MPI": f"{mpi.get('vendor')} {mpi.get('version')}" if mpi else None,
        "measured": measured.get("time"),
    }
    return {key: str(value) for key, value in shown.items() if value not in (None, "")}
