"""The schemas of the probes' JSON, checked when it is read, so that no used value is missing or impossible."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from ...errors import InputError
from ...escaping import found, name_of
from ...input.validation import checked, load_json
from ...input.value_types import (
    Amount,
    Cpu,
    Nanoseconds,
    Number,
    Open,
    PositiveNanoseconds,
    Seconds,
    Whole,
)

PROBES = ("detour", "ftq", "fwq")
COLUMNS = {"detour": ("start_ps", "length_ps"), "ftq": ("work",), "fwq": ("start_ps", "duration_ps")}
"""The columns that each probe's table must have."""

_MOST_COLUMNS = 64
_LONGEST_PS = 9.2e18  # of all cores together, because they are laid end to end


class Interrupt(Open):
    """The count of an interrupt, and its meaning."""

    count: Amount
    meaning: str


class Events(Open):
    """The file of the kernel's events, if there is one."""

    file: str | None = None


class Core(Open):
    """The probes' summary of a core."""

    cpu: Cpu
    file: str
    columns: Annotated[list[str], Meta(min_length=1, max_length=_MOST_COLUMNS, description="a list of 1 to 64 texts")]
    duration_ns: Nanoseconds
    dropped: Whole
    cpu_busy_s: Seconds
    own_cpu_s: Seconds
    steal_s: Seconds
    core_wait_s: Seconds | None = None
    rows: Whole | None = None
    begin_ps: Number | None = None
    interrupts: dict[str, Interrupt] | None = None
    throttled: dict[str, Amount | None] | None = None
    events: str | Events | None = None

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns: expected different names, found {found(self.columns)}")


class DetourCore(Core, kw_only=True):
    """The detour benchmark's summary of a core."""

    duration_ns: PositiveNanoseconds
    resolution_ns: Nanoseconds
    threshold_ns: Nanoseconds
    dropped_ns: Nanoseconds
    involuntary_switches: Whole
    interrupts: dict[str, Interrupt]


Cores = Annotated[list[Core], Meta(min_length=1, description="a list of at least one core")]


class RecordingSchema(Open):
    """The probes' summary of all cores."""

    cores: Cores
    interrupted: bool
    host: str | None = None
    rank: Whole | None = None
    ranks: Whole | None = None
    counter: str | None = None
    clock_source: str | None = None

    def __post_init__(self) -> None:
        cpus = [core.cpu for core in self.cores]
        twice = next((i for i, cpu in enumerate(cpus) if cpu in cpus[:i]), None)
        if twice is not None:
            raise ValueError(f"cores[{twice}].cpu: expected different cores, found {cpus[twice]} again")
        total = sum(core.duration_ns for core in self.cores) * 1000
        if total > _LONGEST_PS:
            raise ValueError(f"cores: expected recordings of at most 106 days in all, found {total:.3g} ps")


class DetourSchema(RecordingSchema, kw_only=True):
    """The detour benchmark's summary of all cores."""

    cores: Annotated[list[DetourCore], Meta(min_length=1, description="a list of at least one core")]  # type: ignore[assignment]
    counter: str
    clock_source: str


class FtqSchema(RecordingSchema, kw_only=True):
    """FTQ's summary of all cores."""

    quantum_ns: PositiveNanoseconds


_OF: dict[str, type[RecordingSchema]] = {"detour": DetourSchema, "ftq": FtqSchema, "fwq": RecordingSchema}


def read_summary(file: Path, probe: str) -> dict[str, Any]:
    """The JSON of `probe`, checked. Raises InputError that names the file, the key, what was expected and what was
    found."""
    said: dict[str, Any] = load_json(file, f"a recording of {probe}")
    name = name_of(file)
    for number, core in enumerate(checked(said, _OF[probe], name).cores):
        missing = [column for column in COLUMNS[probe] if column not in core.columns]
        if missing:
            where = f"{name}: cores[{number}].columns"
            raise InputError(f"{where}: expected {', '.join(missing)} among them, found {found(core.columns)}")
    return said
