"""Noise: the detour benchmark on each core, one after the other, and what its recordings say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import Progress, TaskID

from ...environment import describe
from ...errors import MeasurementError, UsageError
from ...mpi import package_data

DECADES = {
    "below_1us": (0, 10**6),
    "1us_10us": (10**6, 10**7),
    "10us_100us": (10**7, 10**8),
    "100us_1ms": (10**8, 10**9),
    "above_1ms": (10**9, 2**63 - 1),
}
"""Magnitudes of detours, in ps; the overhead of each is reported, for rare long ones dominate the total."""

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9}
FOREIGN = 0.02
"""A core was under foreign load when others used it for more than this part of the recording."""


@dataclass(frozen=True)
class NoiseMeasurement:
    """What was recorded.

    detours: one row a detour: core, start_ps (from the start of that core's recording), length_ps; ordered,
    not overlapping. cores: one row a core (see `summarise`). interrupts: one row a (core, name): meaning,
    count. environment: see environment.py.
    """

    detours: pd.DataFrame
    cores: pd.DataFrame
    interrupts: pd.DataFrame
    environment: dict[str, Any]

    @property
    def overhead(self) -> float:
        """The part of the time that detours took, over all cores."""
        return float(self.cores["overhead_ps"].sum() / self.cores["duration_ps"].sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what disturbed or cut short the recording."""
        notes = []
        for row in _records(self.cores):
            core = f"Core {row['core']}"
            if row["dropped"]:
                notes.append(
                    f"{core}: the buffer was full; {row['dropped']} later detours were counted but not kept, "
                    "and the core's trace ends at the last that was."
                )
            if row["foreign_load"] > FOREIGN:
                share = f"{row['foreign_load']:.1%}"
                notes.append(f"{core}: other processes used {share} of it during the recording.")
            if row["steal_s"] > 0:
                notes.append(f"{core}: the hypervisor took {row['steal_s']:.2f} s during the recording.")
            if row["interrupted"]:
                notes.append(f"{core}: interrupted after {row['duration_ps'] / 1e12:.2f} s.")
        return tuple(notes)

    def trace(self) -> tuple[pd.DataFrame, int]:
        """All recordings laid end to end: (detours with start_ps and length_ps, period in ps).

        So ranks with random phases replay all cores. A recording lies inside its core's share of the period
        by its making; that of a core whose buffer was full is cut at the end of its last detour.
        """
        parts, offset = [], 0
        for row in _records(self.cores):
            own = self.detours[self.detours["core"] == row["core"]]
            duration = int(row["duration_ps"])
            if row["dropped"]:
                duration = int((own["start_ps"] + own["length_ps"]).max())
            parts.append(pd.DataFrame({"start_ps": own["start_ps"] + offset, "length_ps": own["length_ps"]}))
            offset += duration
        return pd.concat(parts, ignore_index=True), offset


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in table.to_dict(orient="records")]


def measure_noise(
    seconds_per_core: float = 3.0,
    cores: Sequence[int] | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
    records: int = 1_000_000,
) -> NoiseMeasurement:
    """Record the detours of each of `cores` (default: all that this process may use) for so many seconds.

    At most `records` detours a core are kept. `progress` gets one task; `folder` keeps the raw recordings
    (default: they are read and deleted). Raises UsageError for cores that may not be used, MeasurementError
    when the probe fails. On an interrupt the running probe writes what it has before KeyboardInterrupt goes
    on.
    """
    allowed = sorted(os.sched_getaffinity(0))
    chosen = allowed if cores is None else list(cores)
    refused = sorted(set(chosen) - set(allowed))
    if refused or not chosen:
        raise UsageError(f"cores {refused} may not be used by this process; expected some of {allowed}")
    task = progress.add_task("noise", total=len(chosen) * seconds_per_core) if progress else None
    with tempfile.TemporaryDirectory(prefix="idlewave-") as temporary:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        summaries, tables = [], []
        for core in chosen:
            file = place / f"detours-{core}.csv"
            summaries.append(_record(core, seconds_per_core, records, file, progress, task))
            tables.append(read_recording(file, core))
    return summarise(pd.concat(tables, ignore_index=True), summaries, describe())


def _record(
    core: int, seconds: float, records: int, file: Path, progress: Progress | None, task: TaskID | None
) -> dict[str, Any]:
    probe = package_data() / "bin" / "idlewave-detour"
    command = [str(probe), "--cpu", str(core), "--seconds", str(seconds), "--records", str(records)]
    try:
        running = subprocess.Popen(
            [*command, "--output", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise MeasurementError(f"the detour probe {probe} cannot be run: {error}") from error
    try:
        begin = last = time.monotonic()
        while running.poll() is None and time.monotonic() < begin + seconds:
            time.sleep(min(0.25, seconds))
            if progress and task is not None:
                progress.advance(task, time.monotonic() - last)
                last = time.monotonic()
        output, complaint = running.communicate(timeout=60 + seconds)
    except KeyboardInterrupt:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        raise
    except subprocess.TimeoutExpired as error:
        running.kill()
        raise MeasurementError(f"the detour probe on core {core} did not end in time") from error
    if running.returncode != 0:
        raise MeasurementError(f"the detour probe on core {core} failed: {complaint.strip()}")
    summary: dict[str, Any] = json.loads(output)
    return summary


def read_recording(file: Path, core: int) -> pd.DataFrame:
    """The detours in a probe's file, as integer picoseconds: core, start_ps, length_ps."""
    table = pd.read_csv(file, dtype=np.float64)
    picoseconds = (table * 1000).round().astype(np.int64)
    return pd.DataFrame(
        {
            "core": np.full(len(table), core, dtype=np.int64),
            "start_ps": picoseconds["start_ns"],
            "length_ps": picoseconds["length_ns"],
        }
    )


def summarise(
    detours: pd.DataFrame, summaries: Sequence[dict[str, Any]], environment: dict[str, Any]
) -> NoiseMeasurement:
    """Per core: resolution_ps (t_min), threshold_ps, duration_ps, detours, dropped, dropped_ps, overhead (a
    part of 1) and overhead_ps (dropped ones included), overhead_DECADE (of the kept ones), rate_per_s, p50 …
    p999 and longest_ps, foreign_load (part of the time), steal_s, involuntary_switches, interrupts,
    interrupted, counter, clock_source.
    """
    rows, interrupts = [], []
    for summary in summaries:
        lengths = detours.loc[detours["core"] == summary["cpu"], "length_ps"].to_numpy()
        rows.append(_core_row(lengths, summary))
        for name, entry in summary["interrupts"].items():
            interrupts.append((summary["cpu"], name, entry["meaning"], entry["count"]))
    return NoiseMeasurement(
        detours,
        pd.DataFrame(rows),
        pd.DataFrame(interrupts, columns=["core", "name", "meaning", "count"]),
        environment,
    )


def _core_row(lengths: np.ndarray[Any, np.dtype[np.int64]], summary: dict[str, Any]) -> dict[str, Any]:
    duration = round(summary["duration_ns"] * 1000)
    taken = int(lengths.sum()) + round(summary["dropped_ns"] * 1000)
    seconds = duration / 1e12
    row: dict[str, Any] = {
        "core": summary["cpu"],
        "resolution_ps": round(summary["resolution_ns"] * 1000),
        "threshold_ps": round(summary["threshold_ns"] * 1000),
        "duration_ps": duration,
        "detours": len(lengths),
        "dropped": summary["dropped"],
        "dropped_ps": round(summary["dropped_ns"] * 1000),
        "overhead": taken / duration,
        "overhead_ps": taken,
        "rate_per_s": (len(lengths) + summary["dropped"]) / seconds,
    }
    for name, (low, high) in DECADES.items():
        row[f"overhead_{name}"] = float(lengths[(lengths >= low) & (lengths < high)].sum() / duration)
    for name, percent in PERCENTILES.items():
        row[f"{name}_ps"] = float(np.percentile(lengths, percent)) if len(lengths) else 0.0
    row["longest_ps"] = int(lengths.max()) if len(lengths) else 0
    row["foreign_load"] = max(summary["cpu_busy_s"] - summary["own_cpu_s"], 0.0) / seconds
    row["steal_s"] = summary["steal_s"]
    row["involuntary_switches"] = summary["involuntary_switches"]
    row["interrupts"] = sum(entry["count"] for entry in summary["interrupts"].values())
    for name in ("interrupted", "counter", "clock_source"):
        row[name] = summary[name]
    return row
