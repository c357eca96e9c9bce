"""``idlewave measure network``: the network between two ranks."""

from __future__ import annotations

from pathlib import Path

import click

from ..measure import NetworkMeasurement, measure_network
from ..units import format_time
from .terminal import errors, output, progress_bar


@click.command()
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
