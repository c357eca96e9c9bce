"""The types of single values in files. The description of a type is the text after "expected" in messages."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from ..units import parse_cost, parse_time

T = TypeVar("T")

MOST_WHOLE = 2**63 - 1
_MOST_PICOSECONDS = 2**62
_LARGE = 9.2e18
LONGEST_NS = 9.2e15
"""106 days, whose ps fit into 64 bits."""

Whole = Annotated[int, Meta(ge=0, le=MOST_WHOLE, description="a whole number from 0 on")]
WholeFrom1 = Annotated[int, Meta(ge=1, le=MOST_WHOLE, description="a whole number from 1 on")]
Cpu = Annotated[int, Meta(ge=0, lt=2**31, description="a whole number from 0 on")]
Number = Annotated[float, Meta(ge=-_LARGE, le=_LARGE, description="a number from -9.2e18 to 9.2e18")]
"""A finite number, small enough for a time of so many ns or ps."""
Amount = Annotated[float, Meta(ge=0, le=_LARGE, description="a number from 0 to 9.2e18")]
Positive = Annotated[float, Meta(gt=0, le=_LARGE, description="a number above 0, up to 9.2e18")]
Nanoseconds = Annotated[float, Meta(ge=0, le=LONGEST_NS, description="a number from 0 on, of ns of at most 106 days")]
PositiveNanoseconds = Annotated[
    float, Meta(ge=0.001, le=LONGEST_NS, description="a number above 0, of ns of at most 106 days")
]
Seconds = Annotated[float, Meta(ge=-1e10, le=1e10, description="a number, of s below 300 years")]


class Open(Struct, kw_only=True):
    """A table with unknown keys allowed, because a later version may write some."""


class Closed(Struct, kw_only=True, forbid_unknown_fields=True):
    """A table that people write: an unknown key is an error."""


class Time(int):
    """ps, written with a unit: "1.3us"."""

    words = "a time with a unit, such as '1.3us'"


class Cost(float):
    """ps per byte, written with a unit: "2.5ns"."""

    words = "a time with a unit, such as '1.3us'"


class WrongValueError(ValueError):
    """A value does not fit its type. The message says what is expected."""


def from_file(kind: type, value: object) -> object:
    """Convert a text of a file to one of the types above. Raises WrongValueError."""
    if kind is not Time and kind is not Cost:
        raise NotImplementedError(f"no value of {kind} is read from a file")
    if not isinstance(value, str):
        raise WrongValueError
    time = (parse_time if kind is Time else parse_cost)(value)
    if not 0 <= time < _MOST_PICOSECONDS:
        raise WrongValueError("a time that is not negative and below 50 days")
    return kind(time)
