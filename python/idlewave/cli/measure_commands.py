"""``idlewave measure``: this machine's noise and network."""

from __future__ import annotations

import platform
from pathlib import Path

import click

from ..measure import (
    Measurement,
    NetworkMeasurement,
    NoiseMeasurement,
    measure_network,
    measure_noise,
    write_machine,
)
from ..mpi import find
from ..units import format_time
from .terminal import errors, output, progress_bar, show

FOLDER = click.Path(file_okay=False, path_type=Path)
noise_seconds = click.option(
    "--noise-seconds",
    default=3.0,
    show_default=True,
    type=click.FloatRange(0.01),
    help="Seconds on each core.",
)
network_seconds = click.option(
    "--network-seconds", default=10.0, show_default=True, type=click.FloatRange(0.5), help="Seconds in all."
)


@click.group(invoke_without_command=True)
@noise_seconds
@network_seconds
@click.option("-o", "--output", "folder", type=FOLDER, default=Path("machine"), show_default=True, help="Folder.")
@click.option("--name", default=platform.node(), help="The machine's name (default: the host's).")
@click.pass_context
def measure(context: click.Context, noise_seconds: float, network_seconds: float, folder: Path, name: str) -> None:
    """Measure this machine: its noise and its network together make machine.toml, with all samples beside it.

    `measure noise` and `measure network` measure one of them, and only show what they find.
    """
    if context.invoked_subcommand is not None:
        return
    found = find()
    with progress_bar() as progress:
        noise_found = measure_noise(noise_seconds, progress=progress, folder=folder / "raw")
        network_found = measure_network(found, network_seconds, progress=progress, folder=folder / "raw")
    file = write_machine(folder, noise_found, network_found, name)
    show_measurement(Measurement(name, noise_found, network_found))
    output.print(f"written: {file}, and the samples beside it")


@measure.command()
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


@measure.command()
@click.option("--seconds", default=10.0, show_default=True, type=click.FloatRange(0.5), help="Seconds in all.")
@click.option("--max-size", default=256 * 1024, show_default=True, type=click.IntRange(64), help="Largest message.")
@click.option("--samples", type=click.Path(dir_okay=False, path_type=Path), help="Write the raw samples (Parquet).")
def network(seconds: float, max_size: int, samples: Path | None) -> None:
    """Measure the LogGOPS parameters between two MPI ranks with PRTT(n,d,s)."""
    with progress_bar() as progress:
        found = measure_network(None, seconds, max_size, progress=progress)
    show_network(found)
    if samples is not None:
        found.samples.to_parquet(samples, index=False)
        output.print(f"written: {samples}")


def show_measurement(measurement: Measurement) -> None:
    """Print both tables and the notes."""
    show_noise(measurement.noise)
    show_network(measurement.network)


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


def show_network(found: NetworkMeasurement) -> None:
    """A row a parameter and range of sizes, with its 95 % interval."""
    output.print("[bold]Network: LogGOPS parameters, with 95 % intervals[/]")
    for r in found.fit.ranges:
        kind = "rendezvous" if r.rendezvous else "eager"
        output.print(f"  from {r.first} B ({kind})")
        for key in ("L", "o_s", "o_r", "g", "G", "O"):
            low, high = (format_time(x) for x in r.intervals[key])
            unit = " per byte" if key in ("G", "O") else ""
            said = "an upper bound: no curve shows it" if key in r.hidden else f"{low} … {high}"
            output.print(f"    {key:<4}{format_time(getattr(r.parameters, key)):>10}{unit}   {said}")
    limit = "not known: every message is taken as eager" if found.fit.S is None else f"{found.fit.S} B"
    output.print(f"    S   {limit}")
    for note in found.notes:
        errors.print(f"note: {note}")
