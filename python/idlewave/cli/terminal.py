"""What the commands print by: two streams, progress, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from ..quoting import printable

if TYPE_CHECKING:
    import pandas as pd


class PlainConsole(Console):
    """Shows the texts of files and programs as they are: they have no markup, and no control characters."""

    def __init__(self, *, stderr: bool = False, highlight: bool = True) -> None:
        super().__init__(stderr=stderr, highlight=highlight, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - rich's
        """What is printed, the cells of tables among it."""
        return super().render_str(printable(text), **options)


output = PlainConsole(highlight=False)
errors = PlainConsole(stderr=True)


def progress_bar(*, count: bool = False) -> Progress:
    """A progress display on the error stream, so that output can be piped; nothing where nobody looks at it."""
    middle = [MofNCompleteColumn()] if count else []
    return Progress(
        TextColumn("{task.description:<28}", markup=False),
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
    with errors.status(escape(printable(description))) as line:
        yield lambda text: line.update(escape(printable(text)))


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
