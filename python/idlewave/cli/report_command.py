"""``idlewave report``: what was found, as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from ..errors import InputError, UsageError
from ..machine import Machine
from ..measure import Measurement
from ..provenance import Provenance
from ..report import build, findings
from ..reporting import report_data
from ..schedule import Schedule
from ..simulation import simulate
from ..trace import Trace
from .inputs import algorithm_options, algorithms_from
from .options import OutputFolder
from .terminal import output

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("-m", "--machine", "measured", type=FOLDER, help="The folder of a measured machine.")
@click.option("-t", "--trace", "traced", type=FOLDER, help="A trace.")
@click.option("-s", "--study", "studied", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A study.")
@algorithm_options
@click.option("--title", default="Idlewave report", show_default=True)
@click.option("--allow-mixed", is_flag=True, help="Join what does not belong together, and say so in the sentences.")
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputFolder(),
    default=Path("report"),
    show_default=True,
    help="Folder.",
)
def report(
    measured: Path | None,
    traced: Path | None,
    studied: Path | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    title: str,
    allow_mixed: bool,
    target: Path,
) -> None:
    """Write the report of a measured machine, a trace, a study, or all of them.

    They must belong together: a study of another machine or trace is refused, and one that does not say of which.
    """
    if measured is None and traced is None and studied is None:
        raise UsageError("expected at least one of --machine, --trace and --study")
    measurement = Measurement.load(measured) if measured else None
    trace = Trace.load(traced) if traced else None
    timeline = None
    if measured and trace:
        schedule = Schedule.from_trace(trace, algorithms=algorithms_from(chosen), reduction_cost=reduction_cost)
        timeline = simulate(schedule, Machine.load(measured / "machine.toml"), noise=None)
    study = read_table(studied) if studied else None
    data = report_data(
        measurement, trace, timeline, study, title=title, allow_mixed=allow_mixed, study_name=str(studied)
    )
    page = build(data, target)
    for sentence in findings(data).values():
        output.print(f"• {sentence}")
    output.print(f"written: {page}")


def read_table(file: Path) -> pd.DataFrame:
    """A study's table. Raises InputError naming the file."""
    try:
        table = pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as a study: {error}") from error
    found = Provenance.read(file)
    return table if found is None else found.attach(table)
