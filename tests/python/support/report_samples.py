"""What a report is made of: `sample()` is a whole, realistic input of 2 cores, 4 ranks, 4 scales × 16 seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from idlewave.report import (
    ComparisonData,
    MachineData,
    NetworkData,
    NetworkSegment,
    NoiseData,
    ProgramData,
    ReportData,
    StudyData,
)
from idlewave.report.network import predicted_ns, quantities

US, MS, S = 10**6, 10**9, 10**12


def noise(cores: int = 2, seconds: float = 4.0, seed: int = 1) -> NoiseData:
    """Timer ticks at 250 Hz, short random detours, rare long ones."""
    random = np.random.default_rng(seed)
    tables, rows = [], []
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
        own = own.sort_values("start_ps", ignore_index=True)
        tables.append(own)
        nanoseconds = own["length_ps"] / 1000
        rows.append(
            {
                "core": core,
                "duration_s": seconds,
                "resolution_ns": 7.6 + 0.3 * core,
                "overhead": own["length_ps"].sum() / S / seconds,
                "rate_hz": len(own) / seconds,
                "median_ns": nanoseconds.median(),
                "p99_ns": nanoseconds.quantile(0.99),
                "longest_ns": nanoseconds.max(),
            }
        )
    return NoiseData(pd.concat(tables, ignore_index=True), pd.DataFrame(rows))


def no_noise() -> NoiseData:
    """A core that was never interrupted."""
    detours = pd.DataFrame({name: pd.Series(dtype="int64") for name in ("core", "start_ps", "length_ps")})
    cores = pd.DataFrame(
        [(0, 4.0, 7.5, 0.0, 0.0, np.nan, np.nan, np.nan)],
        columns=[
            "core", "duration_s", "resolution_ns", "overhead", "rate_hz", "median_ns", "p99_ns", "longest_ns",
        ],
    )  # fmt: skip
    return NoiseData(detours, cores)


def bare_machine() -> MachineData:
    """Parameters like those of a shared-memory transport, with a protocol change at 4 KiB."""
    return MachineData(
        name="two cores",
        L=95_000,
        o_s=72_000,
        o_r=186_000,
        g=130_000,
        G=80.0,
        O=24.0,
        S=4096,
        segments=(NetworkSegment(from_bytes=4097, g=900_000.0, G=110.0),),
        intervals={"L": (88_000, 103_000), "o_s": (70_000, 75_000), "G": (78.0, 83.0)},
    )


def network(repetitions: int = 12, seed: int = 2) -> NetworkData:
    """Samples drawn around the model of `bare_machine`, with scatter that has a long tail."""
    random = np.random.default_rng(seed)
    machine, rows = bare_machine(), []
    sizes = sorted({max(1, 2**power + more) for power in range(0, 19, 1) for more in (-1, 0, 1)})
    values = {name: predicted_ns(machine, name, sizes) for name in ("half_rtt", "gap", "o_s", "o_r")}
    for place, size in enumerate(sizes):
        single, gap, o_s, o_r = (values[name][place] for name in ("half_rtt", "gap", "o_s", "o_r"))
        shift = random.normal(1, 0.03)
        for repetition in range(repetitions):
            scatter = shift * (1 + random.gamma(0.6, 0.05, 4) + (random.random(4) < 0.03) * 2)
            delay = 2 * single
            rows += [
                ("prtt1", size, 1, 0.0, repetition, 2 * single * scatter[0]),
                ("prttn", size, 32, 0.0, repetition, 2 * single + 31 * gap * scatter[1]),
                ("prttd", size, 32, delay, repetition, 2 * single + 31 * (o_s * scatter[2] + delay)),
                ("o_r", size, 1, delay, repetition, o_r * scatter[3]),
            ]
    return NetworkData(pd.DataFrame(rows, columns=["series", "size", "n", "delay_ns", "repetition", "value_ns"]))


def machine() -> MachineData:
    """`bare_machine` with the residuals of `network`."""
    bare, table = bare_machine(), quantities(network())
    predicted = [float(predicted_ns(bare, row.series, [row.size])[0]) for row in table.itertuples(index=False)]
    residuals = table[["size", "series"]].assign(measured_ns=table["median_ns"], predicted_ns=predicted)
    return MachineData(**{**bare.__dict__, "residuals": residuals})


def program(ranks: int = 4, measured_s: float = 1.52) -> ProgramData:
    """A halo exchange on a ring of `ranks`, with a residual allreduce."""
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
            ("computation", "point-to-point", "collective", "waiting"), parts / parts.sum(), strict=True
        ):
            time.append((rank, category, measured_s * part))
    calls = [
        ("MPI_Isend", 48_000, 2.4e8, 0.21),
        ("MPI_Irecv", 48_000, 2.4e8, 0.06),
        ("MPI_Waitall", 12_000, 0, 0.82),
        ("MPI_Allreduce", 12_000, 96_000, 0.58),
        ("MPI_Barrier", 8, 0, 0.002),
    ]
    return ProgramData(
        command="mpiexec -n 4 ./halo2d --nx 512 --steps 3000",
        ranks=ranks,
        measured_s=measured_s,
        communication=pd.DataFrame(pairs, columns=["source", "destination", "messages", "bytes"]),
        time=pd.DataFrame(time, columns=["rank", "category", "seconds"]),
        calls=pd.DataFrame(calls, columns=["call", "count", "bytes", "seconds"]),
        cores=2,
    )


def comparison(measured_s: float = 1.52, error: float = -0.031, ranks: int = 4) -> ComparisonData:
    """A prediction that is off by `error`, each rank a little differently."""
    scatter = np.random.default_rng(4).normal(1, 0.004, ranks)
    table = pd.DataFrame(
        {
            "rank": range(ranks),
            "measured_s": np.full(ranks, measured_s),
            "predicted_s": measured_s * (1 + error) * scatter,
        }
    )
    return ComparisonData(measured_s, measured_s * (1 + error), table)


def study(
    slowdowns: dict[int, tuple[float, float]] | None = None, seeds: int = 16, baseline_s: float = 1.47
) -> StudyData:
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
    return StudyData(pd.DataFrame(rows, columns=["ranks", "noise", "seed", "finish_ps", "messages", "seconds"]))


def sample() -> ReportData:
    """Everything."""
    return ReportData(
        title="A halo exchange on two cores",
        machine=machine(),
        noise=noise(),
        network=network(),
        program=program(),
        comparison=comparison(),
        study=study(),
        foreign_load={"noise": 0.004, "network": 0.011, "trace": 0.006},
        notes=("Clock offsets between ranks were 0.21 µs or less at the end of the run.",),
        environment={
            "host": "node-17",
            "processor": "2 × Xeon at 2.5 GHz",
            "kernel": "Linux 6.1.0",
            "MPI": "Open MPI 5.0.11",
            "clock source": "tsc",
        },
        versions={"Idlewave": "0.1.0", "Python": "3.11.7"},
    )


def quiet_program(**changes: object) -> ProgramData:
    """A program that never communicates."""
    return replace(
        program(),
        communication=program().communication.iloc[:0],
        time=pd.DataFrame({"rank": range(4), "category": "computation", "seconds": 1.0}),
        calls=program().calls.iloc[:0],
        **changes,
    )
