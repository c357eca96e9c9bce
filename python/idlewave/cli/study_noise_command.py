"""``idlewave study noise``: what noise costs collectives and applications, from few ranks to a million."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..errors import UsageError
from ..formatting import plain_percent, plain_time
from ..noise_presets import OWN
from ..studies.noise_study import (
    APPLICATION_RANKS,
    NOISE,
    NOISES,
    PROGRAMS,
    RANKS,
    SEEDS,
    SIZES,
    NoisePlan,
    noise_cases,
)
from .case_study_options import case_study_options, run_command
from .input_options import load_machine, note_scope
from .noise_options import noise_options, noises_of
from .option_types import Count, Names
from .study_noise_options import machine_of_study, own_schedule, program_options, scales_of, words_of
from .terminal import say, show_table

if TYPE_CHECKING:
    import pandas as pd


@click.command("noise")
@click.argument("source", metavar="[TRACE|FILE]", required=False)
@machine_of_study
@program_options(PROGRAMS, SIZES, RANKS)
@noise_options(f"{OWN}, if the machine has some, and {','.join(NOISES)}; none with --frequencies")
@click.option(
    "--frequencies", type=Names(), metavar="HZ,…", default="", help="Frequencies of regular noise, Hz, with commas."
)
@click.option(
    "--lengths",
    type=Names(),
    metavar="TIME,…",
    default="",
    help="Lengths of its detours, such as 16us,50us; of each frequency.",
)
@click.option(
    "--application-ranks",
    type=Count(2),
    default=APPLICATION_RANKS,
    show_default=True,
    help="Most ranks of applications; one's own program has all numbers of ranks.",
)
@click.option("--seeds", type=Count(2), default=SEEDS, show_default=True, help="Seeds of the noise, of each case.")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="The first of these seeds.")
@click.option(
    "--published/--no-published",
    default=None,
    help="The published experiments, too, or not: regular noise, and faster and slower networks.  [default: only "
    "without TRACE, -m and --programs]",
)
@case_study_options("noise")
def study_noise(
    source: str | None,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    programs: str | None,
    volumes: str,
    sizes: str | None,
    noise: str | None,
    frequencies: list[str],
    lengths: list[str],
    operations: int,
    application_ranks: int,
    seeds: int,
    seed: int,
    published: bool | None,
    **common: Any,  # noqa: ANN401 - of case_study_options
) -> None:
    """Simulate programs with noise of several shapes, from few ranks to many.

    Collectives, small applications, and a TRACE or schedule FILE if one is given; the noise of the machine, of the
    shape of published systems, and regular noise.
    """
    machine = load_machine(machine_name, between, node_ranks)
    own = own_schedule(source, machine, chosen, reduction_cost)
    scales = scales_of(sizes, own, RANKS)
    note_scope(machine, max(scales))
    plan = NoisePlan(
        machine,
        programs=words_of(programs),
        own=own,
        noise=_noises(noises_of(noise), _regular(frequencies, lengths)),
        ranks=scales,
        sizes=scales_of(volumes, None, SIZES),
        operations=operations,
        application_ranks=application_ranks,
        seeds=seeds,
        seed=seed,
        published=_is_default() if published is None else published,
    )
    run_command(NOISE, noise_cases(plan), common, _show)


def _is_default() -> bool:
    """Whether neither a trace, nor a machine, nor programs were given, of which one asks nothing else."""
    context = click.get_current_context()
    given = ("source", "machine_name", "programs")
    return all(context.get_parameter_source(name) is ParameterSource.DEFAULT for name in given)


def _noises(named: list[str] | None, regular: list[str]) -> list[str] | None:
    return [*(named or []), *regular] if regular else named


def _regular(frequencies: list[str], lengths: list[str]) -> list[str]:
    """The names of regular noises of each frequency and length. Raises UsageError if only one of the two is given."""
    rates, times = ([word for word in words if word] for words in (frequencies, lengths))
    if bool(rates) != bool(times):
        raise UsageError("--frequencies and --lengths belong together")
    return [f"{rate.removesuffix('Hz')}Hz:{time}" for rate in rates for time in times]


def _share(fraction: float) -> str:
    return "–" if math.isnan(fraction) else plain_percent(fraction)


def _show(table: pd.DataFrame) -> None:
    """Print the slowdowns at the most ranks, and the sentences of the page."""
    from ..report.noise_page import noise_page

    rows = table[table["asks"] == "scale"]
    last = rows[rows["ranks"] == rows.groupby(["program", "bytes"])["ranks"].transform("max")]
    for (program, size, ranks), own in last.groupby(["program", "bytes", "ranks"], sort=False):
        shown = own[["noise", "overhead", "lost_ps", "worst_ps", "slowdown", "low", "high"]]
        names = {"overhead": "takes", "lost_ps": "lost", "worst_ps": "expected worst"}
        parts = dict.fromkeys(("takes", "slowdown", "low", "high"), _share)
        times = dict.fromkeys(("lost", "expected worst"), plain_time)
        title = f"Slowdown of {program}, {size} B, {ranks:,} ranks, with a 95 % interval of the mean"
        show_table(shown.rename(columns=names), title, {**parts, **times})
    for topic, text in noise_page(table).findings:
        say(f"• {topic}: {text}")
