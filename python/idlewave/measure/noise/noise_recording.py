"""Folders that the noise probes write: one node's, or a job's with a subfolder HOST-RANK a node.

PROBE.json names, for each core, a raw file of little-endian int64, row-major; its columns are in the JSON.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...errors import InputError
from ...escaping import cut, name_of, printable
from ...input.bounds import MOST_TABLE
from ...input.files import Origin, read_bytes
from .foreign_load import foreign_load
from .recording_schemas import COLUMNS, PROBES, read_summary

EVENT_COLUMNS = ("begin_ns", "end_ns", "kind", "name", "net_ns")
_ITEM = np.dtype("<i8").itemsize
_ROUNDING_PS = 1000  # the duration is written in ns
_LAST_NS = 9.2e15  # of an event, either way: as ps it fits into 64 bits
_EMPTY = pd.DataFrame({name: [] for name in EVENT_COLUMNS})

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CoreRecording:
    """One core: its table (int64 columns), the probe's summary of it, and the events traced beside it, if any.

    `events`: begin_ns, end_ns on the axis of the table's start_ps, kind, name, and net_ns, its length without what
    interrupted it (NaN if the kernel did not give that); None if none were asked for.
    `cut_off`: the table has fewer rows than the probe recorded.
    """

    cpu: int
    table: pd.DataFrame
    said: dict[str, Any]
    events: pd.DataFrame | None = None
    cut_off: bool = False


@dataclass(frozen=True)
class NoiseRecording:
    """The recording of one run of one probe. `said` is its JSON; `notes` are sentences about files that are cut off.

    `apart`: what distinguishes it from others of the same node, if there are some.
    """

    probe: str
    folder: Path
    said: dict[str, Any]
    cores: tuple[CoreRecording, ...]
    notes: tuple[str, ...] = ()
    apart: str = ""

    @property
    def node(self) -> str:
        """The host, the rank if several processes recorded, and `apart`."""
        host = str(self.said.get("host", "?"))
        node = f"{host}-{self.said.get('rank', 0)}" if int(self.said.get("ranks") or 1) > 1 else host
        return f"{node} ({self.apart})" if self.apart else node

    def summaries(self) -> list[dict[str, Any]]:
        """The probe's summary of each core, merged with that of all cores."""
        shared = {key: value for key, value in self.said.items() if key != "cores"}
        return [shared | core.said for core in self.cores]

    @property
    def losses(self) -> tuple[str, ...]:
        """Sentences about cores whose buffer was full."""
        full = [core for core in self.cores if core.said.get("dropped")]
        return tuple(f"{self.node}: {dropped_note(core.cpu, core.said['dropped'], self.probe)}" for core in full)


@dataclass(frozen=True)
class Detours:
    """One core's detours: starts and lengths (int64, ps), ascending and separate, in [0, duration).

    `foreign_load`: the share of the time in which others used the core, if the system counted it.
    """

    node: str
    core: int
    starts: Times
    lengths: Times
    duration: int
    foreign_load: float | None = None

    @property
    def overhead(self) -> float:
        """The share of the time that they take."""
        return float(self.lengths.sum() / self.duration)


def read_recording(folder: str | Path, probe: str | None = None) -> NoiseRecording:
    """Read the recording of `probe` in `folder`, or the only one there.

    A cut-off table is read as far as it is complete, and noted. Raises InputError, which names the file and what was
    expected, if there is no recording, the JSON is not one, a file is missing, or it has no complete row.
    """
    place = Path(folder)
    found = _probes_in(place)
    if probe is not None and probe not in found:
        raise InputError(
            f"{name_of(place)}: expected a recording of the probe {probe}, {probe}.json; found {_listed(found)}"
        )
    if not found:
        raise InputError(
            f"{name_of(place)}: expected a recording, one of {_listed([f'{name}.json' for name in PROBES])}"
        )
    if probe is None and len(found) > 1:
        raise InputError(f"{name_of(place)}: expected one probe's recording, found {_listed(found)}; say which")
    name = probe or found[0]
    file = place / f"{name}.json"
    said = read_summary(file, name)
    notes: list[str] = []
    origin = Origin(name_of(file), place)
    cores = tuple(_core(origin, name, number, entry, notes) for number, entry in enumerate(said["cores"]))
    return NoiseRecording(name, place, said, cores, tuple(notes))


def read_nodes(folder: str | Path, probe: str | None = None) -> tuple[list[NoiseRecording], list[str]]:
    """The recordings of a job: that in `folder` itself, and those in its subfolders, by name.

    If several are of one node, its name has the subfolder behind it in each.
    A subfolder that cannot be read is left out, and named in the second list. Raises InputError if none can be read.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{name_of(place)}: expected a folder with recordings")
    own = [place] if _probes_in(place) else []
    recordings, problems = [], []
    for part in own + sorted(p for p in place.iterdir() if p.is_dir()):
        try:
            if not own or _probes_in(part):
                recordings.append(read_recording(part, probe))
        except InputError as error:
            problems.append(str(error))
    if not recordings:
        raise InputError("; ".join(problems) or f"{name_of(place)}: expected a recording, or subfolders with one each")
    times = Counter(part.node for part in recordings)
    named = [
        replace(part, apart=str(part.folder.relative_to(place))) if times[part.node] > 1 else part
        for part in recordings
    ]
    return named, problems


def detours_of(recording: NoiseRecording) -> list[Detours]:
    """The detours of each core. If its buffer was full or its table is cut off, only the time up to its last detour
    counts.

    Raises InputError if the recording is of another probe.
    """
    if recording.probe != "detour":
        raise InputError(
            f"{name_of(recording.folder)}: expected a recording of detours, found one of {recording.probe}"
        )
    cores = []
    for core, summary in zip(recording.cores, recording.summaries(), strict=True):
        starts, lengths = (core.table[name].to_numpy(dtype=np.int64) for name in COLUMNS["detour"])
        cores.append(Detours(recording.node, core.cpu, starts, lengths, recorded_ps(core), foreign_load(summary)))
    return cores


def dropped_note(core: int, dropped: int, probe: str = "detour") -> str:
    """The sentence about a core whose buffer was full."""
    if probe == "ftq":
        return f"Core {core}: the buffer was full; the recording ends with it, {dropped} quanta early."
    if probe == "fwq":
        return f"Core {core}: the buffer was full; {dropped} later pieces of work were counted but not kept."
    return (
        f"Core {core}: the buffer was full; {dropped} later detours were counted but not kept, "
        "and the core's trace ends at the last that was."
    )


def recorded_ps(core: CoreRecording) -> int:
    """The length of a core's recording, in ps: up to the last row of its table, if later rows are missing."""
    duration: int = round(core.said["duration_ns"] * 1000)
    if core.table.empty:
        return duration
    last = core.table.iloc[-1]
    end = max(int(last["start_ps"]) + int(last["length_ps"]), 1)
    return end if core.said["dropped"] or core.cut_off else max(duration, end)


def _probes_in(place: Path) -> list[str]:
    """The probes that have a recording there. Raises InputError if the folder cannot be read."""
    try:
        return [name for name in PROBES if (place / f"{name}.json").is_file()]
    except OSError as error:
        raise InputError(f"{name_of(place)}: cannot be read: {error.strerror}") from error


def _core(origin: Origin, probe: str, number: int, entry: dict[str, Any], notes: list[str]) -> CoreRecording:
    key = f"cores[{number}]"
    file, rows = origin.file(entry["file"], f"{key}.file"), entry.get("rows")
    before = len(notes)
    table = read_table(file, entry["columns"], rows, notes)
    cut_off = len(notes) > before and (rows is None or len(table) < rows)
    if cut_off and table.empty:
        raise InputError(f"{name_of(file)}: expected {rows or 'some'} rows, found none that is whole")
    if probe == "detour":
        _check_detours(file, table, round(entry["duration_ns"] * 1000))
    for name in () if probe == "detour" else COLUMNS[probe]:
        if (table[name] < 0).any():
            row = int((table[name] < 0).to_numpy().argmax())
            raise InputError(f"{name_of(file)}: row {row}: {name}: expected a number that is not negative")
    return CoreRecording(entry["cpu"], table, entry, _events(origin, f"{key}.events", entry, notes), cut_off)


def _check_detours(file: Path, table: pd.DataFrame, duration: int) -> None:
    starts, lengths = (table[name].to_numpy() for name in COLUMNS["detour"])
    wrong = np.flatnonzero((starts < 0) | (lengths < 0))
    if len(wrong):
        raise InputError(f"{name_of(file)}: row {wrong[0]}: expected times that are not negative")
    last = min(duration + _ROUNDING_PS, 2**63 - 1)
    beyond = np.flatnonzero(lengths > last - starts)
    if len(beyond):
        raise InputError(f"{name_of(file)}: row {beyond[0]}: expected it to end within the recording, {duration} ps")
    crossing = np.flatnonzero(starts[1:] < starts[:-1] + lengths[:-1])
    if len(crossing):
        raise InputError(
            f"{name_of(file)}: row {crossing[0] + 1}: expected it to begin after the detour before it has ended"
        )


def read_table(file: Path, columns: list[str], rows: int | None, notes: list[str]) -> pd.DataFrame:
    """A file of columns. If it is cut off, a note is added. Raises InputError if it cannot be read."""
    data = read_bytes(file, "a table of 64-bit numbers", most=MOST_TABLE)
    width = len(columns) * _ITEM
    whole = len(data) // width
    if len(data) % width:
        notes.append(
            f"{name_of(file)} is cut off: {whole} rows of {width} bytes are whole, {len(data) % width} bytes are left."
        )
    elif rows is not None and whole != rows:
        notes.append(f"{name_of(file)} has {whole} rows where {rows} were announced.")
    values = np.frombuffer(data, "<i8", whole * len(columns)).reshape(-1, len(columns)).astype(np.int64)
    return pd.DataFrame(values, columns=columns)


def _events(origin: Origin, key: str, entry: dict[str, Any], notes: list[str]) -> pd.DataFrame | None:
    named = entry.get("events")
    if isinstance(named, dict):
        named, key = named.get("file"), f"{key}.file"
    if not isinstance(named, str) or not named.endswith(".csv"):
        return None
    path = origin.file(named, key)
    file = name_of(path)
    data = BytesIO(read_bytes(path, "a file of events", most=MOST_TABLE))
    try:
        table = pd.read_csv(data, dtype=str, keep_default_na=False, on_bad_lines="skip", encoding_errors="replace")
    except pd.errors.EmptyDataError:
        return _EMPTY
    except ValueError as error:
        raise InputError(f"{file}: cannot be read as a file of events: {cut(str(error))}") from error
    if tuple(table.columns) == EVENT_COLUMNS[:-1]:  # from a probe that did not record net lengths
        table["net_ns"] = ""
    if tuple(table.columns) != EVENT_COLUMNS:
        raise InputError(
            f"{file}:1: expected the header {','.join(EVENT_COLUMNS)}, found {cut(','.join(map(str, table.columns)))}"
        )
    times = table[["begin_ns", "end_ns"]].apply(pd.to_numeric, errors="coerce")
    net = pd.to_numeric(table["net_ns"], errors="coerce")
    whole = (times.abs() <= _LAST_NS).all(axis=1) & (times["end_ns"] >= times["begin_ns"])
    whole &= (table["net_ns"] == "") | (net >= 0)
    if not whole.all():
        notes.append(f"{file}: {int((~whole).sum())} lines are no events {','.join(EVENT_COLUMNS)} and are left out.")
    words = table[["kind", "name"]].map(lambda text: printable(text, keep=""))
    events: pd.DataFrame = pd.concat([times, words, net], axis=1)[whole]
    return events.reset_index(drop=True)


def _listed(words: list[str]) -> str:
    return ", ".join(words) or "none"
