"""``idlewave timeline``: when each op of a simulation ran, for people to look at."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError
from ..export import writer_for
from ..simulation import simulate as run
from ..timeline import Recording
from ..units import parse_time
from .inputs import load_machine, machine_option
from .options import OutputFile
from .run import run_arguments, run_options
from .source import schedule_from, source_options
from .terminal import output


@click.command()
@source_options
@machine_option
@run_options
@click.option("--only-ranks", metavar="FIRST-LAST", help="Record these ranks only.")
@click.option("--since", metavar="TIME", default="0ps", help="Record ops that start from this time on, such as 2ms.")
@click.option("--until", metavar="TIME", help="Record ops that start before this time.")
@click.option("-o", "--output", "file", type=OutputFile(folders=(".otf2",)), required=True, help="What to write.")
def timeline(
    source: str,
    machine_name: str,
    only_ranks: str | None,
    since: str,
    until: str | None,
    file: Path,
    **options: object,
) -> None:
    """Simulate a GOAL file, a trace, or a PATTERN on a machine, and write when each op ran and why it waited.

    How it is written, its ending tells: .pftrace opens in ui.perfetto.dev, .otf2 (a folder) in Vampir and others, .png,
    .svg and .pdf are pictures (of up to 64 ranks and 20,000 ops), .parquet is a table.
    """
    write = writer_for(file)
    machine = load_machine(machine_name)
    how = run_arguments(options)
    schedule = schedule_from(source, options)
    found = run(
        schedule,
        machine,
        record=Recording(
            ranks=None if only_ranks is None else _ranks(only_ranks),
            since_ps=_time(since),
            until_ps=None if until is None else _time(until),
        ),
        **how,
    )
    ops = found.ops_to_arrow()
    if not len(ops):
        raise UsageError("no op of these ranks starts in that time: nothing to write")
    write(ops, f"{schedule.name} on {machine.name}")
    output.print(f"{len(ops)} ops of {schedule.ranks} ranks; written: {file}")


def _ranks(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    try:
        return int(first), int(last if dash else first)
    except ValueError:
        raise UsageError(f"expected ranks such as 0-7, found '{text}'") from None


def _time(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
