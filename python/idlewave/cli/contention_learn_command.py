"""``idlewave contention learn``: detectors of traffic, trained on a table and evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..contention.defaults import ALARM_LEVEL, TREES
from ..escaping import cut
from ..formatting import plain_percent
from .contention_options import seed_option, table_argument
from .figure_files import Picture, save_figure
from .option_types import Count, FiniteRange, OutputFile, as_json, print_json
from .progress import doing
from .terminal import progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..contention.evaluation import Evaluation
    from ..contention.features import Source
    from ..contention.forest import Detector, ForestSettings

DESCRIBED = ("host", "processor", "kernel", "cores", "time")
"""What a model says of the machine on which its table was measured."""


@click.command()
@table_argument
@click.option("-o", "--output", "target", type=OutputFile(), required=True, help="The model to write (.skops).")
@click.option(
    "--by",
    type=click.Choice(["counter", "probe"]),
    help="What the features are (default: counters where there are some).",
)
@click.option("--trees", default=TREES, show_default=True, type=Count(1, 10_000), help="Trees of each forest.")
@click.option(
    "--alarm-level",
    default=ALARM_LEVEL,
    show_default=True,
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Share of quiet iterations that may raise an alarm.",
)
@seed_option
@click.option("--plot", type=Picture(), help="Draw the scores; NAME-importances.EXT has the importances.")
@as_json
def learn(
    table: Path,
    target: Path,
    by: Source | None,
    trees: int,
    alarm_level: float,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Train random forests that detect traffic on a TABLE of contention, evaluate them, and write them to a model.

    There are three feature sets, one for each level of caches: of counters where the table has them, else of probes
    of latency and bandwidth. Scores are out of bag, and on pairs of runs that were held out.
    """
    from ..contention.forest import ForestSettings
    from ..contention.table_folder import environment_of, read_contention

    machine = {key: value for key, value in environment_of(table).items() if key in DESCRIBED}
    detector, found = _trained(read_contention(table), ForestSettings(trees, seed), by, alarm_level, machine)
    detector.save(target)
    if as_json:
        print_json({"written": str(target), **_as_json(detector, found)})
    else:
        _show(detector, found)
        say(f"written: {target}")
    for note in found.notes:
        say_note(note)
    if plot is not None:
        from ..contention.detection_plots import plot_detector_scores, plot_importances

        save_figure(plot_detector_scores(found.scores), plot)
        save_figure(plot_importances(found.importances), plot.with_stem(f"{plot.stem}-importances"))


def _trained(
    table: pd.DataFrame, settings: ForestSettings, by: Source | None, alarm_level: float, machine: Mapping[str, Any]
) -> tuple[Detector, Evaluation]:
    """A detector and its evaluation, with the progress on the error stream."""
    from ..contention.evaluation import learn as train

    with progress_bar() as progress, doing("training forests"):
        task = progress.add_task("training", total=None)
        return train(
            table,
            settings,
            by=by,
            alarm_level=alarm_level,
            machine=machine,
            progress=lambda what: progress.update(task, description=f"training: {cut(what)}"),
        )


def _as_json(detector: Detector, found: Evaluation) -> dict[str, Any]:
    from ..measure.table_rows import records

    return {
        "scores": records(found.scores),
        "importances": records(found.importances),
        "across": records(found.across),
        "suffering": records(found.suffering),
        "thresholds": dict(detector.thresholds),
        "held_out": dict(detector.scores),
        "trained_on": dict(detector.trained_on),
        "notes": list(found.notes),
    }


def _show(detector: Detector, found: Evaluation) -> None:
    from ..contention.wording import across_rows, importance_rows, score_rows, suffering_rows

    title = "Detectors of each victim alone: share of iterations classified correctly (95 % confidence)"
    show_table(score_rows(found), title)
    title = "The column that matters most: how far the score on held-out pairs falls if it is permuted"
    show_table(importance_rows(found), title)
    if len(found.across):
        show_table(across_rows(found), "Victims that a forest was not trained on")
    show_table(suffering_rows(found.suffering), "What traffic does to the victims' time")
    alarms = ", ".join(f"{name} above {threshold:.3f}" for name, threshold in detector.thresholds.items())
    say(f"alarms, for at most {plain_percent(detector.alarm_level)} of quiet iterations: {alarms}")
    score = detector.scores[detector.best_set]
    say(f"the best set on held-out pairs of all victims is {detector.best_set} ({score:.3f})")
