"""Lists in options of studies, with commas between their words: counts, shares, names."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import UsageError
from ..escaping import quote
from ..units import parse_count


def counts_from(
    text: str, what: str, least: int | None = None, parse: Callable[[str], int] = parse_count, such_as: int = 1024
) -> list[int]:
    """The whole numbers in a text such as "64,1024", each once and from `least` on. Raises UsageError that says `what`
    was expected, with the example `such_as`."""
    try:
        numbers = [parse(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or len({*numbers}) != len(numbers) or (least is not None and min(numbers) < least):
        such = f"such as 1,{such_as}" if least is None else f"from {least} on, such as {least},{such_as}"
        raise UsageError(f"expected different {what} {such}, found {quote(text)}")
    return numbers


def numbers_from(text: str, what: str) -> list[float]:
    """The numbers in a text such as "0.1,1,10". Raises UsageError as above."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"expected {what} such as 0.1,1,10, found {quote(text)}") from None


def shares_from(text: str, what: str) -> list[float]:
    """The numbers in a text such as "0.01,0.1", each once; none in "none". Raises UsageError as above."""
    if text == "none":
        return []
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or len({*numbers}) != len(numbers) or not all(map(math.isfinite, numbers)):
        raise UsageError(f"expected different {what} such as 0.01,0.1, or none, found {quote(text)}")
    return numbers


def names_from(text: str, what: str) -> list[str]:
    """The words of a text such as "bcast,reduce", each once. Raises UsageError as above."""
    names = [word.strip() for word in text.split(",")]
    if len({*names}) != len(names) or not all(names):
        raise UsageError(f"expected different {what} with commas between them, found {quote(text)}")
    return names
