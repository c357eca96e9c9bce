"""Noise as files of a machine: its [noise] table, and beside it the files of detours that the table names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ...carried import comment
from ...machine import Level, Machine, Parameters
from ...noise import (
    REACHES,
    DetourLength,
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    Noise,
    ParetoLength,
)
from ...output import OutputFiles
from ...provenance import Provenance
from ...units import exact_time


def noise_csv(trace: pd.DataFrame) -> str:
    """The text of noise.csv: start_ns,length_ns with all digits, from start_ps and length_ps."""
    pairs = zip(trace["start_ps"].tolist(), trace["length_ps"].tolist(), strict=True)
    rows = [f"{s // 1000}.{s % 1000:03d},{n // 1000}.{n % 1000:03d}" for s, n in pairs]
    return "\n".join(["start_ns,length_ns", *rows]) + "\n"


def noise_table(period_ps: int, phase: str = "random") -> str:
    """The [noise] table of a machine.toml that replays the noise.csv beside it."""
    return "\n".join(["[noise]", *_trace_lines(period_ps), f'phase = "{phase}"', ""])


def write_noise(
    folder: Path, noise: Noise | MixedNoise, machine: Machine | None = None, source: Provenance | None = None
) -> Path:
    """Write the [noise] table: in machine.toml with the network of `machine`, else in noise.toml alone; and its files.

    What the noise of `machine` reaches, that which is written reaches, too. `source` is what the noise was made from.

    Returns the path of the former. Raises InputError if the simulator would refuse what is written.
    """
    trace = noise.trace if isinstance(noise, MixedNoise) else noise
    detours = pd.DataFrame({"start_ps": trace.starts, "length_ps": trace.lengths})
    target = folder / ("machine.toml" if machine else "noise.toml")
    with OutputFiles() as files:
        files.text(folder / "noise.csv", noise_csv(detours))
        phase = trace.phase if isinstance(trace.phase, str) else "random"
        table = noise_table(trace.period, phase)
        if isinstance(noise, MixedNoise):
            table = _mixture_table(folder, noise, phase, files)
        if machine and machine.noise_reaches != REACHES:
            table = table.replace("[noise]", f"[noise]\nreaches = {list(machine.noise_reaches)}", 1)
        sources = tuple(part for part in (source, machine.provenance if machine else None) if part is not None)
        said = comment(
            Provenance.made(
                "machine", machine.name if machine else "", by="idlewave.measure.noise.write_noise", sources=sources
            )
        )
        files.text(target, said + (f"{machine.to_toml()}\n{table}" if machine else table))
    if machine:
        Machine.load(target)
    else:
        any_network = Machine("any", Level(Parameters(L=1000, o_s=1000, o_r=1000, g=1000)))
        Machine.from_toml(f"{any_network.to_toml()}\n{table}", name=str(target), folder=folder)
    return target


def _trace_lines(period_ps: int) -> list[str]:
    return ['kind = "trace"', 'file = "noise.csv"', f'period = "{exact_time(period_ps)}"']


def _mixture_table(folder: Path, noise: MixedNoise, phase: str, files: OutputFiles) -> str:
    lines = ["[noise]", 'kind = "mixture"', f'phase = "{phase}"', "[[noise.source]]", *_trace_lines(noise.trace.period)]
    for number, source in enumerate(noise.random):
        lines += ["[[noise.source]]", 'kind = "poisson"', f'interval = "{exact_time(round(source.interval))}"']
        lines.append(f"length = {_length(folder / f'lengths-{number}.csv', source.length, files)}")
    return "\n".join(lines) + "\n"


def _length(file: Path, law: DetourLength, files: OutputFiles) -> str:
    """The law as a table's value; one of lengths that were seen in `file`, one of `files`."""
    if isinstance(law, FixedLength):
        return f'"{exact_time(law.length)}"'
    if isinstance(law, EmpiricalLength):
        after = np.cumsum(law.lengths) - law.lengths
        files.text(file, noise_csv(pd.DataFrame({"start_ps": after, "length_ps": law.lengths})))
        return f'{{ distribution = "empirical", file = "{file.name}" }}'
    if isinstance(law, ExponentialLength):
        return f'{{ distribution = "exponential", mean = "{_time(law.mean)}", min = "{_time(law.min)}" }}'
    if isinstance(law, LognormalLength):
        return f'{{ distribution = "lognormal", median = "{_time(law.median)}", sigma = {law.sigma!r} }}'
    if isinstance(law, ParetoLength):
        return f'{{ distribution = "pareto", min = "{_time(law.min)}", alpha = {law.alpha!r} }}'
    return f'{{ distribution = "uniform", min = "{exact_time(law.min)}", max = "{exact_time(law.max)}" }}'


def _time(picoseconds: float) -> str:
    return exact_time(round(picoseconds))
