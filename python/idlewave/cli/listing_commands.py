"""``idlewave machines`` and ``idlewave algorithms``: what there is to choose from."""

from __future__ import annotations

import click
import pandas as pd

from ..machine import Machine
from ..schedule import algorithms as all_algorithms
from ..schedule import patterns
from ..units import format_time
from .terminal import show


@click.command()
def machines() -> None:
    """List the machines that ship with Idlewave."""
    rows = []
    for name in Machine.presets():
        level = Machine.preset(name).network
        p = level.parameters
        limit = "inf" if level.eager_limit is None else f"{level.eager_limit} B"
        times = [format_time(t) for t in (p.L, p.o_s, p.o_r, p.g)]
        rows.append((name, *times, f"{format_time(p.G)}/B", f"{format_time(p.O)}/B", limit, 1 + len(level.segments)))
    show(pd.DataFrame(rows, columns=["machine", "L", "o_s", "o_r", "g", "G", "O", "S", "segments"]), "Machines")


@click.command()
def algorithms() -> None:
    """List the algorithms of collective operations, of each the default first, and the other patterns."""
    show(all_algorithms(), "Algorithms")
    show(patterns(), "Patterns that are no collectives")
