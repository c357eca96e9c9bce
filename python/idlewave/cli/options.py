"""What options of several commands have in common."""

from __future__ import annotations

import math
from typing import Any

import click
from click.core import ParameterSource

from ..errors import UsageError


class FiniteRange(click.FloatRange):
    """Numbers from a range, without "nan" and "inf", which click's has."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's
        """The number; fails with click's words where it is none, or not finite."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a finite number, found {value}", param, ctx)
        return number


def refuse_given(context: click.Context, names: tuple[str, ...], why: str) -> None:
    """Raise UsageError naming those of the command's parameters `names` that were given: they would be dropped."""
    given = [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if parameter.name in names and context.get_parameter_source(parameter.name) is not ParameterSource.DEFAULT
    ]
    if given:
        raise UsageError(f"{why}: {', '.join(sorted(given))} has no meaning beside it")
