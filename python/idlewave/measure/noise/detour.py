"""Noise: the detour benchmark on each core, and the summary of its recordings."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...host_environment import describe, describe_recording
from ...measurement_parameters import NOISE_SECONDS
from ...parameters import checked
from ..probe_process import shown
from ..table_rows import records as rows_of
from .disturbance import disturbance, disturbance_notes
from .noise_recording import CoreRecording, NoiseRecording, recorded_ps
from .noise_run import chosen_cores, record

if TYPE_CHECKING:
    from rich.progress import Progress

DECADES = {
    "below_1us": (0, 10**6),
    "1us_10us": (10**6, 10**7),
    "10us_100us": (10**7, 10**8),
    "100us_1ms": (10**8, 10**9),
    "above_1ms": (10**9, 2**63 - 1),
}
"""Magnitudes of detours, in ps. The overhead of each is reported, because rare long ones dominate the total."""

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9}


@dataclass(frozen=True)
class NoiseMeasurement:
    """A measurement of detours.

    detours: one row a detour: core, start_ps (from the start of that core's recording), length_ps; ordered,
    not overlapping. cores: one row a core (see `summarise`). interrupts: one row a (core, name): meaning,
    count. environment: see host_environment.py.
    """

    detours: pd.DataFrame
    cores: pd.DataFrame
    interrupts: pd.DataFrame
    environment: dict[str, Any]

    @property
    def overhead(self) -> float:
        """The share of the time that detours took, over all cores. Raises KeyError if no core was recorded."""
        return float(self.cores["overhead_ps"].sum() / self.cores["duration_ps"].sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about disturbances of the recording, and why it ended early."""
        return tuple(
            note
            for row in rows_of(self.cores)
            for note in disturbance_notes(row["core"], row["duration_ps"] / 1e12, row)
        )

    @property
    def core_wait_share(self) -> float | None:
        """The share of the detours' time for which another task had the core; None if that is not known of all cores,
        or there was no detour."""
        if "core_wait_s" not in self.cores or not self.cores["overhead_ps"].sum():
            return None
        waited = self.cores["core_wait_s"].astype(float).sum(skipna=False)
        share = float(waited * 1e12 / self.cores["overhead_ps"].sum())
        return None if math.isnan(share) else min(share, 1.0)

    def trace(self) -> tuple[pd.DataFrame, int]:
        """All recordings end to end: (detours with start_ps and length_ps, period in ps).

        So ranks with random phases replay all cores. A recording always lies inside its core's share of the period;
        that of a core whose buffer was full is cut at the end of its last detour. Raises ValueError if no core was
        recorded.
        """
        parts, offset = [], 0
        for row in rows_of(self.cores):
            own = self.detours[self.detours["core"] == row["core"]]
            end = int((own["start_ps"] + own["length_ps"]).max()) if len(own) else 0
            duration = end if row["dropped"] and end else max(int(row["duration_ps"]), end)
            parts.append(pd.DataFrame({"start_ps": own["start_ps"] + offset, "length_ps": own["length_ps"]}))
            offset += duration
        return pd.concat(parts, ignore_index=True), offset


def measure_noise(
    seconds_per_core: float = NOISE_SECONDS.default,
    cores: Sequence[int] | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
    records: int = 1_000_000,
    *,
    together: bool = True,
    trace_events: bool = False,
) -> NoiseMeasurement:
    """Record the detours of each of `cores` (default: all that this process may use) for `seconds_per_core` seconds.

    All cores are recorded at once, or, unless `together`, one after the other. At most `records` detours a core are
    stored; `trace_events` also records the kernel's events, where it allows that. `progress` gets one task; `folder`
    has the probe's files (default: they are read and deleted). Raises UsageError for cores that may not be used,
    MeasurementError when the probe fails. On an interrupt the running probe writes its recording before
    KeyboardInterrupt is raised.
    """
    seconds_per_core = checked("seconds_per_core", float, NOISE_SECONDS, seconds_per_core)
    chosen = chosen_cores(cores)
    asked = {"seconds": seconds_per_core, "cores": chosen, "together": together, "trace_events": trace_events}
    with tempfile.TemporaryDirectory(prefix="idlewave-") as temporary:
        recording = record_detours(
            seconds_per_core,
            chosen,
            folder or Path(temporary),
            progress,
            records=records,
            together=together,
            trace_events=trace_events,
        )
    environment = describe_recording("noise", by="idlewave.measure.measure_noise", options=asked)
    return measurement_of(recording, environment)


def record_detours(
    seconds: float,
    cores: Sequence[int],
    folder: Path,
    progress: Progress | None = None,
    *,
    records: int = 1_000_000,
    together: bool = True,
    trace_events: bool = False,
) -> NoiseRecording:
    """Record the detours of `cores`, which this process may use, into `folder`, and read the recording.

    Raises MeasurementError when the probe fails, InputError when its files cannot be read.
    """
    arguments = ["--records", str(records), *(["--trace-events"] if trace_events else [])]
    with shown(progress, "noise") as advance:
        return record("detour", arguments, cores, seconds, folder, together=together, advance=advance)


def measurement_of(recording: NoiseRecording, environment: dict[str, Any] | None = None) -> NoiseMeasurement:
    """The measurement of a recording of detours. `environment`: as describe() gives it (default: of here and now).

    If a core's table is cut off, only the time up to its last detour counts.
    """
    columns = ["core", "start_ps", "length_ps"]
    tables = [core.table.assign(core=np.int64(core.cpu)) for core in recording.cores]
    detours = pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns, dtype=np.int64)
    said = [_up_to_last_row(core, whole) for core, whole in zip(recording.cores, recording.summaries(), strict=True)]
    return summarise(detours, said, describe() if environment is None else environment)


def _up_to_last_row(core: CoreRecording, said: dict[str, Any]) -> dict[str, Any]:
    """The probe's summary of a core; for a cut-off table that of the remaining time, with CPU times in proportion."""
    if not core.cut_off:
        return said
    left = recorded_ps(core) / 1000
    part = left / said["duration_ns"]
    times = {key: said[key] * part for key in ("cpu_busy_s", "own_cpu_s", "steal_s")}
    if said.get("core_wait_s") is not None:
        times["core_wait_s"] = said["core_wait_s"] * part
    return said | times | {"duration_ns": left, "dropped": 0, "dropped_ns": 0.0}


def summarise(
    detours: pd.DataFrame, summaries: Sequence[dict[str, Any]], environment: dict[str, Any]
) -> NoiseMeasurement:
    """Per core: resolution_ps (t_min), threshold_ps, duration_ps, detours, dropped, dropped_ps, overhead (a
    share) and overhead_ps (dropped ones included), overhead_DECADE (without dropped ones), rate_per_s, p50 …
    p999 and longest_ps, foreign_load (share of the time), steal_s, throttled (how often the core was slowed down),
    core_wait_s (for how long another task had the core, NaN where the system does not count it),
    begin_ps (on an axis common to all cores), involuntary_switches, interrupts, interrupted, counter, clock_source.

    `summaries`: the probe's summary of each core, merged with that of all cores. Raises KeyError for a missing key that
    read_recording() requires.
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
    row |= disturbance(summary)
    waited = summary.get("core_wait_s")
    row["core_wait_s"] = math.nan if waited is None else float(waited)
    row["begin_ps"] = round(summary.get("begin_ps") or 0)
    row["involuntary_switches"] = summary["involuntary_switches"]
    row["interrupts"] = sum(entry["count"] for entry in summary["interrupts"].values())
    for name in ("counter", "clock_source"):
        row[name] = summary[name]
    return row
