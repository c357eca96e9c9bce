"""Tables of texts in files and pipes: what rich prints there, without rich, which takes longer to load than to list all
machines."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Sequence

import click

from ..formatting import plain

_OF_RICH = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which rich prints otherwise than into a file."""
_WIDEST = 10_000
_WIDE = "\u0300"
"""The first character that may take another width than one column."""


def show_texts(
    title: str, columns: Sequence[str], rows: Iterable[Iterable[object]], numeric: Collection[str] = ()
) -> None:
    """Print rows as a table, as `terminal.show_rows` does: `numeric` columns are aligned on the right."""
    texts = [[plain(str(value)) for value in row] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(columns, *texts, strict=True)]
    if not _is_plain([title, *columns, *(text for row in texts for text in row)], len(title), widths):
        from .terminal import show_rows

        show_rows(title, columns, texts, numeric)
        return
    aligned = ["{:>{}}" if name in numeric else "{:<{}}" for name in columns]

    def line(cells: Sequence[str], left: str, between: str, right: str) -> str:
        padded = (form.format(cell, width) for form, cell, width in zip(aligned, cells, widths, strict=True))
        return f"{left} {f' {between} '.join(padded)} {right}"

    def rule(left: str, across: str, between: str, right: str) -> str:
        return f"{left}{between.join(across * (width + 2) for width in widths)}{right}"

    top = rule("┏", "━", "┳", "┓")
    lines = [title, top, line(columns, "┃", "┃", "┃"), rule("┡", "━", "╇", "┩")]
    lines += [line(row, "│", "│", "│") for row in texts]
    click.echo("\n".join([*lines, rule("└", "─", "┴", "┘")]))


def _is_plain(texts: Sequence[str], title: int, widths: Sequence[int]) -> bool:
    """Whether the lines below are those that rich would print of these texts."""
    if sys.stdout.isatty() or not (sys.stdout.encoding or "").lower().startswith("utf"):
        return False
    if any(name in os.environ for name in _OF_RICH):
        return False
    width = sum(widths) + 3 * len(widths) + 1
    one_column = all(text.isprintable() and max(text, default="") < _WIDE and text == text.strip() for text in texts)
    return title <= width <= _WIDEST and one_column
