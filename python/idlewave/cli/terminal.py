"""Printing of the commands: results on the output stream, everything else on the error stream."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleDimensions
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .. import formatting
from ..escaping import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.progress import Progress

_ANY_WIDTH = 10_000


class _Stream(Console):
    """A stream whose lines and tables are never cut: if it is no terminal it is as wide as they are, unless COLUMNS is
    set.

    Texts of files and programs are printed literally, without markup and control characters. No text has an end of
    line, so that a name cannot fake a line of ours.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - rich's
        """A text to print, such as the cell of a table."""
        return super().render_str(printable(text, keep=""), **options)

    def on_broken_pipe(self) -> None:
        """Nobody reads the output any more: an exception like others, where rich would end the process."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    @property
    def size(self) -> ConsoleDimensions:
        """Columns and lines."""
        if not self.is_terminal and "COLUMNS" not in self._environ:
            return ConsoleDimensions(_ANY_WIDTH, 25)
        return super().size

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


output = _Stream()
errors = _Stream(stderr=True)


def say(text: str, *, bold: bool = False) -> None:
    """Print a line of the result."""
    output.print(formatting.plain(text), style="bold" if bold else None)


def say_note(text: str) -> None:
    """Print a note on the error stream: a reservation about the result, or a side effect."""
    errors.print(f"note: {formatting.plain(text)}")


def to_error_stream() -> None:
    """From now on print text on the error stream, and leave the output stream to JSON."""
    output.stderr = True


def progress_bar(*, count: bool = False) -> Progress:
    """A progress display on the error stream; nothing if that is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

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
    """An animated line on the error stream for work of unknown length; yields the function that changes it."""
    with errors.status(escape(printable(description, keep=""))) as line:
        yield lambda text: line.update(escape(printable(text, keep="")))


Format = str | Callable[[Any], str]
"""How a cell becomes text: a format, or a function."""


def show_table(table: pd.DataFrame, title: str, formats: Mapping[str, Format] | None = None) -> None:
    """Print a data frame as a table; `formats` by column."""
    import pandas as pd

    types = pd.api.types
    numeric = {
        str(column)
        for column in table.columns
        if types.is_numeric_dtype(table[column]) and not types.is_bool_dtype(table[column])
    }
    show_rows(title, [str(column) for column in table.columns], table.itertuples(index=False), numeric, formats)


def show_rows(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    numeric: Collection[str] = (),
    formats: Mapping[str, Format] | None = None,
) -> None:
    """Print rows as a table. `numeric` columns are aligned on the right; `formats` by column."""
    shown = Table(title=formatting.plain(title), title_justify="left", title_style="bold")
    for column in columns:
        shown.add_column(column, justify="right" if column in numeric else "left", overflow="fold")
    for row in rows:
        cells = zip(columns, row, strict=True)
        shown.add_row(*(_cell(value, (formats or {}).get(name, "")) for name, value in cells))
    output.print(shown)


def _cell(value: object, form: Format) -> str:
    return formatting.plain(form(value) if callable(form) else format(value, form))
