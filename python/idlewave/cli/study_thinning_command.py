"""``idlewave study thinning``: which source of a machine's noise to remove first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..formatting import plain_percent
from ..noise_presets import OWN
from ..studies.noise_sources import DEFAULT, chosen_sources
from ..studies.thinning import PROGRAM, RANKS, SEEDS, ThinningPlan, thinning_cases, thinning_study
from .case_study_options import case_study_options, run_command
from .input_options import load_machine, note_scope
from .noise_options import one_noise_option
from .option_types import Count, refuse_given
from .study_noise_options import machine_of_study, own_schedule, program_options, scales_of
from .terminal import say, show_table

if TYPE_CHECKING:
    import pandas as pd


@click.command("thinning")
@click.argument("source", metavar="[TRACE|FILE]", required=False)
@machine_of_study
@click.option(
    "--recording",
    type=click.Path(path_type=Path, exists=True),
    help="Where the sources are: a folder of `idlewave measure noise -o` or `idlewave measure -o`, or a "
    "noise-signature.toml.  [default: what the machine's noise consists of]",
)
@one_noise_option(f"{OWN}; {DEFAULT}, if the machine has none")
@program_options((PROGRAM,), (8,), RANKS)
@click.option("--seeds", type=Count(2), default=SEEDS, show_default=True, help="Seeds of the noise, of each case.")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="The first of these seeds.")
@case_study_options("thinning")
def study_thinning(
    source: str | None,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    recording: Path | None,
    noise: str | None,
    programs: str,
    volumes: str,
    sizes: str | None,
    operations: int,
    seeds: int,
    seed: int,
    **common: Any,  # noqa: ANN401 - of case_study_options
) -> None:
    """Find which source of a machine's noise costs a program most at scale, and what to do about it.

    The program, or a TRACE or schedule FILE, is simulated with all sources of the noise, without each, with each alone,
    and with the costliest removed one after another.
    """
    machine = load_machine(machine_name, between, node_ranks)
    if source is not None:
        refuse_given(
            click.get_current_context(), ("programs", "volumes", "operations"), "your own program is what it is"
        )
    own = own_schedule(source, machine, chosen, reduction_cost)
    scales = scales_of(sizes, own, RANKS)
    note_scope(machine, max(scales))
    sources = chosen_sources(machine, recording, noise, None if between else machine_name)
    size = scales_of(volumes, None, ())
    if len(size) > 1 or "," in programs:
        raise UsageError("expected one program of one size")
    plan = ThinningPlan(machine, sources, programs, own, scales, size[0], operations, seeds, seed)
    run_command(thinning_study(plan), thinning_cases(plan), common, _show)


def _show(table: pd.DataFrame) -> None:
    """Print the sources by what they cost at the most ranks, and the sentences of the page."""
    from ..report.thinning_page import costs_at, thinning_page

    ranks = int(table["ranks"].max())
    shown = costs_at(table, ranks)
    shown["matters"] = shown["matters"].map({True: "yes", False: "no"})
    names = {"saved": "saved without it", "matters": "beyond chance", "overhead": "of a core's time"}
    parts = dict.fromkeys(("saved without it", "low", "high", "alone", "of a core's time"), plain_percent)
    show_table(shown.rename(columns=names), f"Sources of noise by cost, {ranks:,} ranks", parts)
    for topic, text in thinning_page(table).findings:
        say(f"• {topic}: {text}")
