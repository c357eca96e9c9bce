"""The option by which studies take noise: the machine's own, or regular noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..studies.noise_choice import OWN, REGULAR

F = TypeVar("F", bound=Callable[..., Any])


def noise_options(command: F) -> F:
    """--noise; `words_of` splits its value."""
    return click.option(
        "--noise",
        metavar="NOISE,…",
        help=f"Noise: {OWN}, the machine's, or regular detours such as {REGULAR[0]}.  [default: {OWN}; of a machine "
        f"without any {','.join(REGULAR)}]",
    )(command)


def words_of(text: str | None) -> list[str] | None:
    """The noises of the option, None if it was not given."""
    return None if text is None else text.split(",")
