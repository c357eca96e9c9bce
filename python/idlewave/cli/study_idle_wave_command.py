"""``idlewave study idle-wave``: what one delay of one rank does to all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..escaping import quote
from ..noise_presets import with_noise_named
from ..studies.idle_wave import (
    COMPUTE_PS,
    IDLE_WAVE,
    ITERATIONS,
    MACHINE,
    NOISE_SHARES,
    NOISY,
    PARTNERS,
    PROTOCOLS,
    RANKS,
    SEEDS,
    SIZE,
    OwnProgram,
    WavePlan,
    idle_wave_cases,
)
from ..studies.wave_patterns import JOBS, PATTERNS
from ..units import exact_time, parse_time
from .case_study_options import case_study_options, machine_option, run_command
from .input_options import load_machine
from .noise_options import one_noise_option
from .number_lists import counts_from, names_from, shares_from
from .option_types import Count, Size, refuse_given
from .own_program import ProgramOptions, load_program, program_options
from .terminal import say, show_rows

if TYPE_CHECKING:
    import pandas as pd

_GENERATED = (
    "patterns", "protocols", "partners", "ranks", "iterations", "compute", "size", "noise_shares", "noise_interval"
)  # fmt: skip
"""The parameters of generated programs."""
_NOISE = ("noise", "noise_interval", "seeds")
"""The parameters of noise, without the shares that it adds: these may be none."""


def _time(text: str, what: str) -> int:
    try:
        return parse_time(text)
    except ValueError:
        raise UsageError(f"expected {what}, such as 3ms, found {quote(text)}") from None


@click.command("idle-wave")
@machine_option(MACHINE, "Of generated programs only nonblocking also has its noise.")
@one_noise_option()
@program_options
@click.option(
    "--delays",
    metavar="RANK@TIME+LENGTH,…",
    help="Delays, such as 32@10ms+13.5ms.  [default: the middle rank in its second computation, 4.5 times as long]",
)
@click.option(
    "--patterns", metavar="NAME,…", default=",".join((*PATTERNS, *JOBS)), show_default=True, help="Generated programs."
)
@click.option(
    "--protocols", metavar="NAME,…", default=",".join(PROTOCOLS), show_default=True, help="Protocols of all messages."
)
@click.option(
    "--partners",
    metavar="COUNT,…",
    default=",".join(map(str, PARTNERS)),
    show_default=True,
    help="How many ranks away partners on a ring are at most.",
)
@click.option("--ranks", type=Count(2), default=RANKS, show_default=True, help="Number of ranks.")
@click.option("--iterations", type=Count(4), default=ITERATIONS, show_default=True, help="Number of iterations.")
@click.option(
    "--compute",
    metavar="TIME",
    default=exact_time(COMPUTE_PS),
    show_default=True,
    help="Computation of an iteration, in whole ns.",
)
@click.option("--bytes", "size", type=Size(1), default=SIZE, show_default=True, help="Size of a message.")
@click.option(
    "--noise-shares",
    metavar="SHARE,…|none",
    default=",".join(map(str, NOISE_SHARES)),
    show_default=True,
    help="Random noise of the pattern nonblocking, as shares of its time that are added.",
)
@click.option("--noise-interval", metavar="TIME", help="Mean time between detours.  [default: a computation]")
@click.option("--seeds", type=Count(0), default=SEEDS, show_default=True, help="Number of seeds of the noise.")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="The first seed.")
@case_study_options("idle-wave")
def study_idle_wave(
    machine_name: str,
    delays: str | None,
    patterns: str,
    protocols: str,
    partners: str,
    ranks: int,
    iterations: int,
    compute: str,
    size: int,
    noise: str | None,
    noise_shares: str,
    noise_interval: str | None,
    seeds: int,
    seed: int,
    **given: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate programs with and without a delay that stops one rank once, and measure the idle wave: its speed, where
    it is absorbed, and how it decays under noise.

    Generated programs compute and exchange with the next ranks; --program is one of your own.
    """
    machine = load_machine(machine_name)
    machine = machine if noise is None else with_noise_named(machine, noise)
    own = ProgramOptions.taken_from(given)
    if own.source is not None:
        refuse_given(click.get_current_context(), _GENERATED, "your own program is what it is")
        if delays is None:
            raise UsageError("--program needs --delays RANK@TIME+LENGTH, such as 32@10ms+13.5ms")
        program = OwnProgram(load_program(own, machine), delays, seeds, seed)
        run_command(IDLE_WAVE, idle_wave_cases(machine, program), given, _show)
        return
    names = names_from(patterns, "patterns")
    if NOISY not in names:
        refuse_given(click.get_current_context(), _NOISE, f"only the pattern {NOISY} has noise, which these cases lack")
    plan = WavePlan(
        patterns=names,
        protocols=names_from(protocols, "protocols"),
        partners=counts_from(partners, "distances of partners"),
        ranks=ranks,
        iterations=iterations,
        compute_ps=_time(compute, "a computation"),
        size=size,
        delays=delays,
        noise_shares=shares_from(noise_shares, "shares of time"),
        noise_interval_ps=None if noise_interval is None else _time(noise_interval, "an interval of detours"),
        seeds=seeds,
        seed=seed,
    )
    run_command(IDLE_WAVE, idle_wave_cases(machine, plan), given, _show)


def _show(table: pd.DataFrame) -> None:
    """Print the waves without noise, and the sentences of the page."""
    quiet = table[table["noise"] == 0]
    from ..report.idle_wave_page import costs_table, idle_wave_page

    waves = costs_table(quiet)
    show_rows(waves.caption, waves.headings, waves.rows, waves.headings[waves.text_columns :])
    for topic, text in idle_wave_page(table).findings:
        say(f"• {topic}: {text}")
