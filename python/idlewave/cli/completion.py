"""Completion in the shell: the names that it offers for options and arguments, beside files.

The shell asks through click: `eval "$(_IDLEWAVE_COMPLETE=bash_source idlewave)"` (docs/command-line.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Items = list[CompletionItem]


def machines(_context: click.Context, _parameter: click.Parameter, begun: str) -> Items:
    """Presets, or files."""
    from ..machine import Machine

    return _names_or_files(Machine.presets(), begun)


def sources(_context: click.Context, _parameter: click.Parameter, begun: str) -> Items:
    """Patterns, or files."""
    from click.shell_completion import CompletionItem

    from ..pattern_options import PATTERNS

    found = [CompletionItem(name, help=does) for name, (does, _) in PATTERNS.items() if name.startswith(begun)]
    return [*found, CompletionItem(begun, type="file")] if begun == "" or not found else found


def algorithms(context: click.Context, _parameter: click.Parameter, begun: str) -> Items:
    """COLLECTIVE=NAME; for a pattern also the names of its algorithms."""
    from click.shell_completion import CompletionItem

    from .. import _core

    source = context.params.get("source")
    rows = _core.algorithms()
    words = [name for collective, name, _ in rows if collective == source]
    words += [f"{collective}={name}" for collective, name, _ in rows]
    return [CompletionItem(word) for word in words if word.startswith(begun)]


def _names_or_files(names: Iterable[str], begun: str) -> Items:
    from click.shell_completion import CompletionItem

    found = [CompletionItem(name) for name in names if name.startswith(begun)]
    return [*found, CompletionItem(begun, type="file")] if begun == "" or not found else found
