"""``idlewave schedule``: a trace or a pattern as a GOAL schedule."""

from __future__ import annotations

from pathlib import Path

import click

from .source import schedule_from, source_options
from .terminal import output


@click.command()
@source_options
@click.option("-o", "--output", "file", type=click.Path(dir_okay=False, path_type=Path), help="GOAL file to write.")
def schedule(source: str, file: Path | None, **options: object) -> None:
    """Make the schedule of a trace or a PATTERN (or read a GOAL file), and write it as GOAL text."""
    made = schedule_from(source, options)
    if file is None:
        click.echo(made.to_goal(), nl=False)
        return
    made.save(file)
    output.print(f"{made.ranks} ranks; written: {file}")
