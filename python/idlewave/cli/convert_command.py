"""``idlewave convert``: a schedule's file in another format."""

from __future__ import annotations

from pathlib import Path

import click

from ..schedule import FORMATS, format_for
from ..schedule import convert as run
from .option_types import OutputFile, as_json, print_json
from .progress import rank_progress
from .terminal import say


@click.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=OutputFile())
@click.option("--to", type=click.Choice(FORMATS), help="OUT's format.  [default: by extension: .goal, .bin, .idg]")
@as_json
def convert(source: Path, target: Path, to: str | None, as_json: bool) -> None:
    """Write the schedule in the file IN in another format: GOAL text (goal), LogGOPSim's binary (loggopsim), or
    Idlewave's (idg), which is the smallest and fastest to read.

    What IN is, its content tells. It is read a rank at a time; OUT is there whole or not at all.
    """
    form = format_for(target, to)
    with rank_progress(f"converting {source.name}") as progress:
        run(source, target, to=form, progress=progress)
    if as_json:
        print_json({"written": str(target), "format": form, "bytes": target.stat().st_size})
        return
    say(f"written: {target}, {target.stat().st_size} bytes")
