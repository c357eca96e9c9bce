"""``idlewave schedule``: a trace as a GOAL schedule."""

from __future__ import annotations

from pathlib import Path

import click

from .terminal import algorithm_options, load_schedule, output


@click.command()
@click.argument("source", metavar="TRACE|FILE")
@algorithm_options
@click.option("--ranks", type=click.IntRange(1), help="Extrapolate to this many ranks.")
@click.option("-o", "--output", "file", type=click.Path(dir_okay=False, path_type=Path), help="GOAL file to write.")
def schedule(source: str, chosen: tuple[str, ...], reduction_cost: float, ranks: int | None, file: Path | None) -> None:
    """Make the schedule of a trace (or read a GOAL file), and write it as GOAL text."""
    made = load_schedule(source, chosen, reduction_cost)
    if ranks is not None and ranks != made.ranks:
        made = made.extrapolate(ranks)
    if file is None:
        click.echo(made.to_goal(), nl=False)
        return
    made.save(file)
    output.print(f"{made.ranks} ranks; written: {file}")
