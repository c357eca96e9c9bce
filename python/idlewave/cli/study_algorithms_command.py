"""``idlewave study algorithms``: which algorithm of a collective is the fastest on how many ranks, for which size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from ..errors import UsageError
from ..escaping import quote
from ..studies.algorithm_times import (
    ALGORITHMS,
    COLLECTIVES,
    LENGTH,
    MACHINE,
    PERIOD,
    RANKS,
    SEEDS,
    SEGMENTS,
    SIZES,
    AlgorithmPlan,
    algorithm_cases,
    noise_for,
    regular_noise,
)
from ..units import exact_time, parse_count, parse_size, parse_time
from .case_study_options import case_study_options, run_command
from .completion import machines
from .input_options import load_machine
from .option_types import Count, FiniteRange
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

    from ..noise_models import Noise


def _numbers(text: str, what: str, parse: Any = parse_count) -> list[int]:  # noqa: ANN401 - a parser of units
    """The whole numbers in a text such as "64,1024", each once. Raises UsageError."""
    try:
        numbers = [parse(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or len({*numbers}) != len(numbers):
        raise UsageError(f"expected different {what} such as 1,1024, found {quote(text)}")
    return numbers


def _listed(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


@click.command("algorithms")
@click.option(
    "-m",
    "--machine",
    "machine_name",
    metavar="MACHINE",
    default=MACHINE,
    show_default=True,
    shell_complete=machines,
    help="The machine: a machine.toml, a folder with one, or a preset.",
)
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
@click.option(
    "--noise-period",
    metavar="TIME",
    help=f"Regular noise instead of the machine's: its period.  [default: {exact_time(PERIOD)}, if it has no noise]",
)
@click.option("--noise-length", metavar="TIME", help=f"The length of its detours.  [default: {exact_time(LENGTH)}]")
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
    noise_period: str | None,
    noise_length: str | None,
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
        _numbers(scales, "numbers of ranks"),
        _numbers(sizes, "sizes", parse_size),
        _numbers(segments, "segments", parse_size),
        reduction_cost,
        seeds,
        seed,
    )
    noise = _noise(no_noise, noise_period, noise_length)
    cases = algorithm_cases(machine, plan, noise_for(machine) if noise == "machine" else noise)
    run_command(ALGORITHMS, cases, common, _show)


def _noise(no_noise: bool, period: str | None, length: str | None) -> Noise | Literal["machine"] | None:
    """The noise that these options say. Raises UsageError."""
    if no_noise and (period or length):
        raise UsageError("expected --no-noise, or a period or length of noise, found both")
    if no_noise:
        return None
    if period is None and length is None:
        return "machine"
    return regular_noise(*(_time(text or exact_time(ps)) for text, ps in ((period, PERIOD), (length, LENGTH))))


def _time(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _show(table: pd.DataFrame) -> None:
    """Print the sentences of the page."""
    from ..report.algorithms_page import algorithms_page

    for topic, text in algorithms_page(table).findings:
        say(f"• {topic}: {text}")
