"""``idlewave contention scale``: what measured traffic does to a program at scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..contention.defaults import REPLICATES
from ..errors import UsageError
from ..escaping import cut
from ..formatting import plain_percent
from ..output import TABLE_ENDINGS, write_table
from ..pattern_options import PATTERNS, OperationParameters, PatternParameters
from .contention_options import seed_option, table_argument
from .figure_files import Picture, save_figure
from .input_options import load_machine, machine_options, note_scope
from .option_types import Count, FiniteRange, Lasting, OutputFile, Size, as_json, print_json
from .parameter_options import option_of
from .progress import doing
from .terminal import errors, progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..contention.scaling import MemoryNoise
    from ..schedule import Schedule


@click.command()
@table_argument
@click.option(
    "--source", required=True, metavar="FILE|TRACE|PATTERN", help="The program: a schedule, a trace or a pattern."
)
@machine_options
@click.option("--ranks", "sizes", default="64,512,4096,8192", show_default=True, help="Numbers of ranks.")
@click.option(
    "--victim", help="Whose computations the program's are like, such as cg (default: the only one of TABLE)."
)
@click.option("--rate", type=Size(1), help="Rate of the traffic, bytes a second (default: the only one of the table).")
@click.option(
    "--cores",
    type=Count(0, 8192),
    help="Cores that write; 0: the victim's own (default: the only number of the table).",
)
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
    "--replicates",
    default=REPLICATES,
    show_default=True,
    type=Count(1, 10_000),
    help="Simulations, each with other noise.",
)
@seed_option
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
    cores: int | None,
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
    from ..contention.scaling import Bursts, memory_noise, scale_contention
    from ..contention.table import chosen_victim
    from ..contention.table_folder import read_contention
    from .study_command import ranks_from

    if (share < 1) != (burst is not None):
        raise UsageError("--share and --burst go together: how much of the time, in bursts how long")
    machine = load_machine(machine_name, between, node_ranks)
    counts = ranks_from(sizes)
    rows = read_contention(table)
    chosen = chosen_victim(rows, victim)
    bursts = None if burst is None else Bursts(share, burst)
    noise = memory_noise(rows, chosen, rate, cores=cores, bursts=bursts)
    schedule_of = _schedules(source, {name: value for name, value in options.items() if value is not None})
    note_scope(machine, max(counts))
    with progress_bar(count=True) as progress, doing("simulating"):
        task = progress.add_task("simulations", total=len(counts) * replicates)
        scaled = scale_contention(
            rows, schedule_of, machine, victim=chosen, ranks=counts, rate=rate, cores=cores, bursts=bursts,
            replicates=replicates, seed=seed, progress=lambda done, _: progress.update(task, completed=done),
        )  # fmt: skip
    if target is not None:
        write_table(target, scaled)
    if plot is not None:
        _draw(scaled, plot, f"{cut(source)}, whose computations suffer as {chosen} does at {noise.traffic}")
    if as_json:
        print_json(_as_json(noise, scaled))
    else:
        _show(noise, scaled, target)


def _draw(scaled: pd.DataFrame, plot: Path, title: str) -> None:
    from ..contention.detection_plots import plot_contention_scale

    save_figure(plot_contention_scale(scaled, title), plot)


def _as_json(noise: MemoryNoise, scaled: pd.DataFrame) -> dict[str, Any]:
    from ..measure.table_rows import records

    return {
        "victim": noise.victim,
        "rate_Bps": noise.rate_Bps,
        "achieved_Bps": None if math.isnan(noise.achieved_Bps) else noise.achieved_Bps,
        "mean_slowdown": noise.mean_slowdown,
        "quiet_scatter": noise.quiet_scatter,
        "scaled": records(scaled),
    }


def _show(noise: MemoryNoise, scaled: pd.DataFrame, target: Path | None) -> None:
    from ..contention.scaling import UNSTEADY
    from ..contention.wording import scale_rows

    show_table(scale_rows(scaled), f"Slowdown by traffic of {noise.traffic}, with 95 % of the replicates")
    say(
        f"{noise.victim} alone takes {noise.mean_slowdown:.3f} times as long while traffic comes, in the mean; "
        f"its quiet iterations take {plain_percent(noise.quiet_scatter)} longer than the quickest one"
    )
    if noise.quiet_scatter > UNSTEADY:
        say_note(
            "something else than the traffic slowed the victim at times, so the slowdowns are less certain than their "
            "confidence intervals say"
        )
    if target is not None:
        say(f"written: {target}")
    errors.print(
        "assumed: traffic slows computation and reductions, on every rank, and neither messages nor their overheads"
    )


def _schedules(source: str, given: Mapping[str, Any]) -> Callable[[int], Schedule]:
    """Makes the schedule of a program at a number of ranks: of a pattern, or of a trace by copies of its ranks."""
    from ..schedule import Schedule

    if source in PATTERNS:
        return lambda ranks: Schedule.pattern(source, ranks=ranks, **given)
    if given:
        raise UsageError(f"--{min(given).replace('_', '-')} belongs to a pattern, not to a file or a trace")
    whole = Schedule.from_trace(source) if Path(source).is_dir() else Schedule.load(source)
    return lambda ranks: whole if ranks == whole.ranks else whole.extrapolate(ranks)
