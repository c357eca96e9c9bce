"""``idlewave measure collectives``: which algorithms the MPI library uses, by size, as rules of a machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Unpack

import click

from ..escaping import cut
from ..formatting import plain
from ..host_environment import provenance_of
from ..machine import Machine
from ..measure.network.assessment import assess_collectives
from ..measure.network.fitting.collective_rules import CollectiveFit, merged
from ..measure.network.job.collectives import CollectiveMeasurement, measure_collectives, read_collectives
from ..measure.table_rows import records
from ..measurement_parameters import CollectivesParameters
from ..output import write_text
from ..parameters import parameters_of
from ..provenance import Provenance
from ..provenance_in_files import comment
from .collective_tables import show_rules
from .completion import machines
from .figure_files import Picture, save_figure
from .interrupted_measurement import recording_folder
from .option_types import Count, OutputFile, OutputFolder, as_json, print_json, refuse_given
from .parameter_options import options_of
from .terminal import errors, progress_bar, say_note

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("-n", "ranks", type=Count(2), help="Ranks to start.")
@click.option(
    "-m",
    "--machine",
    "machine",
    required=True,
    metavar="MACHINE",
    help="The machine on which algorithms are simulated, best measured just before: a machine.toml or a folder.",
    shell_complete=machines,
)
@options_of(CollectivesParameters)
@click.option("--from", "recorded", type=FOLDER, help="Show a recording instead: the folder of idlewave-collectives.")
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Keep the samples here.")
@as_json
@click.option("--plot", type=Picture(), help="Draw measured and simulated times (.png, .svg, .pdf).")
@click.option("--write", "target", type=OutputFile(), help="Write the machine with the rules as a machine.toml.")
@click.pass_context
def collectives(
    context: click.Context,
    ranks: int | None,
    machine: str,
    recorded: Path | None,
    folder: Path | None,
    as_json: bool,
    plot: Path | None,
    target: Path | None,
    **options: Unpack[CollectivesParameters],
) -> None:
    """Measure collectives, and find the algorithms whose simulation comes nearest to them, by size.

    The rules become part of the machine with --write; simulations on it then use them where no algorithm is named.
    """
    if (ranks is None) == (recorded is None):
        raise click.UsageError("either -n RANKS or --from FOLDER is needed")
    held = Machine.named(machine)
    if recorded is not None:
        refuse_given(context, ("folder", *parameters_of(CollectivesParameters)), "--from measures nothing")
        found = read_collectives(recorded)
    else:
        assert ranks is not None
        shown_by = {"collectives.i64": "idlewave measure collectives --from"}
        with recording_folder(folder, shown_by) as place, progress_bar() as progress:
            found = measure_collectives(ranks, progress=progress, folder=place, **options)
    fitted = assess_collectives(found, held)
    if as_json:
        said = {
            "rules": [vars(rule) for rule in fitted.rules],
            "collectives": records(fitted.table),
            "notes": fitted.notes,
        }
        print_json(said | {"probe": found.probe, "environment": found.environment})
    else:
        show_rules(fitted, cut(held.name))
        for note in fitted.notes:
            say_note(plain(note))
    if plot is not None:
        from ..measure.network.plots.collective_plot import plot_collectives

        save_figure(plot_collectives(fitted.table), plot)
        errors.print(f"written: {plot}")
    if target is not None:
        _write(target, held, fitted, found)


def _write(target: Path, machine: Machine, fitted: CollectiveFit, found: CollectiveMeasurement) -> None:
    made = replace(
        machine,
        algorithm_rules=merged(
            machine.algorithm_rules,
            [rule for rule in fitted.rules if not rule.of_library],
            "" if found.forced else found.library,
            machine.node_ranks,
        ),
        shared_buffer=fitted.shared_buffer or machine.shared_buffer,
    )
    source = provenance_of("collectives", found.environment or {})
    by = "idlewave measure collectives"
    sources = (machine.provenance, source)
    said = Provenance.made("machine", made.name, by=by, digests=made.provenance.digests, sources=sources)
    write_text(target, comment(said) + made.to_toml())
    errors.print(f"written: {target}")
