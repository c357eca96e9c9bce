"""``idlewave convert``: convert the file of a schedule to another format."""

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
@click.option("--to", type=click.Choice(FORMATS), help="Format of OUT.  [default: by its ending, .goal, .bin or .idg]")
@as_json
def convert(source: Path, target: Path, to: str | None, as_json: bool) -> None:
    """Convert the schedule in the file IN to another format.

    The formats are GOAL text (goal), the binary format of LogGOPSim (loggopsim), and that of Idlewave (idg), which is
    the smallest and fastest to read. The format of IN is found from its content. The schedule is converted rank by
    rank, so it need not fit into memory.
    """
    form = format_for(target, to)
    with rank_progress(f"converting {source.name}") as progress:
        run(source, target, to=form, progress=progress)
    if as_json:
        print_json({"written": str(target), "format": form, "bytes": target.stat().st_size})
        return
    say(f"written: {target}, {target.stat().st_size} bytes")
