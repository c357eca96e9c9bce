"""The options of a command, from a table of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import click

from ..errors import InputError
from ..parameters import Parameter, parameters_of
from ..units import parse_count, parse_size
from .option_types import MOST_COUNT, Count, FiniteRange, OutputFolder, Size

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    PlacementType = click.ParamType[str | list[int]]
    NumbersType = click.ParamType[tuple[int, ...]]
else:
    PlacementType = NumbersType = click.ParamType  # which older versions of click cannot subscript


def options_of(table: type, *, unset: bool = False, default_texts: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """An option for each parameter of a table, in its order: `--checkpoint-every` for `checkpoint_every`.

    `unset`: an option that is not given is None instead of the default of the parameter. `default_texts`: the defaults
    that the help shows, by the names of parameters for which the command has others.
    """
    texts = default_texts or {}

    def add(command: F) -> F:
        for name, (kind, parameter) in reversed(list(parameters_of(table).items())):
            own = replace(parameter, default_text=texts[name]) if name in texts else parameter
            command = option(name, kind, own, unset=unset)(command)
        return command

    return add


def option_of(table: type, name: str, *, unset: bool = False) -> Callable[[F], F]:
    """The option for one parameter of a table. `unset` as in `options_of`."""
    return option(name, *parameters_of(table)[name], unset=unset)


def option(name: str, kind: Any, parameter: Parameter, *, unset: bool = False) -> Callable[[F], F]:  # noqa: ANN401 - a type
    """The option for a parameter of that name and type. `unset` as in `options_of`."""
    flag, text = f"--{name.replace('_', '-')}", parameter.sentence
    if kind is bool:
        both = f"{flag}/--no-{flag[2:]}" if parameter.default else flag
        if unset:
            word = f"{'' if parameter.default else 'no-'}{flag[2:]}"
            return click.option(both, name, is_flag=True, default=None, help=f"{text}  [default: {word}]")
        return click.option(both, name, is_flag=True, default=parameter.default, help=text)
    shown, metavar = parameter.shown_default, parameter.metavar or None
    if unset:
        text += f"  [default: {shown}]" if shown and parameter.default != () else ""
        return click.option(flag, name, type=_type(kind, parameter), metavar=metavar, help=text)
    show = parameter.default_text or parameter.default is not None
    return click.option(
        flag,
        name,
        type=_type(kind, parameter),
        default=parameter.default,
        show_default=show,
        metavar=metavar,
        help=text,
    )


def _type(kind: Any, parameter: Parameter) -> click.ParamType[Any]:  # noqa: ANN401 - a type
    types = get_args(kind) or (kind,)
    if get_origin(kind) is Sequence:
        return (
            Numbers(",", parse_size, "bytes")
            if parameter.unit == "bytes"
            else Numbers("x", parse_count, "whole numbers")
        )
    if any(get_origin(each) is Sequence for each in types):
        return NamesOrFile(parameter.choices)
    if Path in types:
        return OutputFolder()
    if parameter.choices:
        return click.Choice(parameter.choices)
    if kind is str:
        return click.STRING
    if int in types:
        least = 0 if parameter.least is None else int(parameter.least)
        most = MOST_COUNT if parameter.most is None else int(parameter.most)
        return Size(least, most) if parameter.unit == "bytes" else Count(least, most)
    if parameter.above is not None:
        return FiniteRange(parameter.above, parameter.most, min_open=True)
    return FiniteRange(parameter.least, parameter.most)


class NamesOrFile(PlacementType):
    """The name of a placement, or a file with the number of a partition for every LP."""

    name = "placement"

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """The values that the help shows."""
        return "|".join((*self._names, "FILE"))

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str | list[int]:
        """The name, or the content of the file."""
        if value in self._names:
            return str(value)
        from ..placement_file import read_placement

        try:
            return read_placement(Path(str(value)))
        except InputError as error:
            self.fail(f"expected {', '.join(self._names)}, or a file of whole numbers: {error}", param, ctx)


class Numbers(NumbersType):
    """A list of numbers with a separator: 4x4x2, or 100,8KiB."""

    name = "numbers"

    def __init__(self, separator: str, number: Callable[[str], int], what: str) -> None:
        self._separator, self._number, self._what = separator, number, what

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """The form of the list, as the help shows it."""
        return "NxNxN" if self._separator == "x" else "N,N,..."

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(self._number(part) for part in str(value).split(self._separator))
        except ValueError:
            self.fail(f"expected {self._what} with '{self._separator}' between them", param, ctx)
