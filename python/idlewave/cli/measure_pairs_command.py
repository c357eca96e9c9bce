"""``idlewave measure pairs``: the paths between all ranks of a job, and the network's levels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Unpack

import click

from ..host_environment import provenance_of
from ..measure.network.job.latency_levels import listed
from ..measure.network.job.pairs import PairMeasurement, machine_of, measure_pairs, read_pairs
from ..measurement_parameters import PairsParameters
from ..output import write_text
from ..parameters import parameters_of
from ..provenance import Provenance
from ..provenance_in_files import comment
from .figure_files import Picture, save_figure
from .interrupted_measurement import recording_folder
from .option_types import Count, OutputFile, OutputFolder, as_json, print_json, refuse_given
from .parameter_options import options_of
from .terminal import errors, progress_bar, say, say_note, show_table

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("-n", "ranks", type=Count(2), help="Ranks to start.")
@options_of(PairsParameters)
@click.option("--from", "recorded", type=FOLDER, help="Show a recording instead: the folder of idlewave-pairs.")
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Keep the samples here.")
@as_json
@click.option("--plot", type=Picture(), help="Write the matrix as a picture (PNG, PDF, SVG).")
@click.option("--machine", type=OutputFile(), help="Write the levels as a machine.toml.")
@click.pass_context
def pairs(
    context: click.Context,
    ranks: int | None,
    recorded: Path | None,
    folder: Path | None,
    as_json: bool,
    plot: Path | None,
    machine: Path | None,
    **options: Unpack[PairsParameters],
) -> None:
    """Measure latency, o, g and G between all ranks of a job, and find the network's levels (node, switch)."""
    if (ranks is None) == (recorded is None):
        raise click.UsageError("either -n RANKS or --from FOLDER is needed")
    if recorded is not None:
        refuse_given(context, ("folder", *parameters_of(PairsParameters)), "--from measures nothing")
        found = read_pairs(recorded)
    else:
        assert ranks is not None
        shown_by = {"pairs.csv": "idlewave measure pairs --from"}
        with recording_folder(folder, shown_by) as place, progress_bar() as progress:
            found = measure_pairs(ranks, progress=progress, folder=place, **options)
    if as_json:
        print_json(_as_json(found))
    else:
        _show(found)
    if plot is not None:
        from ..measure.network.plots.pair_plots import plot_pairs

        save_figure(plot_pairs(found), plot)
        errors.print(f"written: {plot}")
    if machine is not None:
        made = machine_of(found)
        source = provenance_of("pairs", found.environment or {})
        digests = made.provenance.digests
        said = Provenance.made("machine", made.name, by="idlewave measure pairs", digests=digests, sources=(source,))
        write_text(machine, comment(said) + made.to_toml())
        errors.print(f"written: {machine}")


def _show(found: PairMeasurement) -> None:
    full = found.levels
    table = full[["level", "groups", "pairs"]].copy()
    for name, unit in (("latency", "ns"), ("L", "ns"), ("o", "ns"), ("g", "ns"), ("G", "ns/B")):
        table[f"{name} ({unit})"] = full[f"{name}_ns"]
    formats = {column: ".1f" for column in table.columns if str(column).endswith("(ns)")}
    show_table(table, "Levels: medians over pairs", {**formats, "G (ns/B)": ".4f"})
    latency, hosts = found.pairs["latency_ns"], len(set(found.hosts))
    say(
        f"{len(found.pairs)} pairs of {len(found.hosts)} ranks on {hosts} host{'s' if hosts > 1 else ''}; "
        f"half a round trip: {latency.min():.0f} to {latency.max():.0f} ns, median {latency.median():.0f} ns, "
        f"{found.pairs['n'].median():.0f} samples a pair"
    )
    for level in found.structure.levels[:-1]:
        groups = "; ".join(listed(list(group)) for group in level.groups[:8])
        more = f"; and {len(level.groups) - 8} more groups" if len(level.groups) > 8 else ""
        say(f"{level.name}: ranks {groups}{more}")
    for rank, times in found.structure.slow_ranks[:8]:
        say(f"slow: rank {rank} on {found.hosts[rank]}, {times:.2f} times its levels' median")
    for a, b, times in found.structure.slow_pairs[:8]:
        say(f"slow: ranks {a} and {b} ({found.hosts[a]}, {found.hosts[b]}), {times:.2f} times the median")
    for note in found.notes:
        say_note(note)


def _as_json(found: PairMeasurement) -> dict[str, object]:
    structure = found.structure
    levels = json.loads(found.levels.to_json(orient="records", double_precision=15))
    for row, level in zip(levels, structure.levels, strict=True):
        row["groups"] = level.groups
    return {
        "levels": levels,
        "cuts_ns": structure.cuts_ns,
        "order": structure.order,
        "slow_ranks": [{"rank": rank, "times": times} for rank, times in structure.slow_ranks],
        "slow_pairs": [{"a": a, "b": b, "times": times} for a, b, times in structure.slow_pairs],
        "pairs": json.loads(found.pairs.to_json(orient="records", double_precision=15)),
        "notes": found.notes,
        "probe": found.probe,
        "environment": found.environment,
    }
