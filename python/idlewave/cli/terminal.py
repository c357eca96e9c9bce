"""What the commands print by: two streams, progress, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    import pandas as pd

output = Console(highlight=False)
errors = Console(stderr=True)


def progress_bar(*, count: bool = False) -> Progress:
    """A progress display on the error stream, so that output can be piped; nothing where nobody looks at it."""
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
        disable=not errors.is_terminal,
    )


@contextmanager
def status(description: str) -> Iterator[Callable[[str], None]]:
    """A line on the error stream that moves, where it is not known how much is left; yields what changes it."""
    with errors.status(description) as line:
        yield line.update


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
