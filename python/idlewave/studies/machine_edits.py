"""What-if edits of a machine: `L=0.5x`, `G=2x`, `o=1us`, `node.L=300ns`, `S=64KiB`.

The names are those of a machine.toml, and a value is a factor or what stands there, with its unit. An edit holds for
messages of all sizes, so for all segments of its level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, cast, get_args

from ..errors import InputError, UsageError
from ..escaping import quote
from ..machine import Level, Machine, Parameters, Segment
from ..units import parse_cost, parse_size, parse_time

LevelName = Literal["network", "node", "shared_buffer", "one_sided"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)
TIMES = {"L": ("L",), "o": ("o_s", "o_r"), "o_s": ("o_s",), "o_r": ("o_r",), "g": ("g",), "c": ("c",), "o_p": ("o_p",)}
"""The parameters that are times, and the fields that each of them sets."""
COSTS = {"G": ("G",), "O": ("O_s", "O_r"), "O_s": ("O_s",), "O_r": ("O_r",)}
"""The same of times per byte."""
EAGER_LIMIT = "S"
NAMES = (*TIMES, *COSTS, EAGER_LIMIT)
_MOST_DIGITS = 40


@dataclass(frozen=True)
class Change:
    """One parameter of a level: `factor` multiplies it, or else it becomes `value`, in ps, ps per byte or bytes
    (None: S is "inf")."""

    level: LevelName
    name: str
    factor: Fraction | None
    value: float | None = None


@dataclass(frozen=True)
class MachineEdit:
    """An edit, as it was written, and its changes, which are made together."""

    text: str
    changes: tuple[Change, ...]


def parse_edit(text: str) -> MachineEdit:
    """The edit in a text such as "L=0.5x" or "L=0.5x,node.L=300ns". Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    changes = tuple(_change(word) for word in words)
    targets = [(change.level, field) for change in changes for field in _fields(change.name)]
    if len({*targets}) != len(targets):
        raise UsageError(f"expected each parameter once in an edit, found {quote(text)}")
    return MachineEdit(",".join(words), changes)


def edited(machine: Machine, edit: MachineEdit) -> Machine:
    """`machine` with the edit, named after both. Raises UsageError if it has not the level or no multiple of S, or
    would be no machine."""
    changed = machine
    for change in edit.changes:
        level = getattr(changed, change.level)
        if level is None:
            raise UsageError(
                f"{quote(machine.name)} has no [network.{change.level}] that {quote(edit.text)} would edit"
            )
        new: Any = {change.level: _edited_level(level, change, machine)}
        changed = replace(changed, **new)
    changed = replace(changed, name=f"{machine.name}, {edit.text}")
    try:
        changed.core()
    except InputError as error:
        raise UsageError(f"{quote(edit.text)} makes no machine of {quote(machine.name)}: {error}") from None
    return changed


def _change(word: str) -> Change:
    place, equals, value = word.partition("=")
    level, dot, name = place.strip().rpartition(".")
    if not equals or (dot and level not in LEVELS) or name not in NAMES:
        raise UsageError(
            f"expected an edit such as L=0.5x, o=1us or node.G=0.1ns, of {', '.join(NAMES)} and of the levels "
            f"{', '.join(LEVELS)}, found {quote(word)}"
        )
    of = cast("LevelName", level or LEVELS[0])
    value = value.strip()
    if value.endswith("x"):
        return Change(of, name, _factor(value.removesuffix("x"), word))
    return Change(of, name, None, _value(name, value, word))


def _value(name: str, text: str, word: str) -> float | None:
    try:
        if name == EAGER_LIMIT:
            return None if text == "inf" else parse_size(text)
        found = parse_time(text) if name in TIMES else parse_cost(text)
        if found < 0:
            raise ValueError(f"expected a time from 0 on, found {quote(text)}")
        return found
    except ValueError as error:
        raise UsageError(f"{quote(word)}: expected a factor such as 0.5x, or: {error}") from None


def _factor(text: str, word: str) -> Fraction:
    try:
        if len(text) > _MOST_DIGITS or "/" in text or "_" in text or "e" in text.lower():
            raise ValueError(text)
        factor = Fraction(text)
    except ValueError:
        raise UsageError(f"{quote(word)}: expected a factor such as 0.5x or 2x") from None
    if factor < 0:
        raise UsageError(f"{quote(word)}: expected a factor from 0 on")
    return factor


def _fields(name: str) -> tuple[str, ...]:
    return TIMES.get(name) or COSTS.get(name) or (name,)


def _edited_level(level: Level, change: Change, machine: Machine) -> Level:
    if change.name == EAGER_LIMIT:
        return replace(level, eager_limit=_eager_limit(level, change, machine))
    segments = tuple(Segment(part.start, _edited(part.parameters, change)) for part in level.segments)
    return replace(level, parameters=_edited(level.parameters, change), segments=segments)


def _eager_limit(level: Level, change: Change, machine: Machine) -> int | None:
    if change.factor is None:
        return None if change.value is None else int(change.value)
    if level.eager_limit is None:
        raise UsageError(f"S of {quote(machine.name)} is inf, which has no multiple")
    return _rounded(level.eager_limit * change.factor)


def _edited(parameters: Parameters, change: Change) -> Parameters:
    new: dict[str, Any] = {}
    for field in _fields(change.name):
        factor, value = change.factor, Fraction(change.value or 0)
        exact = value if factor is None else factor * Fraction(getattr(parameters, field))
        new[field] = _rounded(exact) if change.name in TIMES else float(exact)
    return replace(parameters, **new)


def _rounded(value: Fraction) -> int:
    """The nearest whole number, halves up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)
