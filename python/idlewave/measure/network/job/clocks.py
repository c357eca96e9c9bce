"""Offset and drift of every rank's clock against rank 0's, with their uncertainty.

Each burst (probes/network/clocks.cpp, tracer/clock_burst.h) gives an offset and a bound on its error. A line, offset
over time, is fitted to the least disturbed bursts (T. Jones, G. A. Koenig, Clock synchronization in high-end computing
environments, 2013; S. Hunold, A. Carpen-Amarie, MPI benchmarking revisited, 2015, compare it with others). Its standard
errors describe the scatter. They do not include the error of a path that is slower in one direction. So the result also
has bounds: the lowest and highest offset and drift of all lines that pass within every burst's bounds (A. Duda, G.
Harrus, Y. Haddad, G. Bernard, Estimating global time in distributed systems, 1987). If the clock drifts evenly, the
truth is within them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray
from rich.progress import Progress

from ....errors import InputError, MeasurementError
from ....escaping import name_of
from ....measurement_parameters import ClocksParameters
from ....mpi import Mpi
from ....parameters import takes
from ...environment_file import read_environment
from ..files.file_schemas import ClocksSchema
from ..probing.job_run import JobProbe, keep_samples, read_columns, read_summary, recorded
from .latency_levels import listed

Array = NDArray[np.float64]

NARROW = 2.0
"""A burst is used if its bound is at most so many times that of the narrowest tenth."""
FEWEST = 3
"""The fewest bursts for a line: a line through two has no residuals, whatever their errors."""
ROUNDING = 1 / 12
"""The variance, ns², of an offset in whole nanoseconds: the least scatter."""
COLUMNS = ("rank", "offset_ns", "error_ns", "at_ns")
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ClockLine:
    """The offset of one clock over its own time: offset_ns at `at_ns`, rank 0's minus this one's, and drift.

    drift_ppm is how much faster rank 0's clock runs, in millionths. `*_se`: standard errors; `*_low`, `*_high`: bounds
    (NaN if no line passes within the bounds of all bursts: the clock did not drift evenly). rms_ns, worst_ns: residuals
    of the bursts used. bound_ns: the median bound of those, about half a round trip.
    """

    at_ns: int
    offset_ns: float
    offset_se: float
    offset_low: float
    offset_high: float
    drift_ppm: float
    drift_se: float
    drift_low: float
    drift_high: float
    rms_ns: float
    worst_ns: float
    bound_ns: float
    bursts: int
    kept: int

    def offset_at(self, at_ns: Array) -> Array:
        """The offset when this clock shows `at_ns`."""
        return self.offset_ns + self.drift_ppm * 1e-6 * (np.asarray(at_ns, dtype=np.float64) - self.at_ns)


@dataclass(frozen=True)
class ClockMeasurement:
    """A measurement of clocks. bursts: rank, burst, offset_ns, error_ns, at_ns, exchanges, shortest_ns, disturbed."""

    bursts: pd.DataFrame
    lines: dict[int, ClockLine]
    probe: dict[str, Any]
    environment: dict[str, Any] | None = None

    @property
    def table(self) -> pd.DataFrame:
        """One row a rank: rank, host, at_ns (this clock, half-way through the measurement), offset_ns at that instant,
        drift_ppm and the fields of ClockLine, half-widths of the 95 % intervals as offset_interval_ns and
        drift_interval_ppm.
        """
        rows = []
        for rank, line in self.lines.items():
            wide = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, line.kept - 2))
            rows.append(
                {
                    "rank": rank,
                    "host": str(self.probe["ranks"][rank]["host"]),
                    "at_ns": line.at_ns,
                    "offset_ns": line.offset_ns,
                    "offset_interval_ns": wide * line.offset_se,
                    "offset_low_ns": line.offset_low,
                    "offset_high_ns": line.offset_high,
                    "drift_ppm": line.drift_ppm,
                    "drift_interval_ppm": wide * line.drift_se,
                    "drift_low_ppm": line.drift_low,
                    "drift_high_ppm": line.drift_high,
                    "rms_ns": line.rms_ns,
                    "worst_ns": line.worst_ns,
                    "bound_ns": line.bound_ns,
                    "bursts": line.bursts,
                    "kept": line.kept,
                }
            )
        return pd.DataFrame(rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the reliability of the results."""
        notes = []
        uneven = [rank for rank, line in self.lines.items() if math.isnan(line.drift_low)]
        if uneven:
            notes.append(f"The clocks of rank {listed(uneven)} did not drift evenly: no line fits all their bursts.")
        host = self.probe["ranks"][0]["host"]
        near = [rank for rank in self.lines if self.probe["ranks"][rank]["host"] == host]
        if near and not self.probe.get("skewed"):
            off = max(abs(self.lines[rank].offset_ns) for rank in near)
            notes.append(
                f"Rank {listed(near)} read rank 0's own clock, whose offset is 0: what was found differs by up to "
                f"{off:.0f} ns, which is the method's own error here."
            )
        if self.probe.get("interrupted"):
            notes.append("The measurement was interrupted; this is what it had.")
        missing = set(range(1, len(self.probe["ranks"]))) - set(self.lines)
        if missing and not self.probe.get("one_a_host"):
            notes.append(f"Of rank {listed(sorted(missing))} there are fewer than {FEWEST} bursts, and so no line.")
        return tuple(notes)


@takes(ClocksParameters)
def measure_clocks(
    ranks: int,
    mpi: Mpi | None = None,
    *,
    progress: Progress | None = None,
    folder: Path | None = None,
    skew: Path | None = None,
    **given: Unpack[ClocksParameters],
) -> ClockMeasurement:
    """Measure the clocks of the ranks of a job; the longer, the better the drift is known.

    `folder` gets the recording. `skew` names a file that skews clocks (probes/network/clocks.cpp). Raises
    MeasurementError if the probe fails.
    """
    options = ["--bursts", str(given["bursts"]), "--seed", str(given["seed"])]
    options += ["--one-a-host"] if given["one_a_host"] else []
    options += ["--skew", str(skew)] if skew else []
    with recorded(JobProbe("clocks", ranks, mpi, given["seconds"]), options, folder, progress) as place:
        found = read_clocks(place)
        keep_samples(folder, "clocks", found.bursts, found.environment)
        return found


def read_clocks(folder: str | Path) -> ClockMeasurement:
    """The clocks from a recording of idlewave-clocks. Raises InputError naming the file, MeasurementError if no rank
    has enough bursts.
    """
    place = Path(folder)
    said = read_summary(place, "clocks", ClocksSchema)
    bursts = _checked(pd.DataFrame(read_columns(place, "clocks", said, "bursts")), place, len(said["ranks"]))
    lines = fit_lines(bursts)
    if not lines:
        raise MeasurementError(
            f"{name_of(place)}: no rank's clock was looked at {FEWEST} times; the time was too short"
        )
    return ClockMeasurement(bursts, lines, said, read_environment(place))


def _checked(bursts: pd.DataFrame, place: Path, ranks: int) -> pd.DataFrame:
    """The bursts, checked: they are of existing ranks, and one after the other."""
    missing = [c for c in COLUMNS if c not in bursts.columns]
    if missing:
        raise InputError(f"{name_of(place)}: the table of bursts lacks the columns {', '.join(missing)}")
    beyond = bursts.loc[(bursts["rank"] < 1) | (bursts["rank"] >= ranks), "rank"]
    if len(beyond):
        raise InputError(
            f"{name_of(place)}: expected bursts of the ranks 1 to {ranks - 1}, found one of rank {beyond.iloc[0]}"
        )
    twice = bursts.loc[bursts.duplicated(["rank", "at_ns"])]
    if len(twice):
        rank, at = twice[["rank", "at_ns"]].iloc[0]
        raise InputError(f"{name_of(place)}: expected bursts at different times, found two of rank {rank} at {at} ns")
    return bursts


def fit_lines(bursts: pd.DataFrame) -> dict[int, ClockLine]:
    """A line for each rank that has enough bursts (columns of ClockMeasurement.bursts); their `at_ns` are one instant,
    half-way through the measurement by rank 0's clock."""
    lines = {}
    half_way = _middle((bursts["at_ns"] + bursts["offset_ns"]).to_numpy()) if len(bursts) else 0
    for rank, of_rank in bursts.groupby("rank"):
        if len(of_rank) >= FEWEST:
            at, offset, error = (of_rank[c].to_numpy() for c in ("at_ns", "offset_ns", "error_ns"))
            nearest = int(np.abs(at + offset - half_way).argmin())
            lines[int(str(rank))] = fit_line(at, offset, error, half_way - int(offset[nearest]))
    return lines


def _middle(times: NDArray[np.int64]) -> int:
    return int(times.min()) + (int(times.max()) - int(times.min())) // 2


def fit_line(
    at_ns: NDArray[np.int64],
    offset_ns: NDArray[np.int64],
    error_ns: NDArray[np.int64],
    middle_ns: int | None = None,
) -> ClockLine:
    """The line through at least three bursts: the time of each (this clock), its offset and the bound on its error.

    Its offset is that at `middle_ns` (this clock; None: half-way through these bursts).
    """
    middle = _middle(at_ns) if middle_ns is None else middle_ns
    level = int(np.median(offset_ns))
    seconds = (at_ns - middle) / 1e9
    offset = (offset_ns - level).astype(np.float64)
    error = np.maximum(error_ns.astype(np.float64), 1.0)
    kept = _least_disturbed(error)
    x, y = seconds[kept], offset[kept]
    slope, height = np.polyfit(x, y, 1)
    residual = y - (height + slope * x)
    variance = max(float(residual @ residual) / (len(x) - 2), ROUNDING)
    spread = float(((x - x.mean()) ** 2).sum())
    bounds = _bounds(seconds, offset, error)
    return ClockLine(
        at_ns=middle,
        offset_ns=level + float(height),
        offset_se=math.sqrt(variance * (1 / len(x) + x.mean() ** 2 / spread)),
        offset_low=level + bounds[0],
        offset_high=level + bounds[1],
        drift_ppm=float(slope) / 1000,
        drift_se=math.sqrt(variance / spread) / 1000,
        drift_low=bounds[2] / 1000,
        drift_high=bounds[3] / 1000,
        rms_ns=math.sqrt(float(residual @ residual) / len(x)),
        worst_ns=float(np.abs(residual).max()),
        bound_ns=float(np.median(error[kept])),
        bursts=len(offset_ns),
        kept=len(x),
    )


def _least_disturbed(error: Array) -> NDArray[np.bool_]:
    """Which bursts have narrow bounds; at least half of them, because one lucky burst must not decide alone, and at
    least FEWEST, because two points have no scatter."""
    third = float(np.sort(error)[FEWEST - 1])
    limit = max(NARROW * float(np.quantile(error, 0.1)), float(np.median(error)), third)
    return np.asarray(error <= limit, dtype=np.bool_)


def _bounds(seconds: Array, offset: Array, error: Array) -> tuple[float, float, float, float]:
    """Lowest and highest offset (ns, at 0 s) and drift (ns/s) of the lines within all bounds; NaN if there is none."""
    ones = np.ones_like(seconds)
    above = np.stack([ones, seconds], axis=1)
    # A nanosecond is lost in each reading of a clock.
    limits = np.concatenate([offset + error + 1, error + 1 - offset])
    found = []
    for goal in ([1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]):
        done = scipy.optimize.linprog(
            goal, A_ub=np.concatenate([above, -above]), b_ub=limits, bounds=(None, None), method="highs"
        )
        found.append(float(done.fun) * (1 if sum(goal) > 0 else -1) if done.status == 0 else math.nan)
    return found[0], found[1], found[2], found[3]
