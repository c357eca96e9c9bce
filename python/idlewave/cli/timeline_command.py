"""``idlewave timeline``: the start and end of each op of a simulation, in a file for viewers."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError
from ..escaping import quote
from ..export import writer_for
from ..kernel import RunConfiguration
from ..simulation import simulate as run
from ..timeline import Recording
from .input_options import load_machine, machine_options, note_scope
from .kernel_options import STATISTICS, check_statistics, write_statistics
from .option_types import Duration, OutputFile, as_json, print_json
from .progress import doing, time_progress
from .schedule_source import schedule_from, source_options
from .simulation_options import heading, run_arguments, run_options, simulated_machine
from .terminal import say


@click.command()
@source_options
@machine_options
@run_options
@STATISTICS
@click.option("--only-ranks", metavar="FIRST-LAST", help="Record only the ops of these ranks.")
@click.option(
    "--since",
    type=Duration(),
    default="0ps",
    help="Record only ops that start at this simulated time or later, such as 2ms.",
)
@click.option("--until", type=Duration(), help="Record only ops that start before this simulated time.")
@click.option(
    "-o",
    "--output",
    "file",
    type=OutputFile(folders=(".otf2",)),
    required=True,
    help="File to write: .pftrace, .otf2, .png, .svg, .pdf or .parquet.",
)
@as_json
def timeline(
    source: str,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    only_ranks: str | None,
    since: int,
    until: int | None,
    file: Path,
    statistics: Path | None,
    as_json: bool,
    **options: object,
) -> None:
    """Simulate a schedule FILE, a TRACE or a PATTERN, and write when each op ran and why it waited.

    The ending of the file chooses its format: .pftrace opens in ui.perfetto.dev, .otf2 (a folder) in Vampir and others,
    .png, .svg and .pdf are pictures (up to 64 ranks and 20,000 ops), .parquet is a table.
    """
    write = writer_for(file)
    machine = load_machine(machine_name, between, node_ranks)
    how = run_arguments(options)
    check_statistics(statistics, RunConfiguration.of(how))
    schedule, _ = schedule_from(source, options, simulated_machine(machine, how))
    note_scope(machine, schedule.ranks)
    recording = Recording(None if only_ranks is None else _ranks(only_ranks), since, until)
    with time_progress("simulating") as progress:
        found = run(schedule, machine, record=recording, progress=progress, **how)
    if found.run is not None:
        write_statistics(found.run, statistics, found.provenance)
    ops = found.ops_to_arrow()
    if not len(ops):
        raise UsageError("no op of these ranks starts in that time: nothing to write")
    with doing(f"writing {file}"):
        write(ops, heading(schedule, machine))
    if as_json:
        print_json({"written": str(file), "ops": len(ops), "ranks": schedule.ranks, "max_finish_ps": found.max_finish})
        return
    say(f"{len(ops)} ops of {schedule.ranks} ranks; written: {file}")


def _ranks(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    try:
        return int(first), int(last if dash else first)
    except ValueError:
        raise UsageError(f"expected ranks such as 0-7, found {quote(text)}") from None
