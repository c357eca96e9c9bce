"""``idlewave timeline``: when each op of a simulation ran, for people to look at."""

from __future__ import annotations

from pathlib import Path

import click

from ..export import writer_for
from .run import run_options, simulated
from .source import schedule_from, source_options
from .terminal import load_machine, machine_option, output


@click.command()
@source_options
@machine_option
@run_options
@click.option("-o", "--output", "file", type=click.Path(path_type=Path), required=True, help="What to write.")
def timeline(
    source: str,
    machine_name: str,
    scheduler: str,
    threads: int,
    seed: int,
    no_noise: bool,
    noise_reaches: str | None,
    file: Path,
    **options: object,
) -> None:
    """Simulate a GOAL file, a trace, or a PATTERN on a machine, and write when each op ran and why it waited.

    How it is written, its ending tells: .pftrace opens in ui.perfetto.dev, .otf2 (a folder) in Vampir and others, .png,
    .svg and .pdf are pictures (of up to 64 ranks and 20,000 ops), .parquet is a table.
    """
    write = writer_for(file)
    machine = load_machine(machine_name)
    schedule = schedule_from(source, options)
    found = simulated(
        schedule,
        machine,
        scheduler=scheduler,
        threads=threads,
        seed=seed,
        no_noise=no_noise,
        noise_reaches=noise_reaches,
        record=True,
    )
    ops = found.ops_to_arrow()
    write(ops, f"{schedule.name} on {machine.name}")
    output.print(f"{len(ops)} ops of {schedule.ranks} ranks; written: {file}")
