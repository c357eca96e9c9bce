"""The tables of a report, as rows of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from idlewave.formatting import (
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
from idlewave.report.findings import bandwidth_text
from idlewave.report.study_scales import scales

if TYPE_CHECKING:
    from idlewave.machine import Machine

MOST_ROWS = 24
CONFIDENCE = 0.95
"""The level of the parameters' intervals."""


@dataclass(frozen=True)
class Table:
    """A caption, headings and rows. The first `text_columns` columns are text, the others numbers. `sentences`: texts
    are so long that they take several lines."""

    caption: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    text_columns: int = 1
    sentences: bool = False


_MEANING = {
    "L": "latency: first byte out to first byte in",
    "o_s": "processor time to send a message",
    "o_r": "processor time to receive a message",
    "g": "least time between two messages",
    "G": "further time per byte on the wire",
    "O_s": "further processor time per byte to send",
    "O_r": "further processor time per byte to receive",
    "c": "time from the end of a send's processor time until it ends",
    "o_p": "processor time to post a receive",
}


_ADDED = ("c", "o_p")
"""Parameters that only some machines have."""


def _names(machine: Machine) -> list[str]:
    """The parameters that the tables of `machine` have."""
    level = machine.network
    sets = (level.parameters, *(segment.parameters for segment in level.segments))
    return [name for name in _MEANING if name not in _ADDED or any(getattr(p, name) for p in sets)]


def _value(name: str, picoseconds: float) -> str:
    return f"{time_text(picoseconds)}/B" if name in ("G", "O_s", "O_r") else time_text(picoseconds)


def parameters_table(machine: Machine, intervals: Mapping[str, tuple[float, float]], place: str = "") -> Table:
    """The LogGOPS parameters of the smallest messages with their units.

    `intervals`: for the name of a parameter the ends of its interval, in ps. `place` says between which ranks the
    network was measured, if that is known.
    """
    level = machine.network
    rows: list[tuple[str, ...]] = []
    for name in _names(machine):
        meaning = _MEANING[name]
        value = float(getattr(level.parameters, name))
        if name == "G" and value > 0:
            meaning = f"{meaning} ({bandwidth_text(value)})"
        ends = intervals.get(name)
        interval = "–" if ends is None else f"{_value(name, ends[0])} to {_value(name, ends[1])}"
        rows.append((name, meaning, _value(name, value), interval))
    limit = "any size" if level.eager_limit is None else size_text(level.eager_limit)
    rows.append(("S", "largest eager message", limit, "–"))
    headings = ("", "parameter", "value", f"{percent_text(CONFIDENCE)} interval")
    caption = f"LogGOPS parameters of {machine.name}, measured between two ranks"
    caption += f" {place}" if place else ""
    if level.segments:
        caption += f", for messages below {size_text(level.segments[0].start)}"
    return Table(caption, headings, rows, text_columns=2)


def segments_table(machine: Machine) -> Table | None:
    """The parameters of larger messages, one row a segment; None if there is no segment."""
    names = _names(machine)
    rows = [
        (
            f"from {size_text(segment.start)}",
            *(_value(name, float(getattr(segment.parameters, name))) for name in names),
        )
        for segment in machine.network.segments
    ]
    if not rows:
        return None
    return Table(f"LogGOPS parameters of {machine.name} for larger messages", ("message size", *names), rows)


def noise_table(cores: pd.DataFrame) -> Table:
    """One row a core, from the table `cores` of a NoiseMeasurement; of many cores those with the highest overhead."""
    caption = "Noise by core: the overhead is the share of its time that detours took; the last three are their lengths"
    if len(cores) > MOST_ROWS:
        caption += f"; the {MOST_ROWS} of {len(cores)} with the highest overhead"
        cores = cores.nlargest(MOST_ROWS, "overhead")
    rows: list[tuple[str, ...]] = [
        (
            str(row["core"]),
            time_text(row["duration_ps"]),
            time_text(row["resolution_ps"]),
            percent_text(row["overhead"]),
            f"{row['rate_per_s']:,.0f}",
            _length(row, "p50_ps"),
            _length(row, "p99_ps"),
            _length(row, "longest_ps"),
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


def _length(core: Mapping[str, Any], name: str) -> str:
    """A length of the detours of a core; a dash where there was no detour."""
    return "–" if core["rate_per_s"] == 0 else time_text(core[name])


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def calls_table(totals: pd.DataFrame) -> Table:
    """MPI calls, the costliest first, from the table of `Trace.totals`."""
    calls = totals.groupby("call", as_index=False)[["count", "bytes", "seconds"]].sum()
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


def study_table(study: pd.DataFrame) -> Table:
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
