"""What the commands share: where they print, progress, tables, and reading common options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ..errors import InputError, UsageError
from ..machine import Machine
from ..schedule import RankProgress, Schedule

if TYPE_CHECKING:
    import pandas as pd

output = Console(highlight=False)
errors = Console(stderr=True)

F = TypeVar("F", bound=Callable[..., Any])


def progress_bar(*, count: bool = False) -> Progress:
    """A progress display on the error stream, so that output can be piped."""
    middle = [MofNCompleteColumn()] if count else []
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        *middle,
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
    )


@contextmanager
def rank_progress(description: str) -> Iterator[RankProgress]:
    """Shows how many ranks are done; yields what is to be called with it."""
    with progress_bar(count=True) as bar:
        task = bar.add_task(description, total=None)

        def update(done: int, ranks: int) -> None:
            bar.update(task, completed=done, total=ranks)

        yield update


def show(table: pd.DataFrame, title: str, formats: dict[str, str] | None = None) -> None:
    """Print a data frame as a table."""
    import pandas as pd

    shown = Table(title=title, title_justify="left", title_style="bold")
    for column in table.columns:
        numeric = pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(table[column])
        shown.add_column(str(column), justify="right" if numeric else "left")
    for row in table.itertuples(index=False):
        cells = zip(table.columns, row, strict=True)
        shown.add_row(*(format(value, (formats or {}).get(str(name), "")) for name, value in cells))
    output.print(shown)


def machine_option(command: F) -> F:
    """--machine: a machine.toml, a folder that has one, or the name of a preset."""
    text = "A machine.toml, a folder that has one, or the name of a preset (idlewave machines)."
    return click.option("-m", "--machine", "machine_name", required=True, metavar="MACHINE", help=text)(command)


def algorithm_options(command: F) -> F:
    """--algorithm COLLECTIVE=NAME and --reduction-cost."""
    text = "Carry out a collective by this algorithm (idlewave algorithms); may be repeated."
    command = click.option("-a", "--algorithm", "chosen", multiple=True, metavar="COLLECTIVE=NAME", help=text)(command)
    text = "Computation of a reduction, ns per byte."
    return click.option("--reduction-cost", type=float, default=0.0, show_default=True, help=text)(command)


def load_machine(name: str) -> Machine:
    """The machine that --machine names."""
    path = Path(name)
    if path.is_dir():
        return Machine.load(path / "machine.toml")
    if path.exists() or path.suffix == ".toml":
        return Machine.load(path)
    if name in Machine.presets():
        return Machine.preset(name)
    raise InputError(f"{name}: expected a file, a folder, or a preset ({', '.join(Machine.presets())})")


def load_schedule(source: str, chosen: Iterable[str], reduction_cost: float) -> Schedule:
    """The schedule in a file (GOAL, or a binary one) or in a directory (a trace)."""
    if not Path(source).is_dir():
        with rank_progress(f"reading {Path(source).name}") as progress:
            return Schedule.load(source, progress=progress)
    return Schedule.from_trace(source, algorithms=algorithms_from(chosen), reduction_cost=reduction_cost)


def algorithms_from(chosen: Iterable[str]) -> dict[str, str]:
    """The choices in ``("allreduce=ring", …)``."""
    named = {}
    for text in chosen:
        collective, equals, name = text.partition("=")
        if not equals or not collective or not name:
            raise UsageError(f"expected COLLECTIVE=NAME, such as allreduce=ring, found '{text}'")
        named[collective] = name
    return named
