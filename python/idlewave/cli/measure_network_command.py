"""``idlewave measure network``: the network between two ranks."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..errors import MeasurementError, UsageError
from ..formatting import plain_time
from ..host_environment import metadata_of_samples
from ..measure import NetworkMeasurement, assess_pair, measure_network
from ..measure.network.assessment import forget_beside, has_patterns, measure_quickly, read_assessment, read_quickly
from ..measure.network.files.network_files import (
    PARAMETERS,
    PATTERN_PARAMETERS,
    load_network,
    network_as_json,
    parameter_remark,
    pattern_remark,
    save_network,
)
from ..measure.network.files.network_recording import read_measurement, read_probe, transport_of
from ..measure.network.fitting.pattern_assessment import variants_of
from ..measure.network.job.collectives import CollectiveMeasurement, read_collectives
from ..measure.network.job.patterns import read_patterns
from ..measure.network.probing.job_run import epochs_of
from ..measure.network.transports import DEFAULT, local_transports
from ..measure.table_rows import records
from ..measurement_parameters import EPOCHS, LARGEST, MAX_SIZE, NETWORK_SECONDS, PATTERN_SECONDS
from ..output import write_table
from .figure_files import Picture, save_figure
from .interrupted_measurement import recording_folder
from .option_types import Count, OutputFile, OutputFolder, as_json, print_json, quick, refuse_given
from .parameter_options import option
from .terminal import progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..measure.network.fitting.pattern_assessment import PatternFit

FOLDER = OutputFolder()
EXISTING = click.Path(file_okay=False, exists=True, path_type=Path)
FILE = OutputFile()
CLASSES = {"to 256 B": 256, "to 4 KiB": 4096, "to 64 KiB": 65536, "larger": 2**62}
"""Sizes of the self-test's columns, by the largest of each."""
_UNITS = {"L": "L", "o_s": "o_s(1)", "o_r": "o_r(1)", "g": "g", "EEL": "round trip"}


@dataclass(frozen=True)
class _Wanted:
    """The options of a measurement."""

    transport: str | None
    seconds: float
    max_size: int | None
    hosts: str | None
    connect: str | None
    source: Path | None
    quick: bool
    pattern_seconds: float
    epochs: int
    speed: int | None


def _transport_names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """The transports that need no MPI; those of an MPI are known only after the probe has been compiled for it."""
    return [name for name in local_transports() if name.startswith(begun)]


@click.command()
@click.option(
    "--transport",
    metavar="NAME",
    shell_complete=_transport_names,
    help="What carries the messages (default: mpi): mpi, its one-sided put and get, or a transport that "
    "`idlewave-probe loggp-local --transports` lists.",
)
@option("seconds", float, NETWORK_SECONDS)
@option("pattern_seconds", float, PATTERN_SECONDS)
@option("epochs", int, EPOCHS)
@quick
@click.option(
    "--speed",
    type=Count(0),
    help="Of a machine that had several speeds, fit the parameters of this one, by its number in the notes (default: "
    "one of unshared cores, if it has enough samples).",
)
@option("max_size", int, LARGEST)
@click.option("--hosts", metavar="A,B", help="Measure between two nodes: one rank on each.")
@click.option(
    "--connect",
    metavar="HOST:PORT",
    help="Measure to where `idlewave-probe loggp-local --listen HOST:PORT` waits (tcp, udp).",
)
@click.option("--from", "source", type=EXISTING, help="Estimate what a probe recorded in this folder; measure nothing.")
@click.option("-o", "--output", "folder", type=FOLDER, help="Write machine.toml, samples and fit here.")
@click.option("--name", default=platform.node(), help="The machine's name (default: the host's).")
@click.option("--node", type=EXISTING, help="A measurement within a node (made with -o): becomes [network.node].")
@click.option("--node-ranks", type=Count(1), help="Ranks of a node, for --node.")
@click.option("--methods", is_flag=True, help="Show what earlier methods give beside PRTT.")
@click.option(
    "--plot", type=Picture(), help="Draw curves and fit; with --methods those; NAME-latency.EXT the distribution."
)
@click.option("--samples", type=FILE, help="Write the raw samples (Parquet).")
@as_json
@click.pass_context
def network(
    context: click.Context,
    transport: str | None,
    seconds: float,
    pattern_seconds: float,
    epochs: int,
    quick: bool,
    speed: int | None,
    max_size: int | None,
    hosts: str | None,
    connect: str | None,
    source: Path | None,
    folder: Path | None,
    name: str,
    node: Path | None,
    node_ranks: int | None,
    methods: bool,
    plot: Path | None,
    samples: Path | None,
    as_json: bool,
) -> None:
    """Measure the LogGOPS parameters between two processes with PRTT(n,d,s) and with patterns of messages.

    Over MPI the parameters are fitted to patterns that programs have, and the command ends with a self-test: how far
    the simulation with these parameters is off on each pattern.

    By hand, under Slurm: `srun -n 2 idlewave-probe loggp --output DIR`, then `idlewave measure network --from DIR`.
    """
    if (node is None) != (node_ranks is None):
        raise UsageError("--node and --node-ranks belong together")
    if source is not None:
        refuse_given(
            context,
            ("hosts", "connect", "seconds", "pattern_seconds", "epochs", "max_size"),
            "--from measures nothing",
        )
    if quick or not has_patterns(transport or DEFAULT) or connect is not None:
        refuse_given(
            context, ("pattern_seconds", "epochs", "speed"), "no patterns are measured: they are calls of two-sided MPI"
        )
    if folder is None:
        refuse_given(context, ("name", "node", "node_ranks"), "no machine is written without -o")
    if hosts is not None and connect is not None:
        raise UsageError("--hosts starts a probe on each of two hosts, --connect one alone: expected one of them")
    within = None if node is None else load_network(node)
    wanted = _Wanted(transport, seconds, max_size, hosts, connect, source, quick, pattern_seconds, epochs, speed)
    found = _obtain(wanted, folder)
    table = _methods(found) if methods else None
    written = []
    if folder is not None:
        written.append(save_network(folder, found, name, within, node_ranks or 1))
    if samples is not None:
        write_table(samples, found.samples, metadata_of_samples("network", found.environment))
        written.append(samples)
    if plot is not None:
        written += _draw(plot, found, table)
    if as_json:
        from ..measure.network.fitting.latency_distribution import latency_quantiles

        said = network_as_json(found) | {"notes": found.notes, "latency": records(latency_quantiles(found.samples))}
        print_json(said if table is None else said | {"methods": records(table)})
        return
    show_network(found)
    if table is not None:
        show_methods(table)
    for file in written:
        say(f"written: {file}")


def _obtain(wanted: _Wanted, folder: Path | None) -> NetworkMeasurement:
    if wanted.source is not None:
        if (wanted.source / "network.json").is_file() and not (wanted.source / "samples.csv").is_file():
            found = load_network(wanted.source)
        else:
            found = _read(wanted)
        if wanted.transport not in (None, found.transport):
            raise UsageError(f"{wanted.source} was measured over {found.transport}, not over {wanted.transport}")
        return found
    hosts = tuple(h.strip() for h in wanted.hosts.split(",")) if wanted.hosts else ()
    raw = None if folder is None else folder / "raw"
    shown_by = {"network-*/samples.csv": "idlewave measure network --from"}
    with recording_folder(raw, shown_by) as place, progress_bar() as progress:
        if has_patterns(wanted.transport or DEFAULT) and wanted.connect is None and not wanted.quick:
            return assess_pair(
                seconds=wanted.seconds,
                pattern_seconds=wanted.pattern_seconds,
                epochs=wanted.epochs,
                speed=wanted.speed,
                max_size=wanted.max_size,
                hosts=hosts,
                progress=progress,
                folder=place,
            )
        forget_beside(place)
        measure = measure_quickly if wanted.quick else measure_network
        return measure(
            seconds=wanted.seconds,
            max_size=MAX_SIZE.default if wanted.max_size is None else wanted.max_size,
            progress=progress,
            folder=place,
            transport=wanted.transport or DEFAULT,
            hosts=hosts,
            connect=wanted.connect,
        )


def _read(wanted: _Wanted) -> NetworkMeasurement:
    """A recording of PRTT, and that of the patterns of the same ranks beside it, if there is one."""
    folder = wanted.source
    assert folder is not None
    for place in () if wanted.quick else (folder / "patterns", folder.parent / "patterns"):
        if not any(place.glob("epoch-*/patterns.json")):
            continue
        patterns = read_patterns(place)
        prtt = read_probe(folder)
        hosts = [[rank.get("host") for rank in (said.get("ranks") or ())[:2]] for said in (prtt, patterns.probe)]
        if has_patterns(transport_of(prtt).name) and hosts[0] == hosts[1]:
            collectives = _collectives_beside(place.parent, hosts[0])
            return read_assessment(folder, patterns, wanted.speed, wanted.transport, collectives)
    read = read_quickly if wanted.quick else read_measurement
    return read(folder, wanted.transport)


def _collectives_beside(folder: Path, hosts: list[object]) -> CollectiveMeasurement | None:
    """The collectives of the same ranks beside a recording; None if there are none, or an interrupt left them empty."""
    place = folder / "collectives"
    if not epochs_of(place, "collectives"):
        return None
    try:
        found = read_collectives(place)
    except MeasurementError:
        return None
    return found if [rank.get("host") for rank in found.probe["ranks"]] == hosts else None


def _methods(found: NetworkMeasurement) -> pd.DataFrame:
    from ..measure.network.fitting.earlier_methods import compare_methods

    return compare_methods(found.samples, found.fit)


def _draw(file: Path, found: NetworkMeasurement, table: pd.DataFrame | None) -> list[Path]:
    """Draw the curves, or the methods; and beside them the distribution."""
    from ..measure.network.plots.curve_plot import plot_fit
    from ..measure.network.plots.method_plots import plot_distribution, plot_methods

    beside = file.with_name(f"{file.stem}-latency{file.suffix}")
    figures = {
        file: plot_fit(found.fit) if table is None else plot_methods(table),
        beside: plot_distribution(found.samples),
    }
    if found.patterns is not None:
        from ..measure.network.plots.pattern_plot import plot_patterns

        figures[file.with_name(f"{file.stem}-patterns{file.suffix}")] = plot_patterns(found.patterns.table)
    if found.collectives is not None:
        from ..measure.network.plots.collective_plot import plot_collectives

        figures[file.with_name(f"{file.stem}-collectives{file.suffix}")] = plot_collectives(found.collectives.table)
    for target, figure in figures.items():
        save_figure(figure, target)
    return list(figures)


def show_network(found: NetworkMeasurement) -> None:
    """Print a row for each parameter and range of sizes, with its 95 % interval."""
    if found.patterns is not None:
        _show_patterns(found.carrier, found.patterns)
        if found.collectives is not None:
            from .collective_tables import show_rules

            show_rules(found.collectives, "this network")
    else:
        _show_prtt(found)
    for note in found.notes:
        say_note(note)


def _show_patterns(carrier: str, fit: PatternFit) -> None:
    """The parameters fitted to patterns, and the self-test."""
    say(f"Network: LogGOPS parameters over {carrier}, fitted to patterns of messages, with 95 % intervals", bold=True)
    for r in fit.ranges:
        kind = "rendezvous" if fit.S is not None and r.first > fit.S else "eager"
        say(f"  from {r.first} B ({kind})")
        for key in PATTERN_PARAMETERS:
            unit = " per byte" if key in ("G", "O_s", "O_r") else ""
            said = pattern_remark(r, key).removeprefix("95 %: ").replace(" to ", " … ")
            say(f"    {key:<4}{plain_time(getattr(r.parameters, key)):>10}{unit}   {said}")
    say(f"    S   {'every message is eager' if fit.S is None else f'{fit.S} B'}")
    show_table(_by_class(fit.table), "Self-test: errors of the simulation on what was measured, median and worst")


def _by_class(table: pd.DataFrame) -> pd.DataFrame:
    """A row a pattern and its variant, a column a class of sizes: the median of the errors' sizes, and the largest
    error."""
    import pandas as pd

    rows = []
    edges = [-1, *CLASSES.values()]
    for (pattern, variant), part in table.groupby([table["pattern"], variants_of(table)], sort=False):
        row: dict[str, Any] = {"pattern": pattern, "variant": variant}
        for name, above, most in zip(CLASSES, edges, edges[1:], strict=False):
            errors = part.loc[(part["size"] > above) & (part["size"] <= most), "error"].to_numpy()
            worst = max(errors, key=abs, default=0.0)
            row[name] = f"{np.median(np.abs(errors)):.0%}, {worst:+.0%}" if len(errors) else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def _show_prtt(found: NetworkMeasurement) -> None:
    say(f"Network: LogGOPS parameters over {found.carrier}, with 95 % intervals", bold=True)
    for r in found.fit.ranges:
        kind = "rendezvous" if r.rendezvous else "eager"
        exact = r.onset[0] == r.onset[1] or r.cause == "start"
        begins = "" if exact else f", 95 %: {r.onset[0]} to {r.onset[1]}"
        say(f"  from {r.first} B ({kind}{begins})")
        for key in PARAMETERS:
            unit = " per byte" if key in ("G", "O") else ""
            said = parameter_remark(r, key).removeprefix("95 %: ").replace(" to ", " … ")
            say(f"    {key:<4}{plain_time(getattr(r.parameters, key)):>10}{unit}   {said}")
    limit = "not known: every message is taken as eager" if found.fit.S is None else f"{found.fit.S} B"
    say(f"    S   {limit}")


def show_methods(table: pd.DataFrame) -> None:
    """Print a row for each method, a column for each parameter, with 95 % intervals; at the smallest message."""
    import pandas as pd

    from ..measure.network.fitting.earlier_methods import at_smallest_size

    rows: list[dict[str, Any]] = []
    for method, found in at_smallest_size(table).items():
        row: dict[str, Any] = {"method": method}
        for name, title in _UNITS.items():
            if name in found:
                value, low, high = (plain_time(x, 3) for x in found[name])
                row[title] = f"{value} ({low} … {high})"
            else:
                row[title] = "–"
        rows.append(row)
    show_table(pd.DataFrame(rows), "By other methods, at the smallest message, with 95 % intervals")
