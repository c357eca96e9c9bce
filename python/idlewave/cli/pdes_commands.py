"""``idlewave pdes``: models on the kernel of the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import click

from .. import pdes as models
from ..kernel import PLACEMENTS
from ..provenance import Provenance
from ..provenance_in_files import provenance_entry
from .figure_files import Picture, save_figure
from .kernel_options import (
    DISTRIBUTION,
    SCHEDULER,
    STATISTICS,
    THREADS,
    Placement,
    all_of,
    counts_of,
    show_run,
    where,
    write_statistics,
)
from .lazy_groups import Commands
from .option_types import Count, as_json, print_json
from .progress import share_progress

F = TypeVar("F", bound=Callable[..., Any])
NOT_KEPT: dict[str, Any] = {"checkpoint": None, "restart": False}
"""Of runs for a picture."""
BOT_STEPS = 8
"""Numbers of bots of which a plot shows the effect, beside none."""


run_options = all_of(
    (
        click.option("--seed", type=Count(0, 2**64 - 1), default=1, show_default=True),
        SCHEDULER,
        THREADS,
        click.option("--placement", type=Placement(), default=PLACEMENTS[0], show_default=True),
        *DISTRIBUTION,
        STATISTICS,
        as_json,
    )
)
"""The options of a run configuration."""


PLOT = click.option("--plot", type=Picture(), help="Draw it (.png, .svg, .pdf).")


def plot_options(command: F) -> F:
    """Whether to draw what was found, and of how many runs."""
    runs = click.option(
        "--plot-runs",
        type=Count(1),
        default=5,
        show_default=True,
        help="Seeds that are drawn, from --seed on.",
    )
    return PLOT(runs(command))


@click.group(cls=Commands)
def pdes() -> None:
    """Run a model on the kernel: a parallel discrete-event simulation."""


@pdes.command()
@click.option("--lps", type=Count(), default="1024", show_default=True, help="Logical processes (1e6 will do).")
@click.option("--start-events", type=Count(0), default=16, show_default=True, help="Of each LP.")
@click.option("--remote", type=click.FloatRange(0, 1), default=0.1, show_default=True, help="Share sent to any LP.")
@click.option("--mean", type=click.FloatRange(0), default=0.9, show_default=True, help="Of the exponential delay.")
@click.option("--lookahead", type=click.FloatRange(0), default=0.1, show_default=True, help="Added to it.")
@click.option("--end", type=click.FloatRange(0), default=10.0, show_default=True, help="Of simulated time.")
@click.option(
    "--conservative", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share that never goes ahead."
)
@PLOT
@run_options
def phold(*, plot: Path | None, statistics: Path | None, as_json: bool, **options: object) -> None:
    """Events that LPs pass on: the benchmark of the field."""
    with share_progress("simulating") as progress:
        run = models.phold(**as_arguments(options), progress=progress)
    provenance = provenance_of("phold", options)
    write_statistics(run, statistics, provenance)
    if plot is not None:
        from ..pdes.plots import plot_run

        save_figure(plot_run(run.series_to_pandas(), tick=1e-6, unit="PHOLD's time"), plot)
    if as_json:
        print_json(counts_of(run) | provenance_entry(provenance))
        return
    show_run(f"phold, {options['lps']} LPs, {where(options)}", run)


@pdes.command()
@click.option("--persons", type=Count(), default="1e5", show_default=True)
@click.option("--districts", type=Count(), default="1", show_default=True, help="Connected by travel alone.")
@click.option("--home-contacts", type=click.FloatRange(0), default=4.0, show_default=True, help="A day.")
@click.option("--work-contacts", type=click.FloatRange(0), default=4.5, show_default=True, help="A day.")
@click.option("--travel-contacts", type=click.FloatRange(0), default=4.5, show_default=True, help="A day.")
@click.option("--transmission", type=click.FloatRange(0, 1), default=0.04, show_default=True, help="Of a contact.")
@click.option("--latent", type=click.FloatRange(0), default=1.9, show_default=True, help="Mean, days.")
@click.option("--infectious", type=click.FloatRange(0), default=4.1, show_default=True, help="Mean, days.")
@click.option("--contact", type=click.FloatRange(0), default=1 / 96, show_default="1/96", help="Length, days.")
@click.option("--first-infectious", type=Count(), default="10", show_default=True, help="Persons.")
@click.option("--vaccinated", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share, at first.")
@click.option("--isolated", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share of the ill.")
@click.option("--isolated-after", type=click.FloatRange(0), default=0.0, show_default=True, help="Days.")
@click.option("--workplaces-close", type=click.FloatRange(0), help="On that day.")
@click.option("--workplaces-reopen", type=click.FloatRange(0), help="On that day.")
@click.option("--days", type=Count(0), default=180, show_default=True)
@plot_options
@run_options
def epidemic(*, plot: Path | None, plot_runs: int, statistics: Path | None, as_json: bool, **options: object) -> None:
    """Pandemic flu in a city with homes, places of work, and travel."""
    with share_progress("simulating") as progress:
        found = models.epidemic(**as_arguments(options), progress=progress)
    provenance = provenance_of("epidemic", options)
    write_statistics(found.run, statistics, provenance)
    if plot is not None:
        draw_epidemic(found, as_arguments(options), plot, plot_runs)
    if as_json:
        days = {name: getattr(found, name) for name in ("susceptible", "exposed", "infectious", "recovered", "immune")}
        print_json({"days": days} | counts_of(found.run) | provenance_entry(provenance))
        return
    click.echo(
        f"{options['persons']:,} persons: {found.attack_rate:.1%} infected in {options['days']} days; most infectious "
        f"on day {found.peak}, {found.infectious[found.peak]:,}"
    )
    show_run(f"epidemic, {where(options)}", found.run)


@pdes.command()
@click.option("--routers", type=Count(), default="64", show_default=True)
@click.option("--hosts", type=Count(), default="1024", show_default=True)
@click.option("--bots", type=Count(), default="128", show_default=True, help="Of the hosts.")
@click.option("--link-delay", type=click.FloatRange(0), default=1e-3, show_default=True, help="s.")
@click.option("--legitimate-gap", type=click.FloatRange(0), default=10e-3, show_default=True, help="Mean, s.")
@click.option("--attack-gap", type=click.FloatRange(0), default=250e-6, show_default=True, help="Mean, s.")
@click.option("--attack-from", type=click.FloatRange(0), default=0.5, show_default=True, help="s.")
@click.option("--attack-until", type=click.FloatRange(0), help="s; for ever if not given.")
@click.option("--attack-size", type=float, default=1.0, show_default=True, help="In legitimate packets.")
@click.option("--access-utilization", type=float, default=0.5, show_default=True, help="Of the victim's link.")
@click.option("--utilization", type=float, default=0.2, show_default=True, help="Of the other links.")
@click.option("--exponential", is_flag=True, help="Times on a link are drawn.")
@click.option("--buffer", type=Count(), default="64", show_default=True, help="Packets of a router; 0: any number.")
@click.option("--measured-from", type=click.FloatRange(0), default=0.0, show_default=True, help="s.")
@click.option("--end", type=click.FloatRange(0), default=1.0, show_default=True, help="s.")
@plot_options
@run_options
def flood(*, plot: Path | None, plot_runs: int, statistics: Path | None, as_json: bool, **options: object) -> None:
    """A denial-of-service attack: a bot-net floods a victim behind routers with finite queues."""
    with share_progress("simulating") as progress:
        found = models.flood(**as_arguments(options), progress=progress)
    provenance = provenance_of("flood", options)
    write_statistics(found.run, statistics, provenance)
    if plot is not None:
        draw_flood(as_arguments(options), plot, plot_runs)
    if as_json:
        classes = {"legitimate": asdict(found.legitimate), "attack": asdict(found.attack)}
        print_json(classes | counts_of(found.run) | provenance_entry(provenance))
        return
    for name, packets in (("legitimate", found.legitimate), ("attack", found.attack)):
        click.echo(
            f"{name} packets: {packets.sent:,} sent, {packets.share_lost:.2%} lost; the others took "
            f"{packets.mean_delay * 1e3:.3f} ms on average"
        )
    show_run(f"flood, {where(options)}", found.run)


def draw_epidemic(found: models.EpidemicRun, options: dict[str, Any], plot: Path, runs: int) -> None:
    """What was found, amid the same epidemic with other seeds."""
    from ..pdes.plots import plot_epidemic

    options = options | NOT_KEPT
    tables = [found.to_pandas()]
    with share_progress("drawing") as progress:
        for i in range(1, runs):
            tables.append(models.epidemic(**options | {"seed": seed_after(options, i)}).to_pandas())
            progress((i + 1) / runs)
    save_figure(plot_epidemic(tables), plot)


def draw_flood(options: dict[str, Any], plot: Path, runs: int) -> None:
    """The same attack with other numbers of bots, and other seeds; packets count that are sent while it lasts."""
    import pandas as pd

    from ..pdes.plots import plot_flood

    end = options["end"] if options["attack_until"] is None else min(options["attack_until"], options["end"])
    attack = options | NOT_KEPT | {"measured_from": options["attack_from"], "end": end}
    numbers = sorted({options["bots"] * step // BOT_STEPS for step in range(BOT_STEPS + 1)})
    rows: list[dict[str, float]] = []
    with share_progress("drawing") as progress:
        for bots, i in product(numbers, range(runs)):
            run = models.flood(**attack | {"bots": bots, "seed": seed_after(options, i)})
            rows.append({"bots": bots, "lost": run.legitimate.share_lost, "delay": run.legitimate.mean_delay})
            progress(len(rows) / (len(numbers) * runs))
    save_figure(plot_flood(pd.DataFrame(rows)), plot)


def provenance_of(model: str, options: dict[str, object]) -> Provenance:
    """Of a run of a model that is finished now."""
    given = {name: value for name, value in options.items() if value is not None}
    return Provenance.made("run", model, by=f"idlewave.pdes.{model}", options=given)


def seed_after(options: dict[str, Any], i: int) -> int:
    """The seed of the run number `i` of a plot; after the last one comes 0."""
    return int((options["seed"] + i) % 2**64)


def as_arguments(options: dict[str, object]) -> dict[str, Any]:
    """A command's options are named, and typed by click, as its function's arguments are."""
    return options
