"""``idlewave report``: measurements, recordings, trace and study as one HTML file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from ..escaping import cut
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
from .terminal import progress_bar, say, say_note

if TYPE_CHECKING:
    from ..contention.analysis import ContentionAnalysis
    from ..overtime.analysis import Analysis
    from ..timeline import Timeline

NO_DETECTOR = "the report has no detector of contention: {}"
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
TABLE = click.Path(exists=True, path_type=Path)


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
@click.option(
    "--overtime", "recorded", type=FOLDER, help="Performance over time: a folder of `idlewave measure overtime`."
)
@click.option(
    "--contention",
    "impact",
    type=TABLE,
    help="Contention in memory: a folder of `idlewave contention measure`, or a file of its table.",
)
@click.option("--remedy", type=TABLE, help="Remedies of contention: a folder of `idlewave contention remedy`.")
@click.option(
    "--detector",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A model of `idlewave contention learn`. Without it forests are trained on the table of --contention.",
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
    recorded: Path | None,
    impact: Path | None,
    remedy: Path | None,
    detector: Path | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    title: str,
    allow_mixed: bool,
    target: Path,
    as_json: bool,
) -> None:
    """Write a report of a measured machine, a recording over time, a table of contention, a trace, a study, or all of
    them.

    The parts must belong together: a study of another machine or trace is refused, and so is a study whose machine and
    trace are not known, or a recording of another processor.
    """
    if all(part is None for part in (measured, traced, studied, recorded, impact)):
        raise UsageError("expected at least one of --machine, --trace, --study, --overtime and --contention")
    if impact is None and (remedy or detector):
        raise UsageError(
            f"--{'remedy' if remedy else 'detector'} belongs to a table of contention: expected --contention"
        )
    with doing("reading what was measured"):
        measurement = Measurement.load(measured) if measured else None
        trace = Trace.load(traced) if traced else None
    prediction, collectives = None, ""
    if measured and trace:
        prediction, collectives = _predicted(measured / "machine.toml", trace, chosen, reduction_cost)
    study = read_study(studied) if studied else None
    overtime = None if recorded is None else _overtime(recorded)
    contention = None if impact is None else _contention(impact, remedy, detector)
    made = report_of(  # which refuses what does not belong together before forests are trained for minutes
        measurement,
        trace,
        prediction,
        study,
        title=title,
        allow_mixed=allow_mixed,
        study_name=str(studied),
        collectives=collectives,
        overtime=overtime,
        contention=contention,
    )
    if made.contention is not None and detector is None:
        made = replace(made, contention=_trained(made.contention))
    with doing("analysing, and drawing figures"):
        page = build(made, target)
    if as_json:
        print_json({"written": str(page), "findings": findings(made)})
        return
    for sentence in findings(made).values():
        say(f"• {sentence}")
    say(f"written: {page}")


def _predicted(file: Path, trace: Trace, chosen: tuple[str, ...], reduction_cost: float) -> tuple[Timeline, str]:
    """The simulation of the traced run on the machine of a file, and the sentence on its collectives."""
    with doing("simulating the traced run"):
        machine = Machine.load(file)
        choice = choice_from(chosen, machine)
        schedule = Schedule.from_trace(
            trace,
            algorithms=choice.named,
            rules=choice.rules,
            cold_caches=machine.cold_caches,
            reduction_cost=reduction_cost,
        )
        found = simulate(schedule, machine, noise=None), choice.sentence(schedule.collectives)
    say_notes(choice.notes)
    return found


def _overtime(folder: Path) -> Analysis:
    from ..measure.overtime.recording import read_overtime
    from ..overtime.analysis import Analysis

    with doing(f"reading {folder}"):
        found = read_overtime(folder)
    for note in found.notes:
        say_note(note)
    return Analysis(found)


def _contention(folder: Path, remedy: Path | None, detector: Path | None) -> ContentionAnalysis:
    from ..contention.analysis import read_analysis

    with doing("reading the table of contention"):
        found = read_analysis(folder, remedy=remedy, detector=detector, train=False)
    if found.missing:
        say_note(NO_DETECTOR.format(found.missing))
    return found


def _trained(found: ContentionAnalysis) -> ContentionAnalysis:
    from ..contention.analysis import with_forests

    with progress_bar() as progress, doing("training forests that detect traffic"):
        task = progress.add_task("training", total=None)
        made = with_forests(found, progress=lambda what: progress.update(task, description=f"training: {cut(what)}"))
    if made.missing:
        say_note(NO_DETECTOR.format(made.missing))
    return made
