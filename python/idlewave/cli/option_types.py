"""What options of several commands have in common."""

from __future__ import annotations

import json
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
"""Of things, where nothing else is said."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, as output.")
"""--json, which every command has: what it found goes to the output stream as one object, all else elsewhere."""


def print_json(value: object) -> None:
    """A command's result as one JSON object, which has neither infinities nor NaN."""
    click.echo(json.dumps(value, allow_nan=False))


class FiniteRange(click.FloatRange):
    """Numbers from a range, without "nan" and "inf", which click's has."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's
        """The number; fails with click's words where it is none, or not finite."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a finite number, found {value}", param, ctx)
        return number


if TYPE_CHECKING:
    NumberType = click.ParamType[int]
else:
    NumberType = click.ParamType  # which older versions of click cannot subscript


class Size(NumberType):
    """Bytes, which may be written with a unit: 4096, 8KiB, 1MB."""

    name = "bytes"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's
        """The number of bytes."""
        try:
            size = value if isinstance(value, int) else parse_size(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if size < self._least:
            self.fail(f"expected at least {self._least} bytes, found {value}", param, ctx)
        return size


class Count(click.IntRange):
    """A whole number from a range, which may be written as 1e6: numbers of things, and seeds."""

    name = "count"

    def __init__(self, least: int = 0, most: int = MOST_COUNT) -> None:
        super().__init__(least, None if most == MOST_COUNT else most)  # as the help shows it
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's
        """The number. Fails with click's words where it is none, or not of the range."""
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
    """A time with its unit, such as 2ms; in picoseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's
        """Picoseconds."""
        try:
            return value if isinstance(value, int) else parse_time(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class OutputFile(click.Path):
    """A file to write: what is in its way is said before anything is measured or simulated for it."""

    def __init__(self, endings: tuple[str, ...] = (), folders: tuple[str, ...] = ()) -> None:
        """`endings` of names that are allowed, all if there are none; with those of `folders` it is a folder."""
        super().__init__(path_type=Path)
        self._endings = endings
        self._folders = folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """The path. Fails with click's words where it has another ending, raises OutputError where no file can be."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if self._endings and path.suffix not in self._endings:
            self.fail(f"expected a name that ends with {', '.join(self._endings)}, found {quote(value)}", param, ctx)
        return check_new_folder(path) if path.suffix in self._folders else check_output(path)


class OutputFolder(click.Path):
    """A folder to write into, which is made if need be: what is in its way is said at once."""

    def __init__(self, *, checked: bool = True) -> None:
        """`checked` at once; else the command does so, where it writes there only sometimes."""
        super().__init__(path_type=Path)
        self._checked = checked

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """The path. Raises OutputError where no folder can be."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        return check_output_folder(path) if self._checked else path


def refuse_given(context: click.Context, names: tuple[str, ...], why: str) -> None:
    """Raise UsageError naming those of the command's parameters `names` that were given: they would be dropped."""
    given = [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if parameter.name in names and context.get_parameter_source(parameter.name) is not ParameterSource.DEFAULT
    ]
    if given:
        raise UsageError(f"{why}: {', '.join(sorted(given))} has no meaning beside it")
