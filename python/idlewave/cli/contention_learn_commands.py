"""``idlewave contention learn`` and ``scale``: detectors of traffic, and its effect at scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..escaping import cut
from ..formatting import plain_percent, plain_time
from ..output import TABLE_ENDINGS, write_table
from ..pattern_options import PATTERNS, OperationParameters, PatternParameters
from .contention_tables import estimate_texts, slowdown_texts
from .figure_files import Picture, save_figure
from .input_options import load_machine, machine_options, note_scope
from .option_types import Count, FiniteRange, Lasting, OutputFile, Size, as_json, print_json
from .parameter_options import option_of
from .progress import doing
from .study_command import ranks_from
from .terminal import errors, progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    from ..contention.evaluation import Evaluation
    from ..contention.features import Source
    from ..contention.forest import Detector
    from ..schedule import Schedule

TABLE = click.Path(exists=True, path_type=Path)
_SEED = click.option("--seed", default=1, show_default=True, type=Count(0), help="Seed of the random draws.")


@click.command()
@click.argument("table", type=TABLE)
@click.option("-o", "--output", "target", type=OutputFile(), required=True, help="The model to write (.skops).")
@click.option(
    "--by",
    type=click.Choice(["counter", "probe"]),
    help="What the features are (default: counters where there are some).",
)
@click.option("--trees", default=200, show_default=True, type=Count(1, 10_000), help="Trees of each forest.")
@click.option(
    "--alarm-level",
    default=0.01,
    show_default=True,
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Share of quiet iterations that may raise an alarm.",
)
@_SEED
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
    from ..contention.evaluation import learn as train
    from ..contention.forest import ForestSettings
    from ..contention.table_folder import read_contention
    from ..host_environment import describe
    from ..measure.table_rows import records

    rows = read_contention(table)
    described = describe()
    machine = {key: described[key] for key in ("host", "processor", "kernel", "cores", "time")}
    with progress_bar() as progress, doing("training forests"):
        task = progress.add_task("training", total=None)
        detector, found = train(
            rows,
            ForestSettings(trees, seed),
            by=by,
            alarm_level=alarm_level,
            machine=machine,
            progress=lambda what: progress.update(task, description=f"training: {cut(what)}"),
        )
    detector.save(target)
    if as_json:
        print_json(
            {
                "written": str(target),
                "scores": records(found.scores),
                "importances": records(found.importances),
                "across": records(found.across),
                "suffering": records(found.suffering),
                "thresholds": dict(detector.thresholds),
                "held_out": dict(detector.scores),
                "trained_on": dict(detector.trained_on),
                "notes": list(found.notes),
            }
        )
    else:
        _show_learnt(detector, found)
        say(f"written: {target}")
    for note in found.notes:
        say_note(note)
    if plot is not None:
        from ..contention.detection_plots import plot_detector_scores, plot_importances

        save_figure(plot_detector_scores(found.scores), plot)
        save_figure(plot_importances(found.importances), plot.with_stem(f"{plot.stem}-importances"))


def _show_learnt(detector: Detector, found: Evaluation) -> None:
    from ..contention.evaluation import TALK_VICTIMS, talk_scores

    talk = talk_scores().set_index("application")
    scores = found.scores
    shown = scores[["victim", "set", "source"]].copy()
    shown["out of bag"] = estimate_texts(scores, "oob")
    shown["talk"] = [
        f"{talk.loc[TALK_VICTIMS[victim], name]:.3f}" if victim in TALK_VICTIMS else ""
        for victim, name in zip(scores["victim"], scores["set"], strict=True)
    ]
    shown["held-out pairs"] = estimate_texts(scores, "held_out")
    shown["majority"] = scores["majority"].map("{:.3f}".format)
    shown["one feature"] = scores["logistic"].map("{:.3f}".format)
    shown["with traffic"] = scores["verdict"]
    show_table(
        shown,
        "Detectors of each victim alone: share of iterations classified correctly (95 % confidence)",
    )
    best = found.importances.sort_values("importance", ascending=False).groupby(["victim", "set"], sort=False).head(1)
    weights = best[["victim", "set", "column"]].assign(fall=estimate_texts(best, "importance")).sort_index()
    show_table(weights, "The column that matters most: how far the score on held-out pairs falls if it is permuted")
    if len(found.across):
        across = found.across[["victim", "set"]].assign(
            baseline=found.across["baseline"].map({"own": "its own quiet iterations", "others": "those of the others"}),
            score=estimate_texts(found.across, "score"),
            majority=found.across["majority"].map("{:.3f}".format),
        )
        show_table(across, "Victims that a forest was not trained on")
    suffering = found.suffering
    said = suffering[["victim", "pairs"]].assign(
        **{"time with / without": slowdown_texts(suffering)},
        p=suffering["p"].map("{:.3g}".format),
        finding=suffering["verdict"],
    )
    show_table(said, "What traffic does to the victims' time")
    alarms = ", ".join(f"{name} above {threshold:.3f}" for name, threshold in detector.thresholds.items())
    say(f"alarms, for at most {plain_percent(detector.alarm_level)} of quiet iterations: {alarms}")
    score = detector.scores[detector.best_set]
    say(f"the best set on held-out pairs of all victims is {detector.best_set} ({score:.3f})")


@click.command()
@click.argument("table", type=TABLE)
@click.option(
    "--source", required=True, metavar="FILE|TRACE|PATTERN", help="The program: a schedule, a trace or a pattern."
)
@machine_options
@click.option("--ranks", "sizes", default="64,512,4096,8192", show_default=True, help="Numbers of ranks.")
@click.option("--victim", help="Whose computations the program's are like (default: the only victim of the table).")
@click.option("--rate", type=Size(1), help="Rate of the traffic, bytes a second (default: the only one of the table).")
@option_of(OperationParameters, "bytes", unset=True)
@option_of(PatternParameters, "compute_ns", unset=True)
@click.option(
    "--share",
    default=1.0,
    show_default=True,
    type=FiniteRange(0, 1, min_open=True),
    help="Share of the time in which there is traffic.",
)
@click.option(
    "--burst", type=Lasting(1e-9, 1e6), metavar="TIME", help="Length of a burst of traffic, with --share: 500ms."
)
@click.option(
    "--replicates", default=20, show_default=True, type=Count(1, 10_000), help="Simulations, each with other noise."
)
@_SEED
@click.option("-o", "--output", "target", type=OutputFile(TABLE_ENDINGS), help="Write the table (.parquet, .csv).")
@click.option("--plot", type=Picture(), help="Draw the slowdown over the number of ranks.")
@as_json
def scale(
    table: Path,
    source: str,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    sizes: str,
    victim: str | None,
    rate: int | None,
    share: float,
    burst: float | None,
    replicates: int,
    seed: int,
    target: Path | None,
    plot: Path | None,
    as_json: bool,
    **options: object,
) -> None:
    """Simulate a program at several numbers of ranks, whose computations traffic slows as it slowed a victim of TABLE.

    The slowdown is against the same simulation with the quiet iterations of the victim; its interval has the scatter of
    the measurement (pairs of runs drawn with replacement), and that of the ranks' places in it.
    """
    from ..contention.memory_noise import UNSTEADY, Bursts, memory_noise, scale_contention
    from ..contention.table import victims_of
    from ..contention.table_folder import read_contention
    from ..measure.table_rows import records

    if (share < 1) != (burst is not None):
        raise UsageError("--share and --burst go together: how much of the time, in bursts how long")
    machine = load_machine(machine_name, between, node_ranks)
    counts = ranks_from(sizes)
    rows = read_contention(table)
    chosen = victim or _only(victims_of(rows))
    bursts = None if burst is None else Bursts(share, burst)
    found = memory_noise(rows, chosen, rate, bursts=bursts)
    schedule_of = _schedules(source, {name: value for name, value in options.items() if value is not None})
    note_scope(machine, max(counts))
    with progress_bar(count=True) as progress, doing("simulating"):
        task = progress.add_task("simulations", total=len(counts) * replicates)
        scaled = scale_contention(
            rows, schedule_of, machine, victim=chosen, ranks=counts, rate=rate, bursts=bursts, replicates=replicates,
            seed=seed, progress=lambda done, _: progress.update(task, completed=done),
        )  # fmt: skip
    if target is not None:
        write_table(target, scaled)
    if plot is not None:
        from ..contention.detection_plots import plot_contention_scale

        title = f"{cut(source)}, whose computations suffer as {chosen} does at {found.traffic}"
        save_figure(plot_contention_scale(scaled, title), plot)
    if as_json:
        print_json(
            {
                "victim": chosen,
                "rate_Bps": found.rate_Bps,
                "achieved_Bps": None if math.isnan(found.achieved_Bps) else found.achieved_Bps,
                "mean_slowdown": found.mean_slowdown,
                "quiet_scatter": found.quiet_scatter,
                "scaled": records(scaled),
            }
        )
        return
    shown = scaled[["ranks"]].assign(
        quiet=[plain_time(1e12 * seconds) for seconds in scaled["quiet_s"]],
        **{"time with / without": slowdown_texts(scaled)},
        replicates=scaled["replicates"],
    )
    show_table(shown, f"Slowdown by traffic of {found.traffic}, with 95 % of the replicates")
    say(
        f"{chosen} alone: {found.mean_slowdown:.3f} in the mean; its quiet iterations take "
        f"{plain_percent(found.quiet_scatter)} longer than the quickest one"
    )
    if found.quiet_scatter > UNSTEADY:
        say_note(
            "something else than the traffic slowed the victim at times, so the slowdowns are less certain than their "
            "intervals say"
        )
    if target is not None:
        say(f"written: {target}")
    errors.print(
        "assumed: traffic slows computation and reductions, on every rank, and neither messages nor their overheads"
    )


def _only(victims: list[str]) -> str:
    if len(victims) != 1:
        raise UsageError(f"expected --victim, one of {', '.join(victims)}")
    return victims[0]


def _schedules(source: str, given: Mapping[str, Any]) -> Callable[[int], Schedule]:
    """Makes the schedule of a program at a number of ranks: of a pattern, or of a trace by copies of its ranks."""
    from ..schedule import Schedule

    if source in PATTERNS:
        return lambda ranks: Schedule.pattern(source, ranks=ranks, **given)
    if given:
        raise UsageError(f"--{min(given).replace('_', '-')} belongs to a pattern, not to a file or a trace")
    whole = Schedule.from_trace(source) if Path(source).is_dir() else Schedule.load(source)
    return lambda ranks: whole if ranks == whole.ranks else whole.extrapolate(ranks)
