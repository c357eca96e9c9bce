"""What a report is made from: frozen records of tables. A part that was not measured is None.

Times in tables are int64 picoseconds where a column ends in ``_ps``, seconds where it ends in ``_s``,
nanoseconds where it ends in ``_ns``. Shares (overhead, load) are fractions of 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from idlewave.errors import InputError
from idlewave.machine import Scope
from idlewave.measure.network.fitting.quantities import QUANTITIES
from idlewave.provenance import Provenance
from idlewave.study_table import checked_study


def require_columns(table: pd.DataFrame, columns: tuple[str, ...], name: str) -> None:
    """Raise InputError, naming table and column, unless `table` has all of `columns`."""
    missing = [column for column in columns if column not in table.columns]
    if missing:
        found = ", ".join(map(str, table.columns)) or "none"
        raise InputError(
            f"the table '{name}' lacks the column {', '.join(missing)}: expected {', '.join(columns)}; found {found}"
        )


@dataclass(frozen=True)
class NetworkSegment:
    """Parameters that hold for messages of at least `from_bytes`; what is None stays as it was below."""

    from_bytes: int
    L: float | None = None
    o_s: float | None = None
    o_r: float | None = None
    g: float | None = None
    G: float | None = None
    O: float | None = None  # noqa: E741  the model's own name


@dataclass(frozen=True)
class MachineData:
    """LogGOPS parameters of a machine.

    L, o_s, o_r and g in picoseconds; G and O in picoseconds per byte; S in bytes, None if always eager.
    `place` says between which ranks they were measured ("within one node (shared memory)"), empty where that is not
    known.
    `intervals`: for a parameter's name the ends of its confidence interval, in the parameter's own unit;
    `confidence` is their level. `residuals`: one row a fitted point, columns size (bytes), series (one of
    QUANTITIES), measured_ns, predicted_ns, and aside_ns where a part of a measured call is deliberately not in the
    model's overhead (none unless there is that column).
    """

    name: str
    L: float
    o_s: float
    o_r: float
    g: float
    G: float
    O: float = 0.0  # noqa: E741  the model's own name
    S: int | None = None
    segments: tuple[NetworkSegment, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    confidence: float = 0.95
    residuals: pd.DataFrame | None = None
    place: str = ""

    def __post_init__(self) -> None:
        if self.residuals is not None:
            columns = ("size", "series", "measured_ns", "predicted_ns")
            require_columns(self.residuals, columns, "machine.residuals")


@dataclass(frozen=True)
class NoiseData:
    """Detours recorded on one or more cores.

    `detours`: core, start_ps (from the recording's start), length_ps; one row a detour.
    `cores`: core, duration_s, resolution_ns, overhead, rate_hz, median_ns, p99_ns, longest_ns; a row a core.
    `magnitudes`: core, decade (a label such as "1–10 µs", shortest first), overhead; made from the detours if
    it is None.
    """

    detours: pd.DataFrame
    cores: pd.DataFrame
    magnitudes: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        require_columns(self.detours, ("core", "start_ps", "length_ps"), "noise.detours")
        columns = (
            "core",
            "duration_s",
            "resolution_ns",
            "overhead",
            "rate_hz",
            "median_ns",
            "p99_ns",
            "longest_ns",
        )
        require_columns(self.cores, columns, "noise.cores")
        if self.magnitudes is not None:
            require_columns(self.magnitudes, ("core", "decade", "overhead"), "noise.magnitudes")


@dataclass(frozen=True)
class NetworkData:
    """Samples of the PRTT method.

    `samples`: series ("prtt1": PRTT(1,0,s); "prttn": PRTT(n,0,s); "prttd": PRTT(n,d,s); "o_r"), size (bytes),
    n, delay_ns (d), repetition, value_ns (of the whole exchange; for "o_r" of one receive).
    `medians`: series (one of QUANTITIES), size, median_ns, low_ns, high_ns, n (samples); made from the
    samples, with quartiles for low and high, if it is None. `spread` names what low and high are.
    """

    samples: pd.DataFrame
    medians: pd.DataFrame | None = None
    spread: str = "quartiles"

    def __post_init__(self) -> None:
        columns = ("series", "size", "n", "delay_ns", "repetition", "value_ns")
        require_columns(self.samples, columns, "network.samples")
        if self.medians is None:
            return
        columns = ("series", "size", "median_ns", "low_ns", "high_ns", "n")
        require_columns(self.medians, columns, "network.medians")
        unknown = sorted(set(self.medians["series"]) - set(QUANTITIES))
        if unknown:
            raise InputError(
                f"the table 'network.medians' has the series {', '.join(unknown)}: expected {', '.join(QUANTITIES)}"
            )


@dataclass(frozen=True)
class ProgramData:
    """A traced run.

    `measured_s`: its run time. `communication`: source, destination (ranks), messages, bytes.
    `time`: rank, category, seconds; "computation" is the program's own time, every other category is
    communication. `calls`: call, count, bytes, seconds, summed over ranks. `cores`: on how many it ran.
    """

    command: str
    ranks: int
    measured_s: float
    communication: pd.DataFrame
    time: pd.DataFrame
    calls: pd.DataFrame
    cores: int | None = None

    def __post_init__(self) -> None:
        columns = ("source", "destination", "messages", "bytes")
        require_columns(self.communication, columns, "program.communication")
        require_columns(self.time, ("rank", "category", "seconds"), "program.time")
        require_columns(self.calls, ("call", "count", "bytes", "seconds"), "program.calls")


@dataclass(frozen=True)
class ComparisonData:
    """The run time as measured and as simulated on the same ranks; `ranks`: rank, measured_s, predicted_s.

    `noise` says whether the simulation added the measured noise.
    """

    measured_s: float
    predicted_s: float
    ranks: pd.DataFrame
    noise: bool = False

    def __post_init__(self) -> None:
        require_columns(self.ranks, ("rank", "measured_s", "predicted_s"), "comparison.ranks")

    @property
    def error(self) -> float | None:
        """The prediction's deviation as a fraction of the measured time; None if nothing was measured."""
        return self.predicted_s / self.measured_s - 1 if self.measured_s > 0 else None


@dataclass(frozen=True)
class StudyData:
    """Simulations at several scales.

    `runs`: ranks, noise (bool), seed, finish_ps (the slowest rank's), messages, seconds (the simulation's own
    wall-clock time); one row a simulation. `scope`: which networks lay between the ranks, None where that is not known.
    `noise` is what slows the program in them, as the subject of a sentence: "the measured noise" if it is that.
    """

    runs: pd.DataFrame
    scope: Scope | None = None
    noise: str = "noise"

    def __post_init__(self) -> None:
        checked_study(self.runs, "the table 'study.runs'")


@dataclass(frozen=True)
class ReportData:
    """Everything a report may show.

    `foreign_load`: for a step's name, the share of the machine's processor time that others used meanwhile.
    `notes`: further sentences for the section that says what the numbers rest on.
    `environment`: host, kernel, processor, MPI and whatever else was recorded. `versions`: of what was used.
    `mixed`: sentences about parts that do not belong together, by the finding that they concern: "machine", "program",
    "scale". `provenance`: what the report is made from.
    """

    title: str = "Idlewave report"
    machine: MachineData | None = None
    noise: NoiseData | None = None
    network: NetworkData | None = None
    program: ProgramData | None = None
    comparison: ComparisonData | None = None
    study: StudyData | None = None
    foreign_load: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    mixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    provenance: Provenance | None = None

    def warning(self, topic: str) -> str:
        """The sentences of `mixed` about a topic, to follow another sentence; empty where there are none."""
        return "".join(f" {sentence}" for sentence in self.mixed.get(topic, ()))
