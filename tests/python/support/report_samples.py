"""The parts of a report, made up: a measurement of two cores, a trace of four ranks, a study of 4 scales × 16 seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from idlewave import Machine, Provenance, Timeline, Trace
from idlewave.measure import FittedParameters, LogGP, Measurement, NetworkMeasurement, NoiseMeasurement, Range
from idlewave.measure.network import Network
from idlewave.measure.network.fitting.quantities import CURVES, QUANTITIES, predictions_ps
from idlewave.pattern_options import Gaps
from idlewave.report import Report
from idlewave.trace import ImportedSchema

US, MS, S = 10**6, 10**9, 10**12
ENVIRONMENT = {
    "host": "node-17",
    "processor": "2 × Xeon at 2.5 GHz",
    "kernel": "Linux 6.1.0",
    "mpi": {"vendor": "Open MPI", "version": "5.0.11"},
    "clock_source": "tsc",
}
SMALL = FittedParameters(95_000.0, 72_000.0, 186_000.0, 130_000.0, 80.0, 24.0)
LARGE = FittedParameters(95_000.0, 72_000.0, 186_000.0, 900_000.0, 110.0, 24.0)
INTERVALS = {
    "L": (88_000.0, 103_000.0),
    "o_s": (70_000.0, 75_000.0),
    "o_r": (185_000.0, 187_000.0),
    "g": (128_000.0, 132_000.0),
    "G": (78.0, 83.0),
    "O": (23.0, 25.0),
}


def noise(cores: int = 2, seconds: float = 4.0, seed: int = 1) -> NoiseMeasurement:
    """Timer ticks at 250 Hz, short random detours, rare long ones."""
    random = np.random.default_rng(seed)
    tables = []
    for core in range(cores):
        ticks = np.arange(random.integers(0, 4 * MS), int(seconds * S), 4 * MS)
        short = random.integers(0, int(seconds * S), 900 + 300 * core)
        long = random.integers(0, int(seconds * S), 14 + 6 * core)
        lengths = np.concatenate(
            [
                random.lognormal(np.log(4.2 * US), 0.25, len(ticks)),
                random.lognormal(np.log(0.35 * US), 0.5, len(short)),
                random.lognormal(np.log(0.6 * MS), 0.9, len(long)),
            ]
        )
        start = np.concatenate([ticks, short, long])
        own = pd.DataFrame({"core": core, "start_ps": start.astype("int64"), "length_ps": lengths.astype("int64")})
        tables.append(own.sort_values("start_ps", ignore_index=True))
    return noise_of(pd.concat(tables, ignore_index=True), cores, seconds)


def noise_of(detours: pd.DataFrame, cores: int, seconds: float) -> NoiseMeasurement:
    """The measurement of so many cores in which these detours were recorded."""
    rows = []
    for core in range(cores):
        lengths = detours.loc[detours["core"] == core, "length_ps"]
        known = len(lengths) > 0
        rows.append(
            {
                "core": core,
                "duration_ps": int(seconds * S),
                "resolution_ps": 7600 + 300 * core,
                "overhead": lengths.sum() / S / seconds,
                "overhead_ps": int(lengths.sum()),
                "rate_per_s": len(lengths) / seconds,
                "p50_ps": lengths.median() if known else 0.0,
                "p99_ps": lengths.quantile(0.99) if known else 0.0,
                "longest_ps": lengths.max() if known else 0,
                "foreign_load": 0.004,
                "steal_s": 0.0,
                "dropped": 0,
                "interrupted": False,
            }
        )
    return NoiseMeasurement(detours, pd.DataFrame(rows), pd.DataFrame(), ENVIRONMENT)


def no_noise() -> NoiseMeasurement:
    """A core that was never interrupted."""
    detours = pd.DataFrame({name: pd.Series(dtype="int64") for name in ("core", "start_ps", "length_ps")})
    return noise_of(detours, 1, 4.0)


def fit(repetitions: int = 12, seed: int = 2) -> LogGP:
    """A fit like that of a shared-memory transport, with a protocol change at 4 KiB; medians that scatter around it."""
    random = np.random.default_rng(seed)
    network = Network(((1, SMALL), (4097, LARGE)), 4096)
    sizes = sorted({max(1, 2**power + more) for power in range(19) for more in (-1, 0, 1)})
    rows = []
    for series in QUANTITIES:
        predicted = predictions_ps(network, series, sizes)
        largest_eager = predictions_ps(network, series, [4096])[0]
        for size, median in zip(sizes, np.where(np.isnan(predicted), largest_eager, predicted), strict=True):
            scattered = median * random.normal(1.03, 0.02)
            rows.append((size, CURVES[series], scattered, 0.97 * scattered, 1.05 * scattered, repetitions))
    ranges = tuple(
        Range(first, first > 4096, parameters, INTERVALS, (), 0.0, 0.0, {}) for first, parameters in network.ranges
    )
    medians = pd.DataFrame(rows, columns=["size", "curve", "median_ps", "low_ps", "high_ps", "n"])
    predictions = pd.DataFrame({"size": sizes, "series": "train", "n": 32})
    return LogGP(ranges, network.S, medians, predictions, repetitions, repetitions, ())


def network(found: LogGP | None = None) -> NetworkMeasurement:
    """The network of that fit, with one sample a median."""
    found = fit() if found is None else found
    samples = found.medians[["size"]].assign(series="rtt", value_ns=1.0)
    note = "Clock offsets between ranks were 0.21 µs or less at the end of the run."
    found = LogGP(**{**found.__dict__, "notes": (note,)})
    return NetworkMeasurement(samples, found, {"same_node": None}, ENVIRONMENT)


def measurement(cores: NoiseMeasurement | None = None, found: LogGP | None = None) -> Measurement:
    """A machine as measured, in no folder."""
    return Measurement("two cores", noise() if cores is None else cores, network(found))


def machine() -> Machine:
    """The machine of `measurement`."""
    return measurement().machine()


class MadeTrace(Trace):
    """A trace of nothing but its tables."""

    one_sided_calls = timed_one_sided_calls = 0
    file_calls = 0
    imported: ImportedSchema | None = None

    def __init__(self, tables: dict[str, pd.DataFrame], ranks: int, measured_s: float, command: str) -> None:
        self.tables = tables
        self.directory = Path("trace")
        self._made = (ranks, measured_s, command)

    @property
    def ranks(self) -> int:
        return self._made[0]

    @property
    def measured_s(self) -> float:
        return self._made[1]

    @property
    def command(self) -> str:
        return self._made[2]

    @property
    def provenance(self) -> Provenance:
        return Provenance("trace")

    def communication(self) -> pd.DataFrame:
        return self.tables["communication"]

    def time(self) -> pd.DataFrame:
        return self.tables["time"]

    def computation_sites(self, gaps: Gaps = "own", *, by_rank: bool = False) -> pd.DataFrame:  # noqa: ARG002
        return self.tables["computation_sites"]

    def totals(self) -> pd.DataFrame:
        return self.tables["totals"]

    def core_shares(self) -> pd.DataFrame:
        own = pd.DataFrame(
            {"rank": range(self.ranks), "shared": False, "core_wait_s": 0.0, "core_wait_in_calls_s": 0.0}
        )
        return self.tables.get("core_shares", own)

    def hosts(self) -> pd.DataFrame:
        own = pd.DataFrame(
            {"host": ["vm"], "ranks": self.ranks, "usable_cores": pd.NA, "host_cores": pd.NA, "foreign_cores": np.nan}
        )
        return self.tables.get("hosts", own.astype({"usable_cores": "Int64", "host_cores": "Int64"}))

    @property
    def share_without_core(self) -> float | None:
        cores = self.core_shares()
        waited = (cores["core_wait_s"] + cores["core_wait_in_calls_s"]).dropna()
        return float(waited.mean()) / max(self.measured_s, 1e-9) if len(waited) else None

    def run_times(self) -> pd.DataFrame:
        return pd.DataFrame({"rank": range(self.ranks), "seconds": float(self.measured_s)})


def trace(
    ranks: int = 4,
    measured_s: float = 1.52,
    command: str = "mpiexec -n 4 ./halo2d --nx 512 --steps 3000",
    **tables: pd.DataFrame,
) -> MadeTrace:
    """A halo exchange on a ring of `ranks`, with a residual allreduce; `tables` replace those of that name."""
    random = np.random.default_rng(3)
    pairs = [
        (
            rank,
            (rank + step) % ranks,
            12_000 + 400 * (rank % 3),
            (12_000 + 400 * (rank % 3)) * 4096 * (1 + rank % 2),
        )
        for rank in range(ranks)
        for step in sorted({1, ranks - 1})
    ]
    time = []
    for rank in range(ranks):
        parts = np.array([0.71, 0.06, 0.09, 0.14]) * random.normal(1, 0.12, 4)
        for category, part in zip(
            ("computation", "point-to-point", "collective", "waiting for requests"), parts / parts.sum(), strict=True
        ):
            time.append((rank, category, measured_s * part))
    calls = [
        ("MPI_Isend", 48_000, 2.4e8, 0.21),
        ("MPI_Irecv", 48_000, 2.4e8, 0.06),
        ("MPI_Waitall", 12_000, 0, 0.82),
        ("MPI_Allreduce", 12_000, 96_000, 0.58),
        ("MPI_Barrier", 8, 0, 0.002),
    ]
    made = {
        "communication": pd.DataFrame(pairs, columns=["source", "destination", "messages", "bytes"]),
        "time": pd.DataFrame(time, columns=["rank", "category", "seconds"]),
        "totals": pd.DataFrame(calls, columns=["call", "count", "bytes", "seconds"]),
        "computation_sites": computation_sites(
            ("MPI_Waitall", 0, "MPI_Isend", 12_000, 280_000.0),
            ("MPI_Allreduce", 8, "MPI_Waitall", 12_000, 70_000.0),
            ("MPI_Isend", 4096, "MPI_Irecv", 48_000, 60.0),
        ),
    }
    return MadeTrace(made | tables, ranks, measured_s, command)


def computation_sites(*sites: tuple[str, int, str, int, float]) -> pd.DataFrame:
    """Sites with their call, its bytes, the call before, how often it is made, and the median computation, ns."""
    rows = pd.DataFrame(sites, columns=["call", "most_bytes", "after", "count", "median_ns"])
    factors = {
        "min_ns": 0.9,
        "q05_ns": 0.95,
        "q25_ns": 0.98,
        "mean_ns": 1.03,
        "q75_ns": 1.05,
        "q95_ns": 1.3,
        "max_ns": 9,
    }
    for column, factor in factors.items():
        rows[column] = rows["median_ns"] * factor
    rows["total_s"] = rows["count"] * rows["mean_ns"] / 1e9
    rows["share"] = rows["total_s"] / rows["total_s"].sum()
    rows["site"] = [f"{number:010x}" for number in range(len(rows))]
    rows["position"], rows["cycle_length"] = 1, 1
    return rows.assign(least_bytes=rows["most_bytes"], level=pd.array([pd.NA] * len(rows), dtype="Int64"))


def quiet_trace(measured_s: float = 1.52) -> MadeTrace:
    """A program that never communicates."""
    made = trace()
    return trace(
        measured_s=measured_s,
        communication=made.communication().iloc[:0],
        time=pd.DataFrame({"rank": range(4), "category": "computation", "seconds": 1.0}),
        totals=made.totals().iloc[:0],
    )


def prediction(measured_s: float = 1.52, error: float = -0.031, ranks: int = 4) -> Timeline:
    """A simulation of that run which is off by `error`, each rank a little differently."""
    scatter = np.random.default_rng(4).normal(1, 0.004, ranks)
    finish = (measured_s * (1 + error) * scatter * S).astype(np.int64)
    return Timeline(round(measured_s * (1 + error) * S), memoryview(finish), 0, 0.1)


def by_rank(measured_s: float = 1.52, error: float = -0.031, ranks: int = 4) -> pd.DataFrame:
    """rank, measured_s, predicted_s of that prediction."""
    predicted = prediction(measured_s, error, ranks).finish / S
    return pd.DataFrame({"rank": range(ranks), "measured_s": measured_s, "predicted_s": predicted})


def study(
    slowdowns: dict[int, tuple[float, float]] | None = None, seeds: int = 16, baseline_s: float = 1.47
) -> pd.DataFrame:
    """For each number of ranks a run without noise and `seeds` with it: slowdown's mean and deviation."""
    random = np.random.default_rng(5)
    wanted = slowdowns or {
        4: (0.003, 0.0006),
        64: (0.011, 0.0014),
        1024: (0.027, 0.0021),
        16384: (0.052, 0.0024),
    }
    rows = []
    for place, (ranks, (mean, deviation)) in enumerate(wanted.items()):
        baseline = baseline_s * (1 + 0.012 * place)
        rows.append((ranks, False, 0, int(baseline * S), ranks * 31_000, ranks * 2e-5))
        for seed in range(seeds):
            finish = baseline * (1 + random.normal(mean, deviation))
            rows.append((ranks, True, seed, int(finish * S), ranks * 31_000, ranks * 2.6e-5))
    return pd.DataFrame(rows, columns=["ranks", "noise", "seed", "finish_ps", "messages", "seconds"])


def sample() -> Report:
    """Everything."""
    return Report("A halo exchange on two cores", measurement(), trace(), prediction(), study())
