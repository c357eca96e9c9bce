"""``idlewave schedule``: convert a trace or a pattern to the file of a schedule."""

from __future__ import annotations

from pathlib import Path

import click

from ..schedule import FORMATS, format_for
from .option_types import OutputFile, as_json, print_json
from .progress import rank_progress
from .schedule_source import schedule_from, source_options_without_machine
from .terminal import say


@click.command()
@source_options_without_machine
@click.option(
    "-o", "--output", "file", type=OutputFile(), help="File to write (default: GOAL text to the output stream)."
)
@click.option(
    "--to", type=click.Choice(FORMATS), help="Format of the file.  [default: by its ending, .goal, .bin or .idg]"
)
@as_json
def schedule(source: str, file: Path | None, to: str | None, as_json: bool, **options: object) -> None:
    """Write the schedule of a TRACE, a PATTERN or another FILE: to a file, or as GOAL text to the output stream."""
    form = None if file is None else format_for(file, to)
    made, choice = schedule_from(source, options)
    if file is None and as_json:
        print_json({"ranks": made.ranks, "goal": made.to_goal()})
        return
    if file is None:
        click.echo(made.to_goal(), nl=False)
        return
    with rank_progress(f"writing {file.name}") as progress:
        made.save(file, to=form, progress=progress)
    if as_json:
        found = {"ranks": made.ranks, "written": str(file), "format": form, "bytes": file.stat().st_size}
        if made.collectives:
            found["collectives"] = choice.described(made.collectives)
        print_json(found)
        return
    say(f"{made.ranks} ranks; written: {file}")
