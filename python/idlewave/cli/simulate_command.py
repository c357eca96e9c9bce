"""``idlewave simulate``: a schedule on a machine."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import click

from ..simulation import DIALECTS
from ..simulation import simulate as run
from ..units import format_time
from .inputs import load_machine, machine_option
from .run import run_arguments, run_options
from .source import schedule_from, source_options

MOST_RANKS_LISTED = 65536


@click.command()
@source_options
@machine_option
@click.option("--dialect", type=click.Choice(DIALECTS), default=DIALECTS[0], show_default=True)
@run_options
@click.option("--ops", type=click.Path(dir_okay=False, path_type=Path), help="Write when each op ran (Parquet).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def simulate(
    source: str,
    machine_name: str,
    dialect: str,
    ops: Path | None,
    as_json: bool,
    **options: object,
) -> None:
    """Simulate a GOAL file, a trace, or a PATTERN (a collective, or "dissemination") on a machine."""
    machine = load_machine(machine_name)
    how = run_arguments(options)
    schedule = schedule_from(source, options)
    timeline = run(
        schedule,
        machine,
        record=ops is not None,
        dialect=dialect,
        **how,
    )
    if ops is not None:
        timeline.ops_to_pandas().to_parquet(ops, index=False)
    if as_json:
        found: dict[str, object] = {"max_finish_ps": timeline.max_finish}
        if schedule.ranks <= MOST_RANKS_LISTED:
            found["finish_ps"] = timeline.finish_view.tolist()
        found["messages"] = timeline.messages
        found["seconds"] = timeline.seconds
        found["peak_rss_bytes"] = peak_memory()
        click.echo(json.dumps(found))
        return
    click.echo(
        f"{schedule.name} on {machine.name}: {schedule.ranks} ranks finish after "
        f"{format_time(timeline.max_finish, 6)} ({timeline.messages} messages, simulated in {timeline.seconds:.3f} s)"
    )


def peak_memory() -> int:
    """The most memory that this process has had, bytes.

    Linux says it of the program alone; what getrusage says may be that of the process which started it.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
