"""Lists in options of studies, with commas between their words: counts, shares, names."""

from __future__ import annotations

import math

from ..errors import UsageError
from ..escaping import quote
from ..units import parse_count


def counts_from(text: str, what: str) -> list[int]:
    """The whole numbers in a text such as "64,1024", each once. Raises UsageError that says `what` was expected."""
    try:
        numbers = [parse_count(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or len({*numbers}) != len(numbers):
        raise UsageError(f"expected different {what} such as 1,1024, found {quote(text)}")
    return numbers


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
