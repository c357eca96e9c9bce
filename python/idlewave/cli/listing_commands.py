"""``idlewave machines``, ``algorithms`` and ``patterns``: lists of what can be named in other commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import click

from ..formatting import plain_time
from ..machine import Machine
from .option_types import as_json, print_json
from .plain_tables import show_texts


@click.command()
@as_json
def machines(as_json: bool) -> None:
    """List the presets of machines with the LogGOPS parameters of small messages."""
    if as_json:
        print_json({"machines": [_as_json(name) for name in Machine.presets()]})
        return
    rows = []
    for name in Machine.presets():
        machine = Machine.preset(name)
        level = machine.network
        p = level.parameters
        limit = "inf" if level.eager_limit is None else f"{level.eager_limit} B"
        times = [plain_time(t) for t in (p.L, p.o_s, p.o_r, p.g)]
        costs = [f"{plain_time(cost)}/B" for cost in (p.G, p.O_s, p.O_r)]
        rows.append((name, *times, *costs, limit, 1 + len(level.segments), machine.description))
    columns = ["machine", "L", "o_s", "o_r", "g", "G", "O_s", "O_r", "S", "segments", "where"]
    show_texts("Machines", columns, rows, numeric={"segments"})


def _records(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    """Each row by column."""
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _as_json(name: str) -> dict[str, object]:
    """Times in ps, per-byte costs in ps per byte, sizes in bytes."""
    machine = Machine.preset(name)
    level = machine.network
    segments = [{"from": 0} | asdict(level.parameters)]
    segments += [{"from": segment.start} | asdict(segment.parameters) for segment in level.segments]
    return {"name": name, "description": machine.description, "network": {"S": level.eager_limit, "segments": segments}}


@click.command()
@as_json
def algorithms(as_json: bool) -> None:
    """List the algorithms of collective operations; the first one of each collective is the default."""
    from ..schedule import ALGORITHM_COLUMNS, algorithm_rows

    if as_json:
        print_json({"algorithms": _records(ALGORITHM_COLUMNS, algorithm_rows())})
        return
    show_texts("Algorithms", ALGORITHM_COLUMNS, algorithm_rows())


@click.command()
@as_json
def patterns(as_json: bool) -> None:
    """List the patterns that `simulate PATTERN --ranks P` takes, with the options of each."""
    from ..schedule import PATTERN_COLUMNS, pattern_rows

    if as_json:
        print_json({"patterns": _records(PATTERN_COLUMNS, pattern_rows())})
        return
    show_texts("Patterns", PATTERN_COLUMNS, pattern_rows())
