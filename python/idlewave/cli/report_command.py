"""``idlewave report``: measurements, trace and study as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError
from ..machine import Machine
from ..measure import Measurement
from ..report import build, findings, report_of
from ..report.parts import DEFAULT_TITLE
from ..schedule import Schedule
from ..simulation import simulate
from ..studies.table import read_study
from ..trace import Trace
from .input_options import algorithm_options, choice_from, say_notes
from .option_types import OutputFolder, as_json, print_json
from .progress import doing
from .terminal import say

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option(
    "-m", "--machine", "measured", type=FOLDER, help="The measured machine: a folder that `idlewave measure` wrote."
)
@click.option("-t", "--trace", "traced", type=FOLDER, help="The trace: a folder that `idlewave trace` wrote.")
@click.option(
    "-s",
    "--study",
    "studied",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The study: a table that `idlewave study` wrote.",
)
@algorithm_options
@click.option("--title", default=DEFAULT_TITLE, show_default=True, help="Title of the page.")
@click.option("--allow-mixed", is_flag=True, help="Accept parts that do not belong together; the report says which.")
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputFolder(),
    default=Path("report"),
    show_default=True,
    help="Folder of the report.",
)
@as_json
def report(
    measured: Path | None,
    traced: Path | None,
    studied: Path | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    title: str,
    allow_mixed: bool,
    target: Path,
    as_json: bool,
) -> None:
    """Write a report of a measured machine, a trace, a study, or all of them.

    The parts must belong together: a study of another machine or trace is refused, and so is a study whose machine and
    trace are not known.
    """
    if measured is None and traced is None and studied is None:
        raise UsageError("expected at least one of --machine, --trace and --study")
    with doing("reading what was measured"):
        measurement = Measurement.load(measured) if measured else None
        trace = Trace.load(traced) if traced else None
    prediction = None
    collectives = ""
    if measured and trace:
        with doing("simulating the traced run"):
            machine = Machine.load(measured / "machine.toml")
            choice = choice_from(chosen, machine)
            schedule = Schedule.from_trace(
                trace,
                algorithms=choice.named,
                rules=choice.rules,
                cold_caches=machine.cold_caches,
                reduction_cost=reduction_cost,
            )
            prediction = simulate(schedule, machine, noise=None)
            collectives = choice.sentence(schedule.collectives)
        say_notes(choice.notes)
    study = read_study(studied) if studied else None
    made = report_of(
        measurement,
        trace,
        prediction,
        study,
        title=title,
        allow_mixed=allow_mixed,
        study_name=str(studied),
        collectives=collectives,
    )
    with doing("drawing figures"):
        page = build(made, target)
    if as_json:
        print_json({"written": str(page), "findings": findings(made)})
        return
    for sentence in findings(made).values():
        say(f"• {sentence}")
    say(f"written: {page}")
