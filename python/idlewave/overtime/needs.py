"""What a job needs of the network, as people write it: "latency<3us, allreduce<50us, bandwidth>5GB/s"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UsageError
from ..escaping import quote
from ..formatting import unknown_name
from ..measure.overtime.settings import HIGHER_IS_BETTER, TESTS
from ..units import PICOSECONDS, SIZES, parse_size, parse_time

_NEED = re.compile(r"([^<>@=\s]*)\s*(?:@\s*([^<>=]*?)\s*)?([<>]=?)\s*(.*)", re.DOTALL)
_RATE = re.compile(r"\s*([\d.]+(?:[eE][+-]?\d{1,2})?)\s*([A-Za-z]+)\s*/\s*s\s*")
EXAMPLE = "latency<3us, allreduce<50us, bandwidth>5GB/s"


@dataclass(frozen=True)
class Need:
    """A value of a test and the limit that it has to be below, or of bandwidth above: s, or bytes per second.

    `size` is the size of the messages in bytes; None: the largest of bandwidth, the smallest of other tests.
    """

    text: str
    test: str
    limit: float
    size: int | None = None

    @property
    def above(self) -> bool:
        """Whether the value has to be above the limit."""
        return self.test in HIGHER_IS_BETTER

    def holds(self, value: float) -> bool:
        """Whether a value meets the need."""
        return value > self.limit if self.above else value < self.limit


def parse_needs(text: str) -> list[Need]:
    """The needs in a text, with commas between them. Raises UsageError that names the word."""
    words = [word.strip() for word in text.split(",")]
    if not text.strip() or not all(words):
        raise UsageError(f"expected needs such as {quote(EXAMPLE)}, found {quote(text)}")
    return [_need(word) for word in words]


def _need(word: str) -> Need:
    match = _NEED.fullmatch(word)
    if match is None:
        raise UsageError(f"{quote(word)}: expected a test, < or >, and a limit, such as latency<3us")
    test, size, sign, limit = match.groups()
    if test not in TESTS:
        raise UsageError(f"{quote(word)}: {unknown_name('test', test, TESTS)}")
    expected = ">" if test in HIGHER_IS_BETTER else "<"
    if sign[0] != expected:
        raise UsageError(f"{quote(word)}: expected {test}{expected}, found {quote(sign)}")
    found = _rate(word, limit) if test in HIGHER_IS_BETTER else _time(word, limit)
    if not found > 0:
        raise UsageError(f"{quote(word)}: expected a limit above 0, found {quote(limit)}")
    return Need(word, test, found, None if size is None else _size(word, size))


def _time(word: str, text: str) -> float:
    try:
        return parse_time(text) / 1e12
    except ValueError:
        units = ", ".join(PICOSECONDS)
        raise UsageError(f"{quote(word)}: expected a time with a unit ({units}), found {quote(text)}") from None


def _rate(word: str, text: str) -> float:
    match = _RATE.fullmatch(text)
    try:
        number = float(match[1]) if match else -1.0
    except ValueError:
        number = -1.0
    if match is None or match[2] not in SIZES or number < 0:
        units = ", ".join(f"{unit}/s" for unit in SIZES)
        raise UsageError(f"{quote(word)}: expected bytes per second with a unit ({units}), found {quote(text)}")
    return number * SIZES[match[2]]


def _size(word: str, text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(f"{quote(word)}: {error}") from None
