"""``idlewave demo``: the main job, from an MPI program to a report."""

from __future__ import annotations

from pathlib import Path

import click

from .demo import PROGRAMS, SIZES, Plan, run_demo
from .options import OutputFolder, as_json, print_json
from .terminal import say, to_error_stream


@click.command()
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    default=Path("demo"),
    show_default=True,
    help="Folder for everything that is measured, made and found.",
)
@click.option("--program", type=click.Choice(sorted(PROGRAMS)), default="halo2d", show_default=True)
@click.option("--ranks", type=click.IntRange(2), default=4, show_default=True, help="Ranks that really run.")
@click.option("--small", is_flag=True, help="Measure shortly, and extrapolate to fewer ranks and seeds.")
@as_json
def demo(folder: Path, program: str, ranks: int, small: bool, as_json: bool) -> None:
    """Measure this machine, trace an MPI program on it, simulate it at scale, and write a report."""
    base = SIZES["small" if small else "full"]
    if as_json:
        to_error_stream()
    found = run_demo(Plan(folder=folder, program=program, ranks=ranks, size=base))
    if as_json:
        print_json({"report": str(found.page), "findings": found.findings})
        return
    say(f"report: {found.page}", bold=True)
