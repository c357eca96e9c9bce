"""``idlewave measure``: this machine's noise and network."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..measurement_parameters import NETWORK_SECONDS, NOISE_SECONDS, PATTERN_SECONDS
from ..mpi import find
from ..output import check_output_folder
from .interrupted_measurement import recording_folder
from .lazy_groups import LazyGroup
from .option_types import OutputFolder, as_json, print_json, quick, refuse_given
from .parameter_options import option
from .terminal import progress_bar, say

if TYPE_CHECKING:
    from ..measure import Measurement

COMMANDS = {
    "noise": ("measure_noise_command", "Measure what takes each core away: detours, or work in fixed times."),
    "network": ("measure_network_command", "Measure the LogGOPS parameters between two processes."),
    "pairs": ("measure_pairs_command", "Measure latency, o, g and G between all ranks of a job."),
    "patterns": (
        "measure_patterns_command",
        "Measure patterns of messages, and how far a machine's simulation is off.",
    ),
    "collectives": (
        "measure_collectives_command",
        "Measure collectives, and find the algorithms that the MPI library uses.",
    ),
    "one-sided": (
        "measure_one_sided_command",
        "Measure puts, gets and floods of one-sided libraries against messages.",
    ),
    "overtime": (
        "measure_overtime_command",
        "Record latency, bandwidth and allreduce over hours and days, with the network's counters.",
    ),
    "clocks": ("measure_clocks_command", "Measure how far each rank's clock is from rank 0's, and its drift."),
}
FOLDER = OutputFolder(checked=False)


@click.group(cls=LazyGroup, later=COMMANDS, invoke_without_command=True)
@option("noise_seconds", float, NOISE_SECONDS)
@option("network_seconds", float, NETWORK_SECONDS)
@option("pattern_seconds", float, PATTERN_SECONDS)
@quick
@click.option("-o", "--output", "folder", type=FOLDER, default=Path("machine"), show_default=True, help="Folder.")
@click.option("--name", default=platform.node(), help="The machine's name (default: the host's).")
@as_json
@click.pass_context
def measure(
    context: click.Context,
    noise_seconds: float,
    network_seconds: float,
    pattern_seconds: float,
    quick: bool,
    folder: Path,
    name: str,
    as_json: bool,
) -> None:
    """Measure this machine: its noise and its network together make machine.toml, with all samples beside it.

    `measure noise` and `measure network` measure one of them, and only show what they find; `measure pairs` and
    `measure clocks` concern all ranks of a job.
    """
    if context.invoked_subcommand is not None:
        measured = f"`measure {context.invoked_subcommand}` has options of its own, behind its name"
        own = ("noise_seconds", "network_seconds", "pattern_seconds", "quick", "folder", "name", "as_json")
        refuse_given(context, own, measured)
        return
    if quick:
        refuse_given(context, ("pattern_seconds",), "--quick measures no patterns")
    from ..measure import Measurement, assess_pair, measure_noise, write_machine
    from ..measure.network.assessment import measure_quickly
    from ..measure.network.files.network_files import network_as_json
    from ..measure.table_rows import records

    check_output_folder(folder)
    found = find()
    shown_by = {"detour.json": "idlewave noise show", "network-*/samples.csv": "idlewave measure network --from"}
    with recording_folder(folder / "raw", shown_by) as raw, progress_bar() as progress:
        noise_found = measure_noise(noise_seconds, progress=progress, folder=raw)
        if quick:
            network_found = measure_quickly(found, seconds=network_seconds, progress=progress, folder=raw)
        else:
            network_found = assess_pair(
                found, seconds=network_seconds, pattern_seconds=pattern_seconds, progress=progress, folder=raw
            )
    file = write_machine(folder, noise_found, network_found, name)
    if as_json:
        said = {"overhead": noise_found.overhead, "cores": records(noise_found.cores), "notes": noise_found.notes}
        print_json({"written": str(file), "noise": said, "network": network_as_json(network_found)})
        return
    show_measurement(Measurement(name, noise_found, network_found))
    say(f"written: {file}, and the samples beside it")


def show_measurement(measurement: Measurement) -> None:
    """Print the tables of noise and network, and the notes."""
    from .measure_network_command import show_network
    from .noise_tables import show_measurement_tables

    show_measurement_tables(measurement.noise)
    show_network(measurement.network)
