"""``idlewave measure noise``: what takes this machine's cores away."""

from __future__ import annotations

from pathlib import Path

import click

from ..measure import NoiseMeasurement, measure_noise
from ..units import format_time
from .terminal import errors, output, progress_bar, show


@click.command()
@click.option("--seconds", default=3.0, show_default=True, type=click.FloatRange(0.01), help="Seconds on each core.")
@click.option("--core", "cores", multiple=True, type=int, help="A core to measure (default: all); may be repeated.")
@click.option("--samples", type=click.Path(dir_okay=False, path_type=Path), help="Write the raw detours (Parquet).")
def noise(seconds: float, cores: tuple[int, ...], samples: Path | None) -> None:
    """Measure the noise of each core with the detour benchmark."""
    with progress_bar() as progress:
        found = measure_noise(seconds, cores or None, progress=progress)
    show_noise(found)
    if samples is not None:
        found.detours.to_parquet(samples, index=False)
        output.print(f"written: {samples}")


def show_noise(found: NoiseMeasurement) -> None:
    """A row a core, and the overhead by magnitude."""
    cores = found.cores
    table = cores[["core"]].copy()
    table["seconds"] = cores["duration_ps"] / 1e12
    table["resolution"] = cores["resolution_ps"].map(format_time)
    table["detours"] = cores["detours"] + cores["dropped"]
    table["overhead"] = cores["overhead"]
    for column in [c for c in cores.columns if c.startswith("overhead_") and c != "overhead_ps"]:
        table[column.removeprefix("overhead_").replace("_", " ")] = cores[column]
    table["median"] = cores["p50_ps"].map(format_time)
    table["99 %"] = cores["p99_ps"].map(format_time)
    table["longest"] = cores["longest_ps"].map(format_time)
    formats = {column: ".4%" for column in table.columns if table[column].dtype == float}
    show(table, "Noise: detours on each core", {**formats, "seconds": ".2f"})
    for note in found.notes:
        errors.print(f"note: {note}")
