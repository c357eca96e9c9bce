"""``idlewave study verify``: simulations beside closed forms and published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..studies.verify.study import CHECKS, MACHINES, SCALES, VERIFY, verify_cases
from .case_study_options import case_study_options, run_command
from .completion import machines
from .input_options import load_machine
from .number_lists import counts_from
from .option_types import Count, Names
from .terminal import say, show_table

if TYPE_CHECKING:
    import pandas as pd


@click.command("verify")
@click.option(
    "-m",
    "--machine",
    "machine_name",
    metavar="MACHINE",
    shell_complete=machines,
    help=f"The machine of the closed forms, of two ranks and of AMG.  [default: {' and '.join(MACHINES)}]",
)
@click.option(
    "--scale",
    type=click.Choice([*SCALES]),
    default="small",
    show_default=True,
    help="full: POP with all its calls on 32,768 ranks, too, with one seed, and allreduces by more algorithms and with "
    "more seeds, in some twenty minutes.",
)
@click.option(
    "--checks", type=Names(), metavar="NAME,…", help=f"What to compare, of {', '.join(CHECKS)}.  [default: all]"
)
@click.option("--ranks", "sizes", metavar="COUNT,…", help="Numbers of ranks of POP.  [default: those of the scale]")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="First seed of the noise.")
@case_study_options("verify")
def study_verify(
    machine_name: str | None,
    scale: str,
    checks: list[str] | None,
    sizes: str | None,
    seed: int,
    **common: Any,  # noqa: ANN401 - of case_study_options
) -> None:
    """Compare simulations with closed forms of LogGOPS and with published figures, statement by statement.

    Latency, streams, trees and rendezvous to the picosecond; allreduces of Beckman et al. and Ferreira et al. under
    injected noise; POP on Jaguar; what messages absorb and propagate.
    """
    machine = None if machine_name is None else load_machine(machine_name)
    ranks = None if sizes is None else counts_from(sizes, "numbers of ranks")
    cases = verify_cases(machine, scale, ranks, seed, CHECKS if checks is None else checks)
    run_command(VERIFY, cases, common, _show)


def _show(table: pd.DataFrame) -> None:
    """Print the statements, and the sentences of the page."""
    import pandas as pd

    from ..report.verify_page import verify_page
    from ..studies.verify.statements import statements

    shown = ("topic", "statement", "published", "here", "holds")
    names = ["topic", "statement", "published, or closed form", "here", "holds"]
    rows = [[getattr(one, name) for name in shown] for one in statements(table)]
    show_table(pd.DataFrame(rows, columns=names), "Published or closed form, and simulated", {})
    for topic, text in verify_page(table).findings:
        say(f"• {topic}: {text}")
