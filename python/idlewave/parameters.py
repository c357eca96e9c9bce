"""Parameters that are declared once: name, type, unit, default, range and help.

A table of parameters is a `TypedDict`. Each line of it declares a parameter:

    lps: Annotated[int, Parameter(1024, "Number of logical processes", least=1, most=MOST_LPS)]

The rest follows from the table: mypy checks calls of a function with `**given: Unpack[Table]`; `takes` gives that
function the signature and the documentation that `help` shows; `completed` checks ranges and adds defaults; `filled`
sets the fields of the core's struct; `cli/parameter_options.py` makes the options of a command.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import UsageError
from .escaping import quote
from .field_methods import FieldMethods
from .formatting import unknown_name

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

NEVER = 2**63 - 1
"""The time of the core that no run reaches."""


@dataclass(frozen=True, eq=False, repr=False)
class Parameter(FieldMethods):
    """A parameter of a table; its name and its type are those of the table's line.

    help: one sentence without the full stop and the unit.
    least, most: the range of a number, both included.
    above: what a number has to be larger than; for numbers that need not be whole, instead of `least`.
    choices: the names that a text may be.
    default_text: the default as the help shows it, if that is not the value itself.
    metavar: what the help of a command calls the value, if not by its type.
    field: the name of the core's field, if it is another one.
    to_core: makes the value of that field.
    """

    default: Any
    help: str
    unit: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    default_text: str = ""
    metavar: str = ""
    field: str = ""
    to_core: Callable[[Any], Any] = lambda value: value

    def __post_init__(self) -> None:
        if self.above is not None and self.least is not None:
            raise ValueError("a parameter has `least` or `above`, not both")

    @property
    def sentence(self) -> str:
        """The help with the unit, as a sentence."""
        what, semicolon, rest = self.help.partition(";")
        return f"{what}{f', in {self.unit}' if self.unit else ''}{semicolon}{rest}."

    @property
    def shown_default(self) -> str:
        """The default as text; empty if there is none to show."""
        if self.default_text or self.default is None:
            return self.default_text
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)


def ticks(tick: float) -> Callable[[float | None], int]:
    """Makes whole ticks of the core, which last `tick` each, of a time; None is never."""
    return lambda time: NEVER if time is None else round(time / tick)


@functools.cache
def parameters_of(table: type) -> Mapping[str, tuple[Any, Parameter]]:
    """The type and the declaration of each parameter of a table, by name."""
    found = {}
    for name, hint in get_type_hints(table, include_extras=True).items():
        kind, *metadata = get_args(hint)
        found[name] = (kind, next(entry for entry in metadata if isinstance(entry, Parameter)))
    return found


def completed(table: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a table: those given, checked, and the defaults of the others. Raises UsageError.

    `given` may have other keys, too, which are left out.
    """
    declared, values = parameters_of(table), _defaults(table).copy()
    for name, value in given.items():
        # A default needs no check, which for all parameters would take as long as a small simulation.
        if name in declared and value is not values[name]:
            values[name] = checked(name, *declared[name], value)
    return values


@functools.cache
def _defaults(table: type) -> dict[str, Any]:
    return {name: parameter.default for name, (_, parameter) in parameters_of(table).items()}


def checked(name: str, kind: Any, parameter: Parameter, value: Any) -> Any:  # noqa: ANN401 - of any type
    """The value of a parameter of that name and type, with Python's own numbers instead of numpy's. Raises
    UsageError."""
    if value is None and type(None) in get_args(kind):
        return None
    if parameter.choices and isinstance(value, str) and value not in parameter.choices:
        raise UsageError(unknown_name(name, value, parameter.choices))
    if kind is bool:
        return bool(value)
    types = get_args(kind) or (kind,)
    if get_origin(kind) is Sequence:
        return _checked_list(name, value)
    if int not in types and float not in types:
        return value
    number: float
    try:
        number = float(value) if float in types else operator.index(value)
    except (TypeError, ValueError):
        whole = "" if float in types else "whole "
        raise UsageError(f"expected {name} to be a {whole}number, found {quote(value)}") from None
    low = -math.inf if parameter.least is None else parameter.least
    high = math.inf if parameter.most is None else parameter.most
    if not low <= number <= high or (parameter.above is not None and number <= parameter.above):
        unit = f" {parameter.unit}" if parameter.unit else ""
        raise UsageError(f"expected {name} {_range_of(parameter)}{unit}, found {_number(number)}")
    return number


def filled(table: type, values: Mapping[str, Any], core: T, *parts: object) -> T:
    """Sets the fields of a struct of the core, and of its `parts`, to the values of the table's parameters."""
    for name, (_, parameter) in parameters_of(table).items():
        field = parameter.field or name
        target = next((struct for struct in (core, *parts) if hasattr(struct, field)), core)
        setattr(target, field, parameter.to_core(values[name]))
    return core


def takes(table: type) -> Callable[[F], F]:
    """For a function with `**given: Unpack[table]`: it is called with all parameters, checked, and `help` shows them.

    A call raises UsageError for a value out of range, TypeError for a name that is not in the table.
    """

    def decorate(function: F) -> F:
        declared = parameters_of(table)
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        tabled = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default, annotation=kind)
            for name, (kind, parameter) in declared.items()
        ]
        signature = own.replace(parameters=[*named, *tabled])

        @functools.wraps(function)
        def call(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - as the function
            if not given.keys() <= signature.parameters.keys():
                signature.bind(*args, **given)  # raises TypeError; to bind each call would take most of a short one
            return function(*args, **given | completed(table, given))

        call.__signature__ = signature  # type: ignore[attr-defined]
        lines = [f"{name}: {_described(parameter)}" for name, (_, parameter) in declared.items()]
        call.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n\n" + "\n".join(lines)
        return call  # type: ignore[return-value]

    return decorate


def _described(parameter: Parameter) -> str:
    words = [parameter.sentence]
    if parameter.choices:
        words.append(f"One of {', '.join(parameter.choices)}.")
    elif _range_of(parameter):
        words.append(f"{_range_of(parameter).capitalize()}.")
    if parameter.shown_default and parameter.default not in (False, ()):
        words.append(f"Default: {parameter.shown_default}.")
    return " ".join(words)


def _range_of(parameter: Parameter) -> str:
    least = "" if parameter.least is None else f"from {_number(parameter.least)}"
    above = "" if parameter.above is None else f"above {_number(parameter.above)}"
    most = "" if parameter.most is None else f"to {_number(parameter.most)}"
    return " ".join(filter(None, (least, above, most)))


def _number(value: float) -> str:
    if isinstance(value, int) and value > 2**48 and value.bit_count() == 1:
        return f"2^{value.bit_length() - 1}"
    if isinstance(value, int) and value >= 2**53 and (value + 1).bit_count() == 1:
        return f"2^{value.bit_length()} - 1"
    return str(value) if isinstance(value, int) else f"{value:g}"


def _checked_list(name: str, value: Any) -> tuple[int, ...]:  # noqa: ANN401 - of any type
    """The whole numbers of a list, an array or another iterable. Raises UsageError."""
    try:
        return tuple(operator.index(element) for element in value)
    except TypeError:
        raise UsageError(f"expected {name} to be a list of whole numbers, found {quote(value)}") from None
