"""``idlewave study algorithms``: which algorithm of a collective is the fastest on how many ranks, for which size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..noise_presets import OWN
from ..studies.algorithm_times import (
    ALGORITHMS,
    COLLECTIVES,
    MACHINE,
    NOISE,
    RANKS,
    SEEDS,
    SEGMENTS,
    SIZES,
    AlgorithmPlan,
    algorithm_cases,
    noise_for,
)
from ..units import parse_size
from .case_study_options import case_study_options, machine_option, run_command
from .input_options import load_machine
from .noise_options import one_noise_option
from .number_lists import counts_from
from .option_types import Count, FiniteRange
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd


def _listed(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


@click.command("algorithms")
@machine_option(MACHINE)
@click.option("--collectives", metavar="NAME,…", default=",".join(COLLECTIVES), show_default=True, help="Collectives.")
@click.option(
    "--ranks", "scales", metavar="COUNT,…", default=_listed(RANKS), show_default=True, help="Numbers of ranks."
)
@click.option(
    "--bytes",
    "sizes",
    metavar="BYTES,…",
    default=_listed(SIZES),
    show_default=True,
    help="Sizes of a vector, or of one rank's block.",
)
@click.option(
    "--segments",
    metavar="BYTES,…",
    default=_listed(SEGMENTS),
    show_default=True,
    help="Segments that pipelined algorithms are tried with, beside whole messages.",
)
@click.option(
    "--reduction-cost",
    type=FiniteRange(0, 1_000_000),
    default=0.0,
    show_default=True,
    help="Computation of a reduction, ns per byte.",
)
@click.option("--no-noise", is_flag=True, help="Simulate without noise only.")
@one_noise_option(f"{OWN}; of a machine without any {NOISE}")
@click.option("--seeds", type=Count(2), default=SEEDS, show_default=True, help="Seeds of noise.")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="The first seed.")
@case_study_options("algorithms")
def study_algorithms(
    machine_name: str,
    collectives: str,
    scales: str,
    sizes: str,
    segments: str,
    reduction_cost: float,
    no_noise: bool,
    noise: str | None,
    seeds: int,
    seed: int,
    **common: Any,  # noqa: ANN401 - of case_study_options
) -> None:
    """Simulate each collective by each of its algorithms, and write rules that choose the fastest.

    The rules are rules.csv, for --algorithm, and open-mpi.conf, for Open MPI's coll_tuned_dynamic_rules_filename; with
    noise also rules-noise.csv and open-mpi-noise.conf. The page compares them with what Open MPI and MPICH choose.
    """
    machine = load_machine(machine_name)
    plan = AlgorithmPlan(
        collectives.split(","),
        counts_from(scales, "numbers of ranks"),
        counts_from(sizes, "sizes", parse=parse_size),
        counts_from(segments, "segments", parse=parse_size),
        reduction_cost,
        seeds,
        seed,
    )
    if no_noise and noise is not None:
        raise UsageError("expected --no-noise or --noise, found both")
    cases = algorithm_cases(machine, plan, None if no_noise else noise_for(machine, noise))
    run_command(ALGORITHMS, cases, common, _show)


def _show(table: pd.DataFrame) -> None:
    """Print the sentences of the page."""
    from ..report.algorithms_page import algorithms_page

    for topic, text in algorithms_page(table).findings:
        say(f"• {topic}: {text}")
