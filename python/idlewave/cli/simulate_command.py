"""``idlewave simulate``: a schedule on a machine."""

from __future__ import annotations

from pathlib import Path

import click

from .._core import peak_memory
from ..escaping import name_of
from ..formatting import plain_time
from ..kernel import RunConfiguration
from ..output import write_table
from ..provenance import provenance_entry
from ..simulation import DIALECTS
from ..simulation import simulate as run
from .input_options import load_machine, machine_options, note_scope
from .kernel_options import STATISTICS, check_statistics, counts_of, show_run, where, write_statistics
from .option_types import OutputFile, as_json, print_json
from .progress import time_progress
from .schedule_source import schedule_from, source_options
from .simulation_options import heading, run_arguments, run_options, simulated_machine

MOST_RANKS_LISTED = 65536
LEAST_SHARE_SHOWN = 0.1
"""A smaller share of the events that one thread has executed for all is mostly that of trials."""


@click.command()
@source_options
@machine_options
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default=DIALECTS[0],
    show_default=True,
    help="Rules of the simulation: those of docs/model.md, or those of LogGOPSim.",
)
@run_options
@STATISTICS
@click.option("--ops", type=OutputFile(), help="Write the start and end of each op (Parquet).")
@as_json
def simulate(
    source: str,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    dialect: str,
    ops: Path | None,
    statistics: Path | None,
    as_json: bool,
    **options: object,
) -> None:
    """Simulate a schedule FILE, a TRACE or a PATTERN on a machine.

    `idlewave patterns` lists the patterns, such as allreduce, halo2d and sweep.
    """
    machine = load_machine(machine_name, between, node_ranks)
    how = run_arguments(options)
    check_statistics(statistics, RunConfiguration.of(how))
    schedule, choice = schedule_from(source, options, simulated_machine(machine, how))
    note_scope(machine, schedule.ranks)
    if as_json or statistics is not None:
        schedule.lazy_provenance.begin()
    with time_progress("simulating") as progress:
        timeline = run(
            schedule,
            machine,
            record=ops is not None,
            dialect=dialect,
            progress=progress,
            **how,
        )
    if timeline.run is not None:
        write_statistics(timeline.run, statistics, timeline.provenance)
    if ops is not None:
        write_table(ops, timeline.ops_to_arrow())
    if as_json:
        found: dict[str, object] = {"max_finish_ps": timeline.max_finish}
        if schedule.ranks <= MOST_RANKS_LISTED:
            found["finish_ps"] = timeline.finish_view.tolist()
        found["messages"] = timeline.messages
        found["seconds"] = timeline.seconds
        found["peak_rss_bytes"] = peak_memory()
        if timeline.run is None:
            found["share_by_one_thread"] = timeline.share_by_one_thread
        else:
            found |= {"run": counts_of(timeline.run), "peak_rss_bytes": timeline.run.peak_rss_bytes}
        if schedule.collectives:
            found["collectives"] = choice.described(schedule.collectives)
        if timeline.provenance is not None:
            found |= provenance_entry(timeline.provenance)
        print_json(found)
        return
    click.echo(
        f"{heading(schedule, machine)}: {schedule.ranks} ranks finish after "
        f"{plain_time(timeline.max_finish, 6)} ({timeline.messages} messages, simulated in {timeline.seconds:.3f} s)"
    )
    if timeline.share_by_one_thread > LEAST_SHARE_SHOWN:
        share = f"{timeline.share_by_one_thread:.0%} of the events"
        click.echo(f"one of {how['threads']} threads executed {share} for all, as waiting for each other takes time")
    if timeline.run is not None:
        show_run(f"{name_of(schedule.name)}, {where(how)}", timeline.run, "messages")
