"""The tables of a report, as rows of text."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from idlewave.report.data import MachineData, NetworkSegment, NoiseData, ProgramData, StudyData
from idlewave.report.findings import bandwidth_text
from idlewave.report.scale import scales
from idlewave.wording import (
    count_text,
    fixed_seconds_texts,
    percent_range,
    percent_text,
    seconds_text,
    si_text,
    size_text,
    time_text,
    volume_text,
)

MOST_ROWS = 24


@dataclass(frozen=True)
class Table:
    """A caption, headings and rows. The first `text_columns` columns are text, the others numbers."""

    caption: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    text_columns: int = 1


_MEANING = {
    "L": "latency: first byte out to first byte in",
    "o_s": "processor time to send a message",
    "o_r": "processor time to receive a message",
    "g": "least time between two messages",
    "G": "further time per byte on the wire",
    "O": "further processor time per byte",
}


def _value(name: str, picoseconds: float) -> str:
    return f"{time_text(picoseconds)}/B" if name in ("G", "O") else time_text(picoseconds)


def parameters_table(machine: MachineData) -> Table:
    """The LogGOPS parameters with their units, and intervals where there are any."""
    rows: list[tuple[str, ...]] = []
    for name, meaning in _MEANING.items():
        value = float(getattr(machine, name))
        if name == "G" and value > 0:
            meaning = f"{meaning} ({bandwidth_text(value)})"
        ends = machine.intervals.get(name)
        interval = "–" if ends is None else f"{_value(name, ends[0])} to {_value(name, ends[1])}"
        rows.append((name, meaning, _value(name, value), interval))
    limit = "always eager" if machine.S is None else size_text(machine.S)
    rows.append(("S", "largest eager message", limit, "–"))
    headings: tuple[str, ...] = ("", "parameter", "value", f"{percent_text(machine.confidence)} interval")
    if not machine.intervals:
        headings, rows = headings[:3], [row[:3] for row in rows]
    caption = f"LogGOPS parameters of {machine.name}, measured between two ranks"
    caption += f" {machine.place}" if machine.place else ""
    if machine.segments:
        caption += f", for messages below {size_text(min(s.from_bytes for s in machine.segments))}"
    return Table(caption, headings, rows, text_columns=2)


def segments_table(machine: MachineData) -> Table | None:
    """What changes from which message size on; None if nothing does."""
    if not machine.segments:
        return None
    names = [item.name for item in fields(NetworkSegment) if item.name != "from_bytes"]
    used = [name for name in names if any(getattr(segment, name) is not None for segment in machine.segments)]
    rows = [
        (f"from {size_text(segment.from_bytes)}", *(_segment_cell(segment, name) for name in used))
        for segment in sorted(machine.segments, key=lambda item: item.from_bytes)
    ]
    return Table(f"LogGOPS parameters of {machine.name} for larger messages", ("message size", *used), rows)


def _segment_cell(segment: NetworkSegment, name: str) -> str:
    value = getattr(segment, name)
    return "as before" if value is None else _value(name, float(value))


def noise_table(noise: NoiseData) -> Table:
    """One row a core; of many cores those with the highest overhead."""
    cores = noise.cores
    caption = "Noise by core: the overhead is the share of its time that detours took; the last three are their lengths"
    if len(cores) > MOST_ROWS:
        caption += f"; the {MOST_ROWS} of {len(cores)} with the highest overhead"
        cores = cores.nlargest(MOST_ROWS, "overhead")
    rows: list[tuple[str, ...]] = [
        (
            str(row["core"]),
            seconds_text(row["duration_s"]),
            _nanoseconds(row["resolution_ns"]),
            percent_text(row["overhead"]),
            f"{row['rate_hz']:,.0f}",
            _nanoseconds(row["median_ns"]),
            _nanoseconds(row["p99_ns"]),
            _nanoseconds(row["longest_ns"]),
        )
        for row in _records(cores.sort_values("core"))
    ]
    headings = (
        "core",
        "recorded",
        "resolution",
        "overhead",
        "detours per s",
        "median",
        "99th percentile",
        "longest",
    )
    return Table(caption, headings, rows)


def _nanoseconds(value: float) -> str:
    return "–" if math.isnan(value) else time_text(value * 1000)  # not a number: there was no detour


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def calls_table(program: ProgramData) -> Table:
    """MPI calls, the costliest first."""
    calls = program.calls.groupby("call", as_index=False)[["count", "bytes", "seconds"]].sum()
    calls = calls.sort_values(["seconds", "count"], ascending=False)
    total = float(calls["seconds"].sum())
    caption = "MPI calls of the program, all ranks together: how many, the data they sent, and the time in them"
    if len(calls) > MOST_ROWS:
        caption += f"; the costliest {MOST_ROWS} of {len(calls)}"
    rows: list[tuple[str, ...]] = [
        (
            str(row["call"]),
            count_text(row["count"]),
            volume_text(row["bytes"]),
            seconds_text(row["seconds"]),
            percent_text(row["seconds"] / total) if total > 0 else "–",
        )
        for row in _records(calls.head(MOST_ROWS))
    ]
    return Table(caption, ("call", "calls", "data", "time", "share of MPI time"), rows)


def study_table(study: StudyData) -> Table:
    """One row a scale: run time without noise, slowdown with its range, and what the simulation took."""
    rows: list[tuple[str, ...]] = []
    points = scales(study)
    known = [scale.baseline_s for scale in points if scale.baseline_s is not None]
    texts = iter(fixed_seconds_texts(known))
    for scale in points:
        spread = percent_range(min(scale.slowdowns), max(scale.slowdowns)) if scale.slowdowns else "–"
        rows.append(
            (
                count_text(scale.ranks),
                "–" if scale.baseline_s is None else next(texts),
                percent_text(scale.median) if scale.slowdowns else "–",
                spread,
                count_text(len(scale.noisy_s)),
                si_text(scale.messages),
                seconds_text(scale.seconds),
            )
        )
    headings = (
        "ranks",
        "without noise",
        "slowdown",
        "range",
        "seeds",
        "messages",
        "simulation",
    )
    return Table(
        "Simulated runs: run time without noise; slowdown by noise, median and range over seeds; messages in a run; "
        "time to simulate all of them",
        headings,
        rows,
        text_columns=0,
    )
