"""``idlewave schedule``: a trace as a schedule."""

from __future__ import annotations

from pathlib import Path

import click

from ..schedule import FORMATS, format_for
from .terminal import algorithm_options, load_schedule, output, rank_progress


@click.command()
@click.argument("source", metavar="TRACE|FILE")
@algorithm_options
@click.option("--ranks", type=click.IntRange(1), help="Extrapolate to this many ranks.")
@click.option("-o", "--output", "file", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@click.option("--to", type=click.Choice(FORMATS), help="Its format.  [default: by extension: .goal, .bin, .idg]")
def schedule(
    source: str,
    chosen: tuple[str, ...],
    reduction_cost: float,
    ranks: int | None,
    file: Path | None,
    to: str | None,
) -> None:
    """Make the schedule of a trace (or read a schedule), and write it: to a file, or as GOAL text to the terminal."""
    form = None if file is None else format_for(file, to)
    made = load_schedule(source, chosen, reduction_cost)
    if ranks is not None and ranks != made.ranks:
        made = made.extrapolate(ranks)
    if file is None:
        click.echo(made.to_goal(), nl=False)
        return
    with rank_progress(f"writing {file.name}") as progress:
        made.save(file, to=form, progress=progress)
    output.print(f"{made.ranks} ranks; written: {file}")
