"""Recordings of performance over time with known truth: changes, drifts, and counters that drive what is measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

TESTS = ("latency", "bandwidth", "allreduce")
BASE = {"latency": 2e-6, "bandwidth": 8e9, "allreduce": 30e-6}
SIZES = {"latency": 8, "bandwidth": 1 << 20, "allreduce": 8}
START = 1_700_000_000_000_000_000
COUNTER = "counter.net.stalls"


def phases(rounds: int, *, phase_s: float = 1.0, idle: float = 1.0, first: int = 0, run: int = 0) -> pd.DataFrame:
    """The phases of `rounds` rounds, idle ones included, of which nothing is measured yet."""
    tests = [name for test in TESTS for name in (test, "idle")] * rounds
    lengths = np.where(np.array(tests) == "idle", idle * phase_s, phase_s) * 1e9
    starts = START + first * round((1 + idle) * phase_s * 5e8) + np.concatenate(([0], np.cumsum(lengths)[:-1]))
    table = pd.DataFrame(
        {
            "run": np.int32(run),
            "phase": np.arange(first, first + len(tests)),
            "start_ns": starts.astype("int64"),
            "length_ns": lengths.astype("int64"),
            "test": tests,
        }
    )
    idle_rows = table["test"] == "idle"
    all_ranks = idle_rows | (table["test"] == "allreduce")
    table["rank"] = np.where(all_ranks, -1, 0).astype("int32")
    table["peer"] = np.where(all_ranks, -1, 1).astype("int32")
    table["size"] = table["test"].map({**SIZES, "idle": 0}).astype("int64")
    table["samples"] = np.where(idle_rows, 0, 1000).astype("int32")
    return table


def ar1(count: int, correlation: float, random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Normal numbers of variance 1 whose successors are correlated."""
    drawn = random.normal(size=count)
    values = np.empty(count)
    values[0] = drawn[0]
    for place in range(1, count):
        values[place] = correlation * values[place - 1] + np.sqrt(1 - correlation**2) * drawn[place]
    return values


def recording_table(
    rounds: int,
    *,
    seed: int = 1,
    scatter: float = 0.02,
    steps: Mapping[str, Sequence[tuple[int, float]]] | None = None,
    drift_per_h: float = 0.0,
    driven: Sequence[tuple[str, int, float]] = (),
    counters: int = 1,
    phase_s: float = 1.0,
) -> pd.DataFrame:
    """A recording with planted truth.

    `steps`: by test, from which round on its figure is how many times that of the beginning. `driven`: a test, a lag
    and a strength: the logarithm of its figure grows by strength times the first counter's deviation, `lag` phases
    before.
    """
    random = np.random.default_rng(seed)
    table = phases(rounds, phase_s=phase_s)
    deviations = random.normal(size=(counters, len(table)))
    seconds = table["length_ns"].to_numpy() / 1e9
    for number in range(counters):
        name = COUNTER if number == 0 else f"{COUNTER}_{number}"
        table[name] = np.round(1e6 * np.exp(0.3 * deviations[number]) * seconds)
    logs = scatter * random.normal(size=len(table))
    logs += np.log1p(drift_per_h) * (table["start_ns"] - START).to_numpy() / 3.6e12
    figures = table["test"].map(BASE).to_numpy()
    for test, lag, strength in driven:
        own = np.flatnonzero(table["test"] == test)
        own = own[own >= lag]
        logs[own] += strength * deviations[0][own - lag]
    for test, of_test in (steps or {}).items():
        own = np.flatnonzero(table["test"] == test)
        factor = np.ones(rounds)
        for begin, times in of_test:
            factor[begin:] = times
        logs[own] += np.log(factor)
    return with_figures(table, figures * np.exp(logs))


def with_figures(table: pd.DataFrame, figures: npt.NDArray[np.float64]) -> pd.DataFrame:
    """The table with these figures of active phases, and the times that belong to them."""
    idle = (table["test"] == "idle").to_numpy()
    value = np.where(idle, np.nan, figures)
    times = np.where((table["test"] == "bandwidth").to_numpy(), table["size"].to_numpy() / value, value)
    spread = {"least_s": 0.95, "median_s": 1.0, "mean_s": 1.0, "most_s": 1.4, "sd_s": 0.05}
    made = table.assign(**{name: factor * times for name, factor in spread.items()}, value=value)
    counters = [name for name in made.columns if name.startswith("counter.")]
    return made[[*(name for name in made.columns if name not in counters), *counters]]


def write_recording(folder: Path, table: pd.DataFrame, *, tail: int = 3, **said: object) -> Path:
    """Write a recording as `idlewave measure overtime` does, its last `tail` rows as lines."""
    parts = folder / "overtime.parquet"
    parts.mkdir(parents=True)
    whole = table.iloc[: len(table) - tail]
    for number, begin in enumerate(range(0, len(whole), 4096), start=1):
        whole.iloc[begin : begin + 4096].to_parquet(parts / f"part-{number:06}.parquet", index=False)
    lines = [
        json.dumps({k: None if v != v else v for k, v in row.items()}) for row in table.tail(tail).to_dict("records")
    ]
    (folder / "tail.jsonl").write_text("".join(f"{line}\n" for line in lines))
    about: dict[str, Any] = {"schema": 1, "started": "2023-11-14T22:13:20Z", "hosts": ["a", "b"], **said}
    about |= {"settings": {"ranks": 2} | about.get("settings", {})}
    (folder / "overtime.json").write_text(json.dumps(about))
    return folder
