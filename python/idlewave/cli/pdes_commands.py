"""``idlewave pdes``: models on the kernel of the simulator."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ..pdes import SCHEDULERS, EventRun
from ..pdes import phold as run_phold
from .progress import share_progress
from .simulate_command import peak_memory


def count(value: str) -> int:
    """A whole number, which may be written as 1e6."""
    try:
        number = float(value)
    except ValueError:
        raise click.BadParameter(f"expected a number such as 1024 or 1e6, found '{value}'") from None
    if not number.is_integer() or abs(number) > 2**53:
        raise click.BadParameter(f"expected a whole number, found '{value}'")
    return int(number)


@click.group()
def pdes() -> None:
    """Run a model on the kernel: a parallel discrete-event simulation."""


@pdes.command()
@click.option("--lps", type=count, default="1024", show_default=True, help="Logical processes (1e6 will do).")
@click.option("--start-events", type=click.IntRange(0), default=16, show_default=True, help="Of each LP.")
@click.option("--remote", type=click.FloatRange(0, 1), default=0.1, show_default=True, help="Share sent to any LP.")
@click.option("--mean", type=click.FloatRange(0), default=0.9, show_default=True, help="Of the exponential delay.")
@click.option("--lookahead", type=click.FloatRange(0), default=0.1, show_default=True, help="Added to it.")
@click.option("--end", type=click.FloatRange(0), default=10.0, show_default=True, help="Of simulated time.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@click.option("--scheduler", type=click.Choice(SCHEDULERS), default=SCHEDULERS[0], show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="Started by mpiexec.")
@click.option("--lazy", is_flag=True, help="Lazy cancellation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def phold(
    *,
    lps: int,
    start_events: int,
    remote: float,
    mean: float,
    lookahead: float,
    end: float,
    seed: int,
    scheduler: str,
    threads: int,
    processes: int,
    lazy: bool,
    as_json: bool,
) -> None:
    """Events that LPs pass on: the benchmark of the field."""
    with share_progress("simulating") as progress:
        run = run_phold(
            lps=lps,
            start_events=start_events,
            remote=remote,
            mean=mean,
            lookahead=lookahead,
            end=end,
            seed=seed,
            scheduler=scheduler,
            threads=threads,
            processes=processes,
            lazy=lazy,
            progress=progress,
        )
    where = f"{threads} {'thread' if threads == 1 else 'threads'}"
    if processes > 1:
        where = f"{processes} processes of {where}"
    show(f"phold, {lps} LPs, {scheduler} on {where}", run, as_json)


def show(what: str, run: EventRun, as_json: bool) -> None:
    """What a run found, for programs or for people."""
    if as_json:
        found = {**asdict(run), "rate": run.rate, "warp": run.warp, "peak_rss_bytes": peak_memory()}
        click.echo(json.dumps(found))
        return
    from rich.table import Table

    from .terminal import output

    table = Table(title=what, title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    for name, value in (
        ("events committed", f"{run.committed:,}"),
        ("events rolled back", f"{run.rolled_back:,}"),
        ("efficiency (1 - rolled back / committed)", f"{run.efficiency:.2%}"),
        ("rollbacks, primary", f"{run.primary_rollbacks:,}"),
        ("rollbacks, secondary", f"{run.secondary_rollbacks:,}"),
        ("events taken back", f"{run.taken_back:,}"),
        ("told to other partitions", f"{run.told_elsewhere:,}"),
        ("rounds of GVT", f"{run.gvt_rounds:,}"),
        ("ties", f"{run.ties:,}"),
        ("memory for undo", f"{run.log_bytes / 2**20:.1f} MiB"),
        ("memory of the process", f"{peak_memory() / 2**20:.0f} MiB"),
        ("initialisation", f"{run.init_seconds:.3f} s"),
        ("simulation", f"{run.seconds:.3f} s"),
        ("events per second", f"{run.rate / 1e6:.2f} million"),
        ("warp (log10 of that rate, less 9)", f"{run.warp:.2f}"),
        ("digest of all states", f"{run.digest:016x}"),
    ):
        table.add_row(name, value)
    output.print(table)
