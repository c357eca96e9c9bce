"""The results of a recording of noise: as tables, as one JSON object, as a plot, as Parquet beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import InputError, UsageError
from ..formatting import plain_percent, plain_time
from ..host_environment import metadata_of_samples
from ..measure import NoiseMeasurement, describe
from ..measure.environment_file import read_environment
from ..measure.noise.attribution import attribute
from ..measure.noise.compare import maximum_table
from ..measure.noise.detour import measurement_of
from ..measure.noise.disturbance import disturbance, disturbance_notes
from ..measure.noise.foreign_load import foreign_load
from ..measure.noise.ftq import Ftq, analyse_ftq, ftq_table
from ..measure.noise.fwq import analyse_fwq, fwq_table
from ..measure.noise.known_periods import name_peaks, tick_rate, timer_rate
from ..measure.noise.noise_recording import Detours, NoiseRecording, detours_of
from ..measure.noise.peak_support import possible_peaks, supported_peaks
from ..measure.noise.spectrum import FALSE_ALARM, Peak, Spectrum, detour_spectrum, named_peaks
from ..measure.table_rows import records
from ..output import write_json, write_table
from .figure_files import save_figure
from .noise_tables import show_causes, show_counted, show_measurement_tables, show_peaks
from .terminal import say_note, show_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("scatter", "lengths", "cdf", "spectrum", "heat", "maximum", "cores", "series", "quantiles")
"""Plots: the first seven of detours; spectrum, series of ftq; quantiles of fwq."""

_OF = {"detour": KINDS[:7], "ftq": ("series", "spectrum"), "fwq": ("quantiles",)}
_SHORT_PS = 100_000_000  # detours below 100 µs are also analysed alone: rare long ones hide their periods


@dataclass(frozen=True)
class NoiseReport:
    """A recording, and the environment in which it was made (the current one, or the one written beside it)."""

    recording: NoiseRecording
    environment: dict[str, Any]

    @cached_property
    def measurement(self) -> NoiseMeasurement:
        """The summary of a recording of detours."""
        return measurement_of(self.recording, self.environment)

    @cached_property
    def detours(self) -> list[Detours]:
        """The detours of each core."""
        return detours_of(self.recording)

    @cached_property
    def ftq(self) -> Ftq:
        """The loss of each quantum."""
        return analyse_ftq(self.recording)

    @cached_property
    def spectrum(self) -> Spectrum | None:
        """The power spectrum; None of a recording that is too short."""
        try:
            return self.ftq.spectrum() if self.recording.probe == "ftq" else detour_spectrum(self.detours)
        except ValueError:
            return None

    @cached_property
    def peaks(self) -> list[Peak]:
        """Periodic sources, named."""
        return self._named(self.spectrum)

    @cached_property
    def short_peaks(self) -> list[Peak]:
        """The peaks of detours below 100 µs that are not among the peaks of all."""
        if self.spectrum is None or self.recording.probe != "detour":
            return []
        found = self._named(detour_spectrum(self.detours, shorter_than_ps=_SHORT_PS))
        known = np.array([peak.frequency for peak in self.peaks])
        return [p for p in found if not np.any(np.abs(known - p.frequency) < 0.002 * p.frequency)]

    def _named(self, spectrum: Spectrum | None) -> list[Peak]:
        if spectrum is None:
            return []
        said = self.recording.summaries()[0]
        counts = said.get("interrupts") or {}
        timer = timer_rate(
            {name: (float(e["count"]), str(e.get("meaning", ""))) for name, e in counts.items()},
            float(said.get("duration_ns") or 0) * 1e-9,
        )
        peaks = named_peaks(spectrum)
        if self.recording.probe == "detour":
            peaks = supported_peaks(peaks, self.detours)
        else:
            foreign = max(map(foreign_load, self.recording.summaries()))
            peaks = possible_peaks(peaks, self.ftq.overhead, foreign)
        return name_peaks(peaks, self.environment, self._tick_hz(), timer)

    def _tick_hz(self) -> int | None:
        """The tick of the kernel's configuration, if the recording is of this machine, and the tick is known."""
        here = describe()
        said = self.environment
        same = said.get("host") == here["host"] and said.get("kernel") in (None, here["kernel"])
        return tick_rate() if same else None

    def show(self) -> None:
        """Print tables and notes."""
        {"detour": self._show_detours, "ftq": self._show_ftq, "fwq": self._show_fwq}[self.recording.probe]()
        for note in self.recording.notes:
            say_note(note)

    def _show_detours(self) -> None:
        show_measurement_tables(self.measurement)
        show_peaks(self.peaks, "Periodic sources", FALSE_ALARM)
        if self.short_peaks:
            show_peaks(self.short_peaks, "Periodic sources among detours below 100us", FALSE_ALARM)
        causes = attribute(self.recording)
        if len(causes):
            show_causes(causes)
        rows = {core.cpu: len(core.table) for core in self.recording.cores}
        show_counted(self.recording.summaries(), rows)

    def _show_ftq(self) -> None:
        table = ftq_table(self.ftq)
        shown = table[["core", "quanta"]].copy()
        shown["work of a full one"] = table["full"].map("{:.0f}".format)
        for name, label in (("overhead", "overhead"), ("p99", "99 % lose less"), ("worst", "worst")):
            shown[label] = table[name].map(plain_percent)
        shown["lost wholly"] = table["lost_wholly"]
        show_table(shown, f"Noise: work in quanta of {plain_time(self.ftq.quantum_s * 1e12)}")
        show_peaks(self.peaks, "Periodic sources", FALSE_ALARM)
        for note in (*self._disturbed(), *self.ftq.notes):
            say_note(note)

    def _show_fwq(self) -> None:
        table = fwq_table(analyse_fwq(self.recording))
        shown = table[["core", "quanta"]].copy()
        shown["shortest"] = table["shortest_ps"].map(lambda x: plain_time(x, 4))
        shown["overhead"] = table["overhead"].map(plain_percent)
        for name, label in (("p50", "50 %"), ("p90", "90 %"), ("p99", "99 %"), ("p999", "99.9 %"), ("max", "worst")):
            shown[label] = table[name].map("{:.4g}".format)
        show_table(shown, "Noise: time of the same work, over the shortest")
        for note in self._disturbed():
            say_note(note)

    def _disturbed(self) -> list[str]:
        """Sentences about disturbances of cores whose work was recorded; those of detours are in their measurement."""
        return [
            note
            for said in self.recording.summaries()
            for note in disturbance_notes(
                said["cpu"], said["duration_ns"] * 1e-9, disturbance(said), self.recording.probe
            )
        ]

    def _cores(self, table: pd.DataFrame) -> list[dict[str, Any]]:
        """The rows of a table with a row a core, and the disturbances of each."""
        disturbed = pd.DataFrame([{"core": said["cpu"]} | disturbance(said) for said in self.recording.summaries()])
        return records(table.merge(disturbed, on="core"))

    def to_json(self) -> str:
        """One JSON object; times in ps, shares as parts of 1."""
        said: dict[str, Any] = {
            "probe": self.recording.probe,
            "node": self.recording.node,
            "environment": self.environment,
            "notes": list(self.recording.notes),
        }
        if self.recording.probe == "detour":
            said["overhead"] = self.measurement.overhead
            said["cores"] = records(self.measurement.cores)
            said["notes"] += list(self.measurement.notes)
            said["causes"] = records(attribute(self.recording))
            said["interrupts"] = records(self.measurement.interrupts)
            said["maximum"] = records(maximum_table(self.detours))
        elif self.recording.probe == "ftq":
            said["overhead"] = self.ftq.overhead
            said["cores"] = self._cores(ftq_table(self.ftq))
            said["quantum_ps"] = self.ftq.quantum_s * 1e12
            said["notes"] += [*self._disturbed(), *self.ftq.notes]
        else:
            said["cores"] = self._cores(fwq_table(analyse_fwq(self.recording)))
            said["notes"] += self._disturbed()
        if self.recording.probe != "fwq":
            said["peaks"] = [asdict(peak) for peak in [*self.peaks, *self.short_peaks]]
            said["false_alarm"] = FALSE_ALARM
        return json.dumps(said, allow_nan=False)

    def plot(self, file: Path, kind: str | None = None) -> None:
        """Draw one of KINDS into `file`. Raises UsageError for a kind that the recording does not have, or a wrong
        ending."""
        save_figure(self._figure(chosen_kind(self.recording.probe, kind)), file)

    def _figure(self, kind: str) -> Figure:
        from ..measure.noise import detour_plots, noise_plots
        from ..measure.noise.nodes import rank_cores

        cores = pd.DataFrame()
        if self.recording.probe == "detour":
            found = self.measurement.cores
            cores = found[["core", "overhead"]].assign(duration_s=found["duration_ps"] / 1e12)
        figures: dict[str, Callable[[], Figure]] = {
            "scatter": lambda: detour_plots.plot_detours(self.measurement.detours, cores),
            "lengths": lambda: detour_plots.plot_detour_lengths(self.measurement.detours, cores, self._magnitudes()),
            "cdf": lambda: noise_plots.plot_length_cdf(
                {f"core {c.core}": c.lengths for c in self.detours[: noise_plots.MOST_CORES]}
            ),
            "spectrum": lambda: noise_plots.plot_spectrum(self._spectrum(), self.peaks),
            "heat": lambda: noise_plots.plot_heat_map(self.detours),
            "maximum": lambda: noise_plots.plot_maximum({self.recording.node: maximum_table(self.detours)}),
            "cores": lambda: noise_plots.plot_nodes(rank_cores(self.detours), "core"),
            "series": lambda: noise_plots.plot_ftq(self.ftq),
            "quantiles": lambda: noise_plots.plot_fwq(analyse_fwq(self.recording)),
        }
        return figures[kind]()

    def _spectrum(self) -> Spectrum:
        if self.spectrum is None:
            raise InputError(f"{self.recording.folder}: the recording is too short for a spectrum")
        return self.spectrum

    def _magnitudes(self) -> pd.DataFrame:
        labels = ("<1 µs", "1–10 µs", "10–100 µs", "0.1–1 ms", ">1 ms")
        names = [n for n in self.measurement.cores.columns if n.startswith("overhead_") and n != "overhead_ps"]
        rows = [
            (core, label, getattr(row, name))
            for row, core in zip(self.measurement.cores.itertuples(), self.measurement.cores["core"], strict=True)
            for name, label in zip(names, labels, strict=True)
        ]
        return pd.DataFrame(rows, columns=["core", "decade", "overhead"])


def chosen_kind(probe: str, kind: str | None) -> str:
    """`kind`, or the first kind that a recording of `probe` has. Raises UsageError if it does not have `kind`."""
    kinds = _OF[probe]
    if kind is not None and kind not in kinds:
        raise UsageError(f"--kind: expected one of {', '.join(kinds)} for {probe}, found {kind}")
    return kind or kinds[0]


def samples_table(recording: NoiseRecording) -> pd.DataFrame:
    """All cores' rows, the core's number first."""
    tables = []
    for core in recording.cores:
        table = core.table.copy()
        table.insert(0, "core", np.int64(core.cpu))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def write_samples(recording: NoiseRecording, environment: Mapping[str, Any], file: Path | None = None) -> None:
    """All cores' rows as Parquet in `file`, whose folder is made, or beside the probe's files."""
    name = "detours" if recording.probe == "detour" else recording.probe
    target = file or recording.folder / f"{name}.parquet"
    write_table(target, samples_table(recording), metadata_of_samples("noise", environment))


def write_environment(folder: Path, environment: dict[str, Any]) -> None:
    """The environment as JSON in `folder`, which is made."""
    write_json(folder / "environment.json", environment)


def environment_of(recording: NoiseRecording) -> dict[str, Any]:
    """The environment that was written beside a recording; without one, that from the probe's summary."""
    said = read_environment(recording.folder)
    if said is None:
        return {"host": recording.said.get("host"), "clock_source": recording.said.get("clock_source")}
    return said
