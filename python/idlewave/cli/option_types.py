"""Types of options, and --json, which all commands have."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..errors import UsageError
from ..escaping import quote
from ..output import check_new_folder, check_output, check_output_folder
from ..units import parse_count, parse_size, parse_time

MOST_COUNT = 2**53
"""The largest count, where an option has no bound of its own."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
"""--json, which every command has: the result goes to the output stream as one object, and nothing else goes there."""
quick = click.option(
    "--quick",
    is_flag=True,
    help="Measure PRTT alone, once, and no patterns of messages; a fit that fails is said in a note.",
)
"""--quick of the commands that measure a network."""


def print_json(value: object) -> None:
    """Print the result of a command as one JSON object; JSON has neither infinities nor NaN."""
    import json

    click.echo(json.dumps(value, allow_nan=False))


class FiniteRange(click.FloatRange):
    """A finite number from a range; the range of click has "nan" and "inf", too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's
        """The number. Fails with the message of click if the text is no finite number."""
        number = float(click.FLOAT.convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a finite number, found {value}", param, ctx)
        return float(super().convert(number, param, ctx))


if TYPE_CHECKING:
    NumberType = click.ParamType[int]
else:
    NumberType = click.ParamType  # which older versions of click cannot subscript


if TYPE_CHECKING:
    NamesType = click.ParamType[list[str]]
else:
    NamesType = click.ParamType


class Names(NamesType):
    """Names with commas between them."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:  # noqa: ANN401, ARG002 - click's
        """A list of the names."""
        return value if isinstance(value, list) else [name.strip() for name in str(value).split(",")]


class Size(NumberType):
    """A number of bytes, with or without a unit: 4096, 8KiB, 1MB."""

    name = "bytes"

    def __init__(self, least: int = 0, most: int = MOST_COUNT) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's
        """The number of bytes."""
        try:
            size = value if isinstance(value, int) else parse_size(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if size < self._least:
            self.fail(f"expected at least {self._least} bytes, found {value}", param, ctx)
        if size > self._most:
            self.fail(f"expected at most {self._most} bytes, found {value}", param, ctx)
        return size


class Count(click.IntRange):
    """A count or a seed: a whole number from a range, which may be written as 1e6."""

    name = "count"

    def __init__(self, least: int = 0, most: int = MOST_COUNT) -> None:
        super().__init__(least, None if most == MOST_COUNT else most)  # as the help shows it
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's
        """The number. Fails with the message of click if the text is no whole number of the range."""
        try:
            number = value if isinstance(value, int) else parse_count(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if number < self._least:
            self.fail(f"expected a whole number of at least {self._least}, found {quote(value)}", param, ctx)
        if number > self._most:
            self.fail(f"expected a whole number of at most {self._most}, found {quote(value)}", param, ctx)
        return number


class Duration(NumberType):
    """A time with its unit, such as 2ms; the value is in picoseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's
        """Picoseconds."""
        try:
            return value if isinstance(value, int) else parse_time(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


if TYPE_CHECKING:
    FloatType = click.ParamType[float]
else:
    FloatType = click.ParamType  # which older versions of click cannot subscript

_LONG_UNITS = {"m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}


class Lasting(FloatType):
    """How long something lasts, with its unit: 500ms, 90s, 30m (or 30min), 12h, 2d; the value is in seconds."""

    name = "time"

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's
        """Seconds."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        number = text.rstrip("abcdefghijklmnopqrstuvwxyzµ")
        scale = _LONG_UNITS.get(text[len(number) :])
        try:
            seconds = parse_time(text) * 1e-12 if scale is None else float(number) * scale
        except ValueError:
            expected = "a time with a unit (ms, s, m, h or d), such as 90s or 12h"
            self.fail(f"expected {expected}, found {quote(value)}", param, ctx)
        if not self._least <= seconds <= self._most:
            self.fail(f"expected from {self._least:g} s to {self._most:g} s, found {quote(value)}", param, ctx)
        return seconds


class OutputFile(click.Path):
    """A file to write. It is checked before anything is measured or simulated for it."""

    def __init__(self, endings: tuple[str, ...] = (), folders: tuple[str, ...] = ()) -> None:
        """`endings`: the endings of names that are allowed, default all. A name with an ending of `folders` is a
        folder."""
        super().__init__(path_type=Path)
        self._endings = endings
        self._folders = folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """The path. Fails with the message of click for another ending, raises OutputError if the file cannot be
        written."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if self._endings and path.suffix not in self._endings:
            self.fail(f"expected a name that ends with {', '.join(self._endings)}, found {quote(value)}", param, ctx)
        return check_new_folder(path) if path.suffix in self._folders else check_output(path)


class OutputFolder(click.Path):
    """A folder to write into, made if it is not there. It is checked before anything is measured for it."""

    def __init__(self, *, checked: bool = True) -> None:
        """`checked`: the folder is checked at once; else the command checks it, if it writes there."""
        super().__init__(path_type=Path)
        self._checked = checked

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """The path. Raises OutputError if no folder can be there."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        return check_output_folder(path) if self._checked else path


def refuse_given(context: click.Context, names: tuple[str, ...], why: str) -> None:
    """Raise UsageError if one of the parameters `names` was given on the command line, where it would have no
    effect."""
    given = [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if parameter.name in names and context.get_parameter_source(parameter.name) is not ParameterSource.DEFAULT
    ]
    if given:
        raise UsageError(f"{why}: {', '.join(sorted(given))} has no meaning beside it")


trace_folder = click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    default=Path("trace"),
    show_default=True,
    help="Folder to write the trace to.",
)
"""--output of the commands that write a trace."""
