"""The option by which studies take noise: the machine's own, of published systems, or regular noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..noise_presets import OWN, REGULAR, SAME, noise_presets
from .number_lists import names_from

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT = f"{OWN}; of a machine without any {','.join(REGULAR)}"
_GRAMMAR = (
    f"{OWN}, the machine's; noise of the shape of published systems: {', '.join(noise_presets())}; or regular detours "
    f"such as {REGULAR[0]}; :{SAME} behind it co-schedules it"
)


def noise_options(default: str = DEFAULT) -> Callable[[F], F]:
    """--noise, of which a study takes several; `noises_of` splits its value. `default` is what is without it."""
    return click.option("--noise", metavar="NOISE,…", help=f"Noise: {_GRAMMAR}.  [default: {default}]")


def one_noise_option(default: str = OWN) -> Callable[[F], F]:
    """--noise, of which a study takes one. `default` is what is without it."""
    return click.option("--noise", metavar="NOISE", help=f"The noise: {_GRAMMAR}.  [default: {default}]")


def noises_of(text: str | None) -> list[str] | None:
    """The noises of the option, None if it was not given. Raises UsageError."""
    return None if text is None else names_from(text, "noises")
