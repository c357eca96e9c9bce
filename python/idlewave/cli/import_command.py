"""``idlewave import``: the trace of another tool becomes a trace of Idlewave."""

from __future__ import annotations

from pathlib import Path

import click

from ..formatting import join_words
from .option_types import as_json, print_json, trace_folder
from .progress import doing
from .terminal import say, say_note


@click.command("import")
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@trace_folder
@as_json
def import_(source: Path, folder: Path, as_json: bool) -> None:
    """Write the trace SOURCE of another tool as a trace: the file traces.otf2 of an OTF2 archive, or its folder; the
    file of rank 0 of a trace of liballprof; or the .meta file or the file of a rank of a DUMPI trace.

    The command prints what was left out.
    """
    from ..importing import import_trace

    with doing(f"importing {source}"):
        found = import_trace(source, folder)
    calls = int(found.trace.processes["calls"].sum())
    if as_json:
        print_json(
            {
                "written": str(folder),
                "format": found.format,
                "ranks": found.trace.ranks,
                "calls": calls,
                "seconds": found.trace.measured_s,
                "left_out": dict(found.left_out),
            }
        )
        return
    say(f"{found.trace.ranks} ranks, {calls} calls, {found.trace.measured_s:.3f} s; written: {folder}")
    if found.left_out:
        listed = join_words([f"{number:,} {kind}" for kind, number in found.left_out.items()])
        say_note(f"left out: {listed}; the time of calls that are left out counts as computation")
