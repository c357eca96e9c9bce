"""How a command runs on the kernel, and what it says of the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import InputError
from ..kernel import PLACEMENTS, SCHEDULERS, EventRun
from ..output import write_json
from ..placement_file import read_placement
from ..provenance import Provenance
from ..provenance_in_files import provenance_entry
from .option_types import Count, OutputFile, OutputFolder

F = TypeVar("F", bound=Callable[..., Any])


if TYPE_CHECKING:
    PlacementType = click.ParamType[str | list[int]]
else:
    PlacementType = click.ParamType  # which older versions of click cannot subscript


class Placement(PlacementType):
    """The name of a placement, or a file with the number of a thread for every LP."""

    name = "placement"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """As the help shows it."""
        return "|".join((*PLACEMENTS, "FILE"))

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str | list[int]:
        """Reads the file."""
        if value in PLACEMENTS:
            return str(value)
        try:
            return read_placement(Path(str(value)))
        except InputError as error:
            self.fail(f"expected {', '.join(PLACEMENTS)}, or a file of whole numbers: {error}", param, ctx)


SCHEDULER = click.option("--scheduler", type=click.Choice(SCHEDULERS), default=SCHEDULERS[0], show_default=True)
THREADS = click.option("--threads", type=Count(1), default=1, show_default=True)
DISTRIBUTION = (
    click.option(
        "--processes",
        type=Count(1),
        default=1,
        show_default=True,
        help="Processes, started by mpiexec, each with so many threads.",
    ),
    click.option("--lazy", is_flag=True, help="Time Warp: lazy cancellation of events."),
    click.option("--pin", is_flag=True, help="Pin each thread to a processor of its own."),
    click.option("--migrate", is_flag=True, help="Let LPs migrate when one thread has far more events than others."),
    click.option("--checkpoint", type=OutputFolder(), help="Directory for checkpoints."),
    click.option(
        "--checkpoint-every",
        type=click.FloatRange(0),
        default=600.0,
        show_default=True,
        help="Seconds between two checkpoints.",
    ),
    click.option("--restart", is_flag=True, help="Begin with the last checkpoint."),
)


STATISTICS = click.option(
    "--statistics",
    type=OutputFile(),
    help="Write what the kernel counted, over time too (JSON).",
)


def write_statistics(run: EventRun, path: Path | None, provenance: Provenance | None) -> None:
    """All that a run counted, and what it was of, to a file if there is to be one."""
    if path is None:
        return
    said = {} if provenance is None else provenance_entry(provenance)
    write_json(path, counts_of(run) | {"series": run.series} | said)


def counts_of(run: EventRun) -> dict[str, Any]:
    """What a run counted, for programs; without the samples over time."""
    counts = {name: value for name, value in asdict(run).items() if name != "series"}
    rates = {"rate": run.rate, "warp": run.warp, "remote": run.remote}
    return counts | {name: value if math.isfinite(value) else None for name, value in rates.items()}


def show_run(what: str, run: EventRun, events: str = "events") -> None:
    """Print the statistics of a run as a table."""
    from rich.table import Table

    from .terminal import output

    table = Table(title=what, title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    for name, value in (
        (f"{events} committed", f"{run.committed:,}"),
        (f"{events} rolled back", f"{run.rolled_back:,}"),
        ("efficiency (1 - rolled back / committed)", f"{run.efficiency:.2%}"),
        ("rollbacks, primary", f"{run.primary_rollbacks:,}"),
        ("rollbacks, secondary", f"{run.secondary_rollbacks:,}"),
        ("anti-messages", f"{run.cancelled:,}"),
        ("remote events", f"{run.remote_events:,} ({run.remote:.1%})"),
        ("rounds of GVT", f"{run.gvt_rounds:,}"),
        ("segments", f"{run.segments:,}"),
        ("ties", f"{run.ties:,}"),
        ("undo logs", f"{run.log_bytes / 2**20:.1f} MiB"),
        ("memory of all processes", f"{run.peak_rss_bytes / 2**20:.0f} MiB"),
        ("initialisation", f"{run.init_seconds:.3f} s"),
        ("simulation", f"{run.seconds:.3f} s"),
        (f"{events} per second", f"{run.rate / 1e6:.2f} million"),
        ("warp (log10 of that rate, less 9)", f"{run.warp:.2f}"),
        ("digest of all states", f"{run.digest:016x}"),
    ):
        table.add_row(name, value)
    output.print(table)


def where(options: dict[str, Any]) -> str:
    """The scheduler, threads and processes of a run, as text."""
    threads = options["threads"]
    text = f"{threads} {'thread' if threads == 1 else 'threads'}"
    if options["processes"] != 1:
        text = f"{options['processes']} processes of {text}"
    return f"{options['scheduler']} on {text}"


def all_of(options: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    """A command with these options, in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add
