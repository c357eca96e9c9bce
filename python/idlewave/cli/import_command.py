"""``idlewave import``: the trace of another tool becomes a trace or a schedule of Idlewave."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from ..errors import UsageError
from ..formatting import join_words
from ..output import check_output_folder
from .input_options import algorithm_option, algorithms_from
from .option_types import OutputFolder, as_json, print_json
from .progress import doing
from .terminal import say, say_note


@click.command("import")
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(checked=False),
    default=Path("trace"),
    show_default="trace or trace.goal",
    help="Folder to write the trace to; of a Chakra trace a file (.goal, .bin, .idg).",
)
@algorithm_option("only of a Chakra trace; may be repeated", "COLLECTIVE=NAME")
@as_json
def import_(source: Path, folder: Path, chosen: tuple[str, ...], as_json: bool) -> None:
    """Write the trace SOURCE of another tool as a trace: the file traces.otf2 of an OTF2 archive, or its folder; the
    file of rank 0 of a trace of liballprof; or the .meta file or the file of a rank of a DUMPI trace. Of the file of a
    rank of a Chakra execution trace (.et), which is a graph, the whole trace is written as a schedule.

    The command prints what was left out.
    """
    from ..importing import is_graph

    if is_graph(source):
        given = click.get_current_context().get_parameter_source("folder") != click.core.ParameterSource.DEFAULT
        _import_schedule(source, folder if given else Path("trace.goal"), chosen, as_json)
        return
    if chosen:
        raise UsageError("--algorithm belongs to Chakra traces: `idlewave schedule` and `simulate` have it for a trace")
    _import_trace(source, folder, as_json)


def _import_trace(source: Path, folder: Path, as_json: bool) -> None:
    from ..importing import import_trace

    check_output_folder(folder)
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
    _note_left_out(found.left_out, "; the time of calls that are left out counts as computation")


def _import_schedule(source: Path, file: Path, chosen: tuple[str, ...], as_json: bool) -> None:
    from ..importing import import_schedule

    with doing(f"importing {source}"):
        found = import_schedule(source, file, algorithms=algorithms_from(chosen))
    if as_json:
        print_json(
            {
                "written": str(file),
                "format": found.format,
                "ranks": found.ranks,
                "nodes": found.nodes,
                "left_out": dict(found.left_out),
            }
        )
        return
    say(f"{found.ranks} ranks, {found.nodes} nodes; written: {file}")
    _note_left_out(found.left_out, "")


def _note_left_out(left_out: Mapping[str, int], remark: str) -> None:
    if left_out:
        listed = join_words([f"{number:,} {kind}" for kind, number in left_out.items()])
        say_note(f"left out: {listed}{remark}")
