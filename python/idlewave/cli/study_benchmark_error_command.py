"""``idlewave study benchmark-error``: how wrong usual ways to time a collective are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from ..formatting import plain_percent, plain_time
from ..studies.benchmark_error import (
    BENCHMARK_ERROR,
    CLOCK_ERROR_NS,
    MACHINE,
    METHODS,
    MOST_CLOCK_ERROR_NS,
    RANKS,
    REPETITIONS,
    benchmark_cases,
)
from ..units import parse_size
from .case_study_options import case_study_options, machine_option, run_command
from .input_options import load_machine
from .number_lists import counts_from
from .option_types import Count
from .terminal import say, show_table

if TYPE_CHECKING:
    import pandas as pd


@click.command("benchmark-error")
@machine_option(MACHINE)
@click.option(
    "--collectives", metavar="NAME,…", default="bcast", show_default=True, help="Collectives; all their algorithms."
)
@click.option(
    "--ranks",
    "sizes",
    metavar="COUNT,…",
    default=",".join(map(str, RANKS)),
    show_default=True,
    help="Numbers of ranks.",
)
@click.option("--bytes", "volumes", metavar="SIZE,…", default="1", show_default=True, help="Sizes of a message.")
@click.option(
    "--repetitions", type=Count(1), default=REPETITIONS, show_default=True, help="Operations that a benchmark times."
)
@click.option(
    "--clock-error-ns",
    type=Count(0, MOST_CLOCK_ERROR_NS),
    default=CLOCK_ERROR_NS,
    show_default=True,
    help="How early or late clocks are, at most, where operations start at an agreed time.",
)
@click.option("--seed", type=Count(0), default=0, show_default=True, help="Seed of the errors of clocks.")
@case_study_options("benchmark-error")
def study_benchmark_error(
    machine_name: str,
    collectives: str,
    sizes: str,
    volumes: str,
    repetitions: int,
    clock_error_ns: int,
    seed: int,
    **common: Any,  # noqa: ANN401 - of case_study_options
) -> None:
    """Simulate benchmarks of a collective as they time it, and compare with the time of one operation alone.

    In a loop, in a loop with rotating roots, started by barriers, and started at an agreed time by clocks.
    """
    cases = benchmark_cases(
        load_machine(machine_name),
        collectives.split(","),
        counts_from(sizes, "numbers of ranks"),
        counts_from(volumes, "sizes", parse=parse_size),
        repetitions,
        clock_error_ns,
        seed,
    )
    run_command(BENCHMARK_ERROR, cases, common, _show)


def _error(fraction: float) -> str:
    return "–" if math.isnan(fraction) else plain_percent(fraction, signed=True)


def _show(table: pd.DataFrame) -> None:
    """Print the errors at the most ranks, and the sentences of the page."""
    most = int(table["ranks"].max())
    last = table[table["ranks"] == most]
    for (collective, size), rows in last.groupby(["collective", "bytes"], sort=False):
        shown = rows.pivot(index="algorithm", columns="method", values="error")
        shown = shown.reindex(index=rows["algorithm"].unique(), columns=[name for name in METHODS if name in shown])
        shown.insert(0, "alone", rows.groupby("algorithm", sort=False)["true_ps"].first())
        formats: dict[str, Any] = dict.fromkeys(METHODS, _error)
        title = f"Errors of benchmarks of {collective}, {size} B, {most:,} ranks"
        show_table(shown.reset_index(), title, formats | {"alone": plain_time})
    from ..report.benchmark_error_page import benchmark_error_page

    for topic, text in benchmark_error_page(table).findings:
        say(f"• {topic}: {text}")
