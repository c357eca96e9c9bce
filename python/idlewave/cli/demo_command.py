"""``idlewave demo``: all steps, from an MPI program to a report."""

from __future__ import annotations

from pathlib import Path

import click

from ..machine import Machine
from .demo_steps import BETWEEN, PROGRAMS, SIZES, Plan, run_demo
from .input_options import between_options
from .option_types import Count, OutputFolder, as_json, print_json
from .terminal import say, to_error_stream


@click.command()
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    default=Path("demo"),
    show_default=True,
    help="Folder of all results.",
)
@click.option(
    "--program", type=click.Choice(sorted(PROGRAMS)), default="halo2d", show_default=True, help="Program to run."
)
@click.option("--ranks", type=Count(2), default=4, show_default=True, help="Number of ranks of the traced run.")
@between_options(BETWEEN)
@click.option("--small", is_flag=True, help="Measure for a shorter time, and simulate fewer ranks and seeds.")
@as_json
def demo(
    folder: Path, program: str, ranks: int, between: str, node_ranks: int | None, small: bool, as_json: bool
) -> None:
    """Measure this machine, trace an MPI program on it, simulate it at scale, and write a report.

    The network is measured between two ranks of this node, so it is not the network of a cluster. Where more ranks are
    simulated than a node has, the network of --between lies between the nodes. A node has as many ranks as this one has
    processors, and at least those of the traced run.
    """
    base = SIZES["small" if small else "full"]
    far = Machine.named(between)
    far.network_between_nodes()
    if as_json:
        to_error_stream()
    found = run_demo(
        Plan(folder=folder, program=program, ranks=ranks, size=base, between=far, node_ranks=node_ranks, quiet=as_json)
    )
    if as_json:
        print_json({"report": str(found.page), "findings": found.findings})
        return
    say(f"report: {found.page}", bold=True)
