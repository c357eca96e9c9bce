"""``idlewave export``: a trace as an archive for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from ..formatting import join_words
from ..output import check_new_folder
from ..trace import Trace
from .option_types import OutputFolder, as_json, print_json
from .progress import doing
from .terminal import say, say_note


@click.command()
@click.argument("source", metavar="TRACE", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    required=True,
    help="Folder to write the archive to, such as run.otf2.",
)
@as_json
def export(source: Path, folder: Path, as_json: bool) -> None:
    """Write the trace in the folder TRACE as an OTF2 archive, as Score-P does, for Vampir, Scalasca and others.

    The archive is a folder with the file traces.otf2. The command prints which calls have a region and no events,
    because OTF2 cannot say more. `idlewave timeline` writes a simulated run as OTF2.
    """
    from ..export import write_trace_otf2

    check_new_folder(folder)
    trace = Trace.load(source)
    with doing(f"writing {folder}"):
        left_out = write_trace_otf2(trace, folder)
    calls = int(trace.processes["calls"].sum())
    if as_json:
        print_json({"written": str(folder), "ranks": trace.ranks, "calls": calls, "left_out": dict(left_out)})
        return
    say(f"{trace.ranks} ranks, {calls} calls; written: {folder}")
    if left_out:
        listed = join_words([f"{number:,} {kind}" for kind, number in left_out.items()])
        say_note(f"without events in the archive: {listed}; their calls are regions alone")
