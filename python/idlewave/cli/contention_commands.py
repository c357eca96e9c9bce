"""``idlewave contention make|measure|remedy``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from ..contention.columns import COMMAND, RATES, TRAFFIC_KINDS, VICTIMS
from ..formatting import percent_text, plain_time, si_text
from ..measurement_parameters import ContentionParameters
from ..parameters import parameters_of
from ..units import parse_size
from .contention_tables import estimate_texts, slowdown_texts
from .figure_files import Picture, save_figure
from .option_types import Count, Lasting, Names, OutputFolder, Size, as_json, print_json, refuse_given
from .parameter_options import Numbers, option_of, options_of
from .terminal import errors, progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..contention.remedies import Remedies

TABLE = click.Path(path_type=Path)
rates_option = click.option(
    "--rates",
    type=Numbers(",", parse_size, "bytes per second"),
    default=RATES,
    show_default=",".join(f"{si_text(rate)}B" for rate in RATES),
    help="Rates of the traffic, in bytes per second.",
)
recorded_option = click.option("--from", "recorded", type=TABLE, help="Show a recorded table instead.")
folder_option = click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    help="Keep the table here; an interrupted measurement is continued.",
)


@click.command()
@click.option("--rate", type=Size(1), required=True, help="Bytes per second, such as 1GB.")
@click.option(
    "--for",
    "seconds",
    type=Lasting(0.01, 1e7),
    default=10.0,
    show_default="10s",
    metavar="TIME",
    help="How long: 500ms, 90s, 30m.",
)
@click.option("--cores", type=Count(1, 8192), default=1, show_default=True, help="Cores that write.")
@option_of(ContentionParameters, "pattern")
@option_of(ContentionParameters, "stores")
@option_of(ContentionParameters, "buffer")
@option_of(ContentionParameters, "seed")
@as_json
def make(
    rate: int,
    seconds: float,
    cores: int,
    pattern: str,
    stores: str,
    buffer: int,
    seed: int,
    as_json: bool,
) -> None:
    """Write into memory at a rate, from the last cores that this process may use, and say what rate was reached."""
    from ..contention.traffic import Traffic, make_traffic, rate_note

    traffic = Traffic("writer", float(rate), pattern, stores, cores, buffer)
    with progress_bar() as progress:
        said = make_traffic(traffic, seconds, progress=progress, seed=seed)
    if as_json:
        print_json(said)
        return
    share = percent_text(said["achieved_rate"] / said["asked_rate"])
    say(
        f"{si_text(said['written'])}B were written in {plain_time(said['traffic_seconds'] * 1e12, 4)} by the CPUs "
        f"{said['writer_cpus']}: {si_text(said['achieved_rate'], 4)}B/s, {share} of the asked rate"
    )
    if not said["reached"]:
        say_note(rate_note(said["asked_rate"], said["achieved_rate"]))


@click.command()
@click.option(
    "--victims", type=Names(), metavar="A,B,...", help=f"Of {', '.join(VICTIMS)} (default: all; none beside a command)."
)
@rates_option
@click.option(
    "--cores",
    type=Numbers(",", parse_size, "numbers of cores"),
    default=(1,),
    show_default="1",
    help="Numbers of cores that write; 0: the victim's own core handles the traffic.",
)
@click.option(
    "--traffic",
    type=click.Choice(TRAFFIC_KINDS),
    default="writer",
    show_default=True,
    help="What writes: threads, or an MPI rank.",
)
@options_of(ContentionParameters)
@folder_option
@recorded_option
@as_json
@click.option("--plot", type=Picture(), help="Draw the slowdowns; NAME-correlations.EXT has what goes with the time.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def measure(
    context: click.Context,
    victims: list[str] | None,
    rates: tuple[int, ...],
    cores: tuple[int, ...],
    traffic: str,
    folder: Path | None,
    recorded: Path | None,
    as_json: bool,
    plot: Path | None,
    command: tuple[str, ...],
    **options: Unpack[ContentionParameters],
) -> None:
    """Measure how traffic into memory slows victims, or a COMMAND behind --, which is timed as a whole.

    Each victim runs without and with the traffic, in pairs and in random order; its results are checked.
    """
    from ..contention.impact_statistics import correlation_table, impact_table, normalisation_notes, rate_notes
    from ..contention.table_folder import read_contention

    if recorded is not None:
        given = ("victims", "rates", "cores", "traffic", "folder", "command", *parameters_of(ContentionParameters))
        refuse_given(context, given, "--from measures nothing")
        table = read_contention(recorded)
    else:
        from ..contention.impact import contention_impact

        chosen = victims if victims is not None else [] if command else list(VICTIMS)
        with progress_bar(count=True) as progress:
            table = contention_impact(
                [*chosen, *([COMMAND] if command else [])],
                rates,
                cores,
                traffic=traffic,
                command=command,
                folder=folder,
                progress=progress,
                **options,
            )
    impact, correlations = impact_table(table), correlation_table(table)
    notes = [*_counter_notes(table), *rate_notes(table), *normalisation_notes(table)]
    if as_json:
        from ..measure.table_rows import records

        print_json({"impact": records(impact), "correlations": records(correlations), "notes": notes})
    else:
        _show_impact(impact)
        _show_correlations(correlations)
        for note in notes:
            say_note(note)
    if plot is not None:
        from ..contention.plots import plot_contention_correlations, plot_contention_impact

        beside = plot.with_stem(f"{plot.stem}-correlations")
        save_figure(plot_contention_impact(impact), plot)
        save_figure(plot_contention_correlations(correlations), beside)
        errors.print(f"written: {plot}, {beside}")
    if folder is not None:
        errors.print(f"written: {folder}; to show it again: idlewave contention measure --from {folder}")


@click.command()
@click.option("--victim", help=f"One of {', '.join(VICTIMS)} (default: cg; with --from the only one there).")
@rates_option
@click.option(
    "--node-cores", type=Count(2, 100_000), help="Cores over which the computation scales (default: this process's)."
)
@click.option("--spare", is_flag=True, help="Nothing computes on the core to reserve.")
@options_of(ContentionParameters)
@folder_option
@recorded_option
@as_json
@click.option("--plot", type=Picture(), help="Draw the time that each remedy takes beyond the computation's.")
@click.pass_context
def remedy(
    context: click.Context,
    victim: str | None,
    rates: tuple[int, ...],
    node_cores: int | None,
    spare: bool,
    folder: Path | None,
    recorded: Path | None,
    as_json: bool,
    plot: Path | None,
    **options: Unpack[ContentionParameters],
) -> None:
    """Compare throttling the traffic at its origin with reserving a core for it.

    A victim runs beside traffic that its own core handles, and beside traffic on another core; docs/contention.md says
    how the time of each remedy follows.
    """
    from ..contention.remedies import contention_remedies, remedies_of
    from ..contention.table_folder import read_contention

    if recorded is not None:
        refuse_given(context, ("rates", "folder", *parameters_of(ContentionParameters)), "--from measures nothing")
        found = remedies_of(read_contention(recorded), victim, node_cores=node_cores, spare=spare)
    else:
        with progress_bar(count=True) as progress:
            found = contention_remedies(
                victim or "cg", rates, node_cores=node_cores, spare=spare, folder=folder, progress=progress, **options
            )
    if as_json:
        print_json(_remedies_as_json(found))
    else:
        _show_remedies(found)
    if plot is not None:
        from ..contention.plots import plot_contention_remedies

        save_figure(plot_contention_remedies(found.table, found.threshold), plot)
        errors.print(f"written: {plot}")


def _show_impact(impact: pd.DataFrame) -> None:
    shown = impact[["victim", "traffic", "cores"]].copy()
    shown["asked"] = [f"{si_text(rate)}B/s" for rate in impact["pair_rate_Bps"]]
    shown["reached"] = [f"{si_text(rate)}B/s" for rate in impact["achieved_rate_Bps"]]
    for name, column in (("without", "quiet_s"), ("with", "traffic_s")):
        shown[name] = [plain_time(seconds * 1e12, 3) for seconds in impact[column]]
    shown["time with / without"] = slowdown_texts(impact)
    shown["pairs"] = impact["pairs"]
    show_table(shown, "Impact of traffic into memory on an iteration, with 95 % confidence intervals")


def _show_correlations(correlations: pd.DataFrame) -> None:
    if correlations.empty:
        return
    shown = correlations[["traffic", "metric", "column"]].copy()
    shown["correlation"] = estimate_texts(correlations, "correlation", "low", "high")
    show_table(shown, "What goes with the time of an iteration, all victims, each over its median without traffic")


def _counter_notes(table: pd.DataFrame) -> list[str]:
    counters = [name for name in table.columns if name.startswith("counter.")]
    if any(table[name].notna().any() for name in counters):
        return []
    return [
        "The processor's counters cannot be read here: latency and bandwidth of memory were sampled in their place."
    ]


def _show_remedies(found: Remedies) -> None:
    wide = found.table.copy()
    wide["text"] = [
        f"{percent_text(middle)} ({percent_text(low)} to {percent_text(high)})"
        for middle, low, high in zip(wide["overhead"], wide["low"], wide["high"], strict=True)
    ]
    demands = sorted(wide["demand_Bps"].unique())
    few = demands[:: max(len(demands) // 8, 1)]
    shown = wide[wide["demand_Bps"].isin(few)].pivot(index="demand_Bps", columns="remedy", values="text").reset_index()
    shown["demand_Bps"] = [f"{si_text(demand)}B/s" for demand in shown["demand_Bps"]]
    names = ["demand_Bps", *dict.fromkeys(wide["remedy"])]
    show_table(
        shown[names].rename(columns={"demand_Bps": "demand"}),
        f"{found.victim}: time beyond the computation's own until it and the transfer have ended (95 % confidence)",
    )
    say(found.sentence)


def _remedies_as_json(found: Remedies) -> dict[str, Any]:
    import math

    from ..measure.table_rows import records

    high = found.threshold_high
    return {
        "victim": found.victim,
        "node_cores": found.node_cores,
        "spare": found.spare,
        "threshold": found.threshold,
        "threshold_low": found.threshold_low if math.isfinite(found.threshold_low) else None,
        "threshold_high": high if math.isfinite(high) else None,
        "found_share": found.found_share,
        "sentence": found.sentence,
        "remedies": records(found.table),
    }
