"""``idlewave pdes``: models on the kernel of the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import click

from .. import pdes as models
from ..pdes.epidemic import EpidemicOptions
from ..pdes.flood import FloodOptions
from ..pdes.phold import PholdOptions
from ..provenance import Provenance, provenance_entry
from .figure_files import Picture, save_figure
from .kernel_options import STATISTICS, counts_of, show_run, where, write_statistics
from .lazy_groups import Commands
from .option_types import Count, as_json, print_json
from .parameter_options import options_of
from .progress import share_progress

F = TypeVar("F", bound=Callable[..., Any])
NOT_KEPT: dict[str, Any] = {"checkpoint": None, "restart": False}
"""The options of runs for a picture: they write no checkpoints."""
BOT_STEPS = 8
"""The number of different numbers of bots in a plot, besides none."""


def model_options(table: type) -> Callable[[F], F]:
    """The options of a model: its parameters, the run configuration, --statistics and --json."""

    def add(command: F) -> F:
        return options_of(table)(STATISTICS(as_json(command)))

    return add


PLOT = click.option("--plot", type=Picture(), help="Draw it (.png, .svg, .pdf).")


def plot_options(command: F) -> F:
    """The options of a plot: its file, and the number of runs in it."""
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
@model_options(PholdOptions)
@PLOT
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
@model_options(EpidemicOptions)
@plot_options
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
        f"on day {found.peak}: {found.infectious[found.peak]:,} persons"
    )
    show_run(f"epidemic, {where(options)}", found.run)


@pdes.command()
@model_options(FloodOptions)
@plot_options
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
        if packets.sent == 0:
            click.echo(f"{name} packets: none sent")
            continue
        click.echo(
            f"{name} packets: {packets.sent:,} sent, {packets.share_lost:.2%} lost; the others took "
            f"{packets.mean_delay * 1e3:.3f} ms on average"
        )
    show_run(f"flood, {where(options)}", found.run)


def draw_epidemic(found: models.EpidemicRun, options: dict[str, Any], plot: Path, runs: int) -> None:
    """Draw the result among those of the same epidemic with other seeds."""
    from ..pdes.plots import plot_epidemic

    options = options | NOT_KEPT
    tables = [found.to_pandas()]
    with share_progress("drawing") as progress:
        for i in range(1, runs):
            tables.append(models.epidemic(**options | {"seed": seed_after(options, i)}).to_pandas())
            progress((i + 1) / runs)
    save_figure(plot_epidemic(tables), plot)


def draw_flood(options: dict[str, Any], plot: Path, runs: int) -> None:
    """Draw the same attack with other numbers of bots and other seeds; only packets sent during the attack count."""
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
    """The provenance of a run of a model that ends now."""
    given = {name: value for name, value in options.items() if value is not None}
    return Provenance.made("run", model, by=f"idlewave.pdes.{model}", options=given)


def seed_after(options: dict[str, Any], i: int) -> int:
    """The seed of the run number `i` of a plot; after the last one comes 0."""
    return int((options["seed"] + i) % 2**64)


def as_arguments(options: dict[str, object]) -> dict[str, Any]:
    """A command's options as keyword arguments: click names and types them as the function's arguments."""
    return options
