"""Noise as files of a machine: noise.csv, and the [noise] table that names it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ...machine import Machine
from ...noise import Noise
from ...units import exact_time


def noise_csv(trace: pd.DataFrame) -> str:
    """The text of noise.csv: start_ns,length_ns with all digits, from start_ps and length_ps."""
    pairs = zip(trace["start_ps"].tolist(), trace["length_ps"].tolist(), strict=True)
    rows = [f"{s // 1000}.{s % 1000:03d},{n // 1000}.{n % 1000:03d}" for s, n in pairs]
    return "\n".join(["start_ns,length_ns", *rows]) + "\n"


def noise_table(period_ps: int, phase: str = "random") -> str:
    """The [noise] table of a machine.toml that replays the noise.csv beside it."""
    return f'[noise]\nkind = "trace"\nfile = "noise.csv"\nperiod = "{exact_time(period_ps)}"\nphase = "{phase}"\n'


def write_noise(folder: Path, noise: Noise, machine: Machine | None = None) -> Path:
    """Write noise.csv, and the [noise] table: in machine.toml with the network of `machine`, else in noise.toml alone.

    Returns the path of the latter. Raises InputError if the simulator would refuse the machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    trace = pd.DataFrame({"start_ps": noise.starts, "length_ps": noise.lengths})
    (folder / "noise.csv").write_text(noise_csv(trace))
    phase = noise.phase if isinstance(noise.phase, str) else "random"
    table = noise_table(noise.period, phase)
    target = folder / ("machine.toml" if machine else "noise.toml")
    target.write_text(f"{machine.to_toml()}\n{table}" if machine else table)
    if machine:
        Machine.load(target)
    return target
