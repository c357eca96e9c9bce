"""``idlewave schedule``: a trace or a pattern as a schedule in a file."""

from __future__ import annotations

from pathlib import Path

import click

from ..schedule import FORMATS, format_for
from .option_types import OutputFile, as_json, print_json
from .progress import rank_progress
from .schedule_source import schedule_from, source_options
from .terminal import say


@click.command()
@source_options
@click.option("-o", "--output", "file", type=OutputFile(), help="File to write.")
@click.option("--to", type=click.Choice(FORMATS), help="Its format.  [default: by extension: .goal, .bin, .idg]")
@as_json
def schedule(source: str, file: Path | None, to: str | None, as_json: bool, **options: object) -> None:
    """Make the schedule of a trace or a PATTERN (or read a schedule), and write it: to a file, or as GOAL text to the
    terminal.
    """
    form = None if file is None else format_for(file, to)
    made = schedule_from(source, options)
    if file is None and as_json:
        print_json({"ranks": made.ranks, "goal": made.to_goal()})
        return
    if file is None:
        click.echo(made.to_goal(), nl=False)
        return
    with rank_progress(f"writing {file.name}") as progress:
        made.save(file, to=form, progress=progress)
    if as_json:
        print_json({"ranks": made.ranks, "written": str(file), "format": form, "bytes": file.stat().st_size})
        return
    say(f"{made.ranks} ranks; written: {file}")
