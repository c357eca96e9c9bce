"""``idlewave pdes``: models on the kernel of the simulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import pdes as models
from ..pdes.running import PLACEMENTS, SCHEDULERS, EventRun
from .progress import share_progress
from .simulate_command import peak_memory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

F = TypeVar("F", bound=Callable[..., Any])
BOT_STEPS = 8
"""Numbers of bots of which a plot shows the effect, beside none."""


def count(value: str) -> int:
    """A whole number, which may be written as 1e6."""
    try:
        number = float(value)
    except ValueError:
        raise click.BadParameter(f"expected a number such as 1024 or 1e6, found '{value}'") from None
    if not number.is_integer() or abs(number) > 2**53:
        raise click.BadParameter(f"expected a whole number, found '{value}'")
    return int(number)


def run_options(command: F) -> F:
    """How to run a model: the answer is the same in all."""
    for option in reversed(
        (
            click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True),
            click.option("--scheduler", type=click.Choice(SCHEDULERS), default=SCHEDULERS[0], show_default=True),
            click.option("--threads", type=click.IntRange(1), default=1, show_default=True),
            click.option(
                "--processes", type=click.IntRange(1), default=1, show_default=True, help="Started by mpiexec."
            ),
            click.option("--placement", type=click.Choice(PLACEMENTS), default=PLACEMENTS[0], show_default=True),
            click.option("--lazy", is_flag=True, help="Lazy cancellation."),
            click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        )
    ):
        command = option(command)
    return command


def plot_options(command: F) -> F:
    """Whether to draw what was found, and of how many runs."""
    runs = click.option(
        "--plot-runs",
        type=click.IntRange(1),
        default=5,
        show_default=True,
        help="Seeds that are drawn, from --seed on.",
    )
    plot = click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw it (.png, .svg, .pdf).")
    return plot(runs(command))


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
@run_options
def phold(*, as_json: bool, **options: object) -> None:
    """Events that LPs pass on: the benchmark of the field."""
    with share_progress("simulating") as progress:
        run = models.phold(**as_arguments(options), progress=progress)
    if as_json:
        click.echo(json.dumps(counts_of(run)))
        return
    show(f"phold, {options['lps']} LPs, {where(options)}", run)


@pdes.command()
@click.option("--persons", type=count, default="1e5", show_default=True)
@click.option("--districts", type=count, default="1", show_default=True, help="Connected by travel alone.")
@click.option("--home-contacts", type=click.FloatRange(0), default=4.0, show_default=True, help="A day.")
@click.option("--work-contacts", type=click.FloatRange(0), default=4.5, show_default=True, help="A day.")
@click.option("--travel-contacts", type=click.FloatRange(0), default=4.5, show_default=True, help="A day.")
@click.option("--transmission", type=click.FloatRange(0, 1), default=0.04, show_default=True, help="Of a contact.")
@click.option("--latent", type=click.FloatRange(0), default=1.9, show_default=True, help="Mean, days.")
@click.option("--infectious", type=click.FloatRange(0), default=4.1, show_default=True, help="Mean, days.")
@click.option("--first-infectious", type=count, default="10", show_default=True, help="Persons.")
@click.option("--vaccinated", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share, at first.")
@click.option("--isolated", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share of the ill.")
@click.option("--isolated-after", type=click.FloatRange(0), default=0.0, show_default=True, help="Days.")
@click.option("--workplaces-close", type=click.FloatRange(0), help="On that day.")
@click.option("--workplaces-reopen", type=click.FloatRange(0), help="On that day.")
@click.option("--days", type=click.IntRange(0), default=180, show_default=True)
@plot_options
@run_options
def epidemic(*, plot: Path | None, plot_runs: int, as_json: bool, **options: object) -> None:
    """Pandemic flu in a city with homes, places of work, and travel."""
    with share_progress("simulating") as progress:
        found = models.epidemic(**as_arguments(options), progress=progress)
    if plot is not None:
        draw_epidemic(found, as_arguments(options), plot, plot_runs)
    if as_json:
        days = {name: getattr(found, name) for name in ("susceptible", "exposed", "infectious", "recovered", "immune")}
        click.echo(json.dumps({"days": days} | counts_of(found.run)))
        return
    click.echo(
        f"{options['persons']:,} persons: {found.attack_rate:.1%} infected in {options['days']} days; most infectious "
        f"on day {found.peak}, {found.infectious[found.peak]:,}"
    )
    show(f"epidemic, {where(options)}", found.run)


@pdes.command()
@click.option("--routers", type=count, default="64", show_default=True)
@click.option("--hosts", type=count, default="1024", show_default=True)
@click.option("--bots", type=count, default="128", show_default=True, help="Of the hosts.")
@click.option("--link-delay", type=click.FloatRange(0), default=1e-3, show_default=True, help="s.")
@click.option("--legitimate-gap", type=click.FloatRange(0), default=10e-3, show_default=True, help="Mean, s.")
@click.option("--attack-gap", type=click.FloatRange(0), default=250e-6, show_default=True, help="Mean, s.")
@click.option("--attack-from", type=click.FloatRange(0), default=0.5, show_default=True, help="s.")
@click.option("--attack-until", type=click.FloatRange(0), help="s; for ever if not given.")
@click.option("--attack-size", type=float, default=1.0, show_default=True, help="In legitimate packets.")
@click.option("--access-utilization", type=float, default=0.5, show_default=True, help="Of the victim's link.")
@click.option("--utilization", type=float, default=0.2, show_default=True, help="Of the other links.")
@click.option("--exponential", is_flag=True, help="Times on a link are drawn.")
@click.option("--buffer", type=count, default="64", show_default=True, help="Packets of a router; 0: any number.")
@click.option("--measured-from", type=click.FloatRange(0), default=0.0, show_default=True, help="s.")
@click.option("--end", type=click.FloatRange(0), default=1.0, show_default=True, help="s.")
@plot_options
@run_options
def flood(*, plot: Path | None, plot_runs: int, as_json: bool, **options: object) -> None:
    """A denial-of-service attack: a bot-net floods a victim behind routers with finite queues."""
    with share_progress("simulating") as progress:
        found = models.flood(**as_arguments(options), progress=progress)
    if plot is not None:
        draw_flood(as_arguments(options), plot, plot_runs)
    if as_json:
        classes = {"legitimate": asdict(found.legitimate), "attack": asdict(found.attack)}
        click.echo(json.dumps(classes | counts_of(found.run)))
        return
    for name, packets in (("legitimate", found.legitimate), ("attack", found.attack)):
        click.echo(
            f"{name} packets: {packets.sent:,} sent, {packets.share_lost:.2%} lost; the others took "
            f"{packets.mean_delay * 1e3:.3f} ms on average"
        )
    show(f"flood, {where(options)}", found.run)


def draw_epidemic(found: models.EpidemicRun, options: dict[str, Any], plot: Path, runs: int) -> None:
    """What was found, amid the same epidemic with other seeds."""
    from ..pdes.plots import plot_epidemic

    tables = [found.to_pandas()]
    with share_progress("drawing") as progress:
        for i in range(1, runs):
            tables.append(models.epidemic(**options | {"seed": seed_after(options, i)}).to_pandas())
            progress((i + 1) / runs)
    save(plot_epidemic(tables), plot)


def draw_flood(options: dict[str, Any], plot: Path, runs: int) -> None:
    """The same attack with other numbers of bots, and other seeds; packets count that are sent while it lasts."""
    import pandas as pd

    from ..pdes.plots import plot_flood

    end = options["end"] if options["attack_until"] is None else min(options["attack_until"], options["end"])
    attack = options | {"measured_from": options["attack_from"], "end": end}
    numbers = sorted({options["bots"] * step // BOT_STEPS for step in range(BOT_STEPS + 1)})
    rows: list[dict[str, float]] = []
    with share_progress("drawing") as progress:
        for bots, i in product(numbers, range(runs)):
            run = models.flood(**attack | {"bots": bots, "seed": seed_after(options, i)})
            rows.append({"bots": bots, "lost": run.legitimate.share_lost, "delay": run.legitimate.mean_delay})
            progress(len(rows) / (len(numbers) * runs))
    save(plot_flood(pd.DataFrame(rows)), plot)


def seed_after(options: dict[str, Any], i: int) -> int:
    """The seed of the run number `i` of a plot; after the last one comes 0."""
    return int((options["seed"] + i) % 2**64)


def as_arguments(options: dict[str, object]) -> dict[str, Any]:
    """A command's options are named, and typed by click, as its function's arguments are."""
    return options


def save(figure: Figure, path: Path) -> None:
    """Write a figure. A format that there is not is wrong use."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise click.BadParameter(f"expected a name that ends with .png, .svg or .pdf, found '{path}'")
    figure.savefig(path, dpi=200)


def where(options: dict[str, object]) -> str:
    """By which scheduler, and on how much of the machine."""
    threads = options["threads"]
    text = f"{threads} {'thread' if threads == 1 else 'threads'}"
    if options["processes"] != 1:
        text = f"{options['processes']} processes of {text}"
    return f"{options['scheduler']} on {text}"


def counts_of(run: EventRun) -> dict[str, Any]:
    """What a run counted, for programs."""
    return {**asdict(run), "rate": run.rate, "warp": run.warp, "peak_rss_bytes": peak_memory()}


def show(what: str, run: EventRun) -> None:
    """What a run counted, for people."""
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
