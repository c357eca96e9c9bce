"""Numbers and lists as text for readers: few digits, a unit, a no-break space between them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from idlewave.escaping import quote
from idlewave.units import PICOSECONDS

SPACE = "\u202f"  # narrow, and no line breaks there
MINUS = "\u2212"


def plain(text: str) -> str:
    """`text` for a terminal: narrow spaces and typographic minus signs, which are hard to search for, are replaced."""
    return text.replace(SPACE, " ").replace(MINUS, "-")


def time_text(picoseconds: float, digits: int = 3) -> str:
    """`picoseconds` in the unit that reads best: 1300000 -> "1.3 µs"."""
    if picoseconds == 0:
        return f"0{SPACE}s"
    unit = "s"
    for name in ("ms", "us", "ns", "ps"):
        if float(f"{abs(picoseconds):.{digits}g}") < PICOSECONDS[unit]:
            unit = name
    value = float(f"{picoseconds / PICOSECONDS[unit]:.{digits}g}")
    whole = abs(value) >= 10 ** (digits - 1)
    number = f"{value:,.0f}" if whole else f"{value:.{digits}g}"
    return f"{number.replace('-', MINUS)}{SPACE}{unit.replace('us', 'µs')}"


def plain_time(picoseconds: float, digits: int = 4) -> str:
    """The same text for a terminal."""
    return plain(time_text(picoseconds, digits))


def seconds_text(seconds: float, digits: int = 3) -> str:
    """`seconds` as text: 0.0012 -> "1.2 ms"."""
    return time_text(seconds * 1e12, digits)


def fixed_seconds_texts(seconds: list[float], digits: int = 4) -> list[str]:
    """`seconds` as a column of text: the same unit and decimals for all, `digits` digits for the largest."""
    largest = max(map(abs, seconds), default=0.0)
    scale, unit = next(((s, u) for s, u in ((1.0, "s"), (1e3, "ms")) if largest * s >= 1), (1e6, "µs"))
    decimals = max(0, digits - len(f"{largest * scale:.0f}"))
    return [f"{value * scale:,.{decimals}f}{SPACE}{unit}" for value in seconds]


def count_text(number: float) -> str:
    """A whole number with separators: 16384 -> "16,384"."""
    return f"{int(number):,}"


def si_text(number: float, digits: int = 3) -> str:
    """A count, shortened: 12345678 -> "12.3M"."""
    scaled, suffix = _scaled(number, ("", "k", "M", "G", "T", "P"), digits)
    return f"{scaled}{suffix}"


def volume_text(size: float) -> str:
    """An amount of data in decimal units: 12345678 -> "12.3 MB"."""
    scaled, unit = _scaled(size, ("B", "kB", "MB", "GB", "TB", "PB"), 3)
    return f"{scaled}{SPACE}{unit}"


def size_text(size: float) -> str:
    """A message size: in binary units if these are exact, else in bytes: 65536 -> "64 KiB"."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale and size % scale == 0:
            return f"{int(size // scale):,}{SPACE}{unit}"
    return f"{int(size):,}{SPACE}B"


def percent_number(fraction: float, *, signed: bool = False) -> str:
    """`fraction` in percent without the sign %: two significant digits below 10, whole numbers above."""
    value = abs(fraction) * 100
    if value == 0:
        return "0"
    sign = MINUS if fraction < 0 else "+" if signed else ""
    if value < 0.001:
        return f">{MINUS}0.001" if fraction < 0 else "<0.001"
    if value >= 9.95:
        return f"{sign}{value:,.0f}"
    decimals = 1 if value >= 0.995 else 2 if value >= 0.0995 else 3
    return f"{sign}{value:.{decimals}f}"


def percent_text(fraction: float, *, signed: bool = False) -> str:
    """`fraction` in percent: 0.0021 -> "0.21 %"."""
    if math.isinf(fraction):
        return "infinite"
    if math.isnan(fraction):
        return "–"
    return f"{percent_number(fraction, signed=signed)}{SPACE}%"


def plain_percent(fraction: float, *, signed: bool = False) -> str:
    """The same text for a terminal."""
    return plain(percent_text(fraction, signed=signed))


def percent_tick(fraction: float) -> str:
    """`fraction` in percent for an axis, without trailing zeros: 0.05 -> "5 %"."""
    value = 100 * fraction
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if value and math.isfinite(value) else 0
    text = f"{value:,.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    return text.replace("-", MINUS) + f"{SPACE}%"


def percent_range(low: float, high: float) -> str:
    """Two fractions in percent: "0.19 to 0.23 %", or one of them if both have the same text; "–" if one is NaN."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    first, last = percent_number(low), percent_number(high)
    return f"{last}{SPACE}%" if first == last else f"{first} to {last}{SPACE}%"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: ": did you mean 'bcast'?", or "." if no known word is similar."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f": did you mean '{near[0]}'?" if near else "."


def unknown_name(kind: str, word: str, known: Iterable[str]) -> str:
    """The message about an unknown name, with a similar one and a list of all."""
    names = list(known)
    return f"no {kind} is called {quote(word)}{did_you_mean(word, names)} There are {', '.join(names)}"


def join_words(words: list[str], last: str = " and ", comma: str = ", ") -> str:
    """An enumeration: "", "a", "a and b", "a, b and c". `last` stands before the last word, `comma` before others."""
    return "".join(words) if len(words) < 2 else f"{comma.join(words[:-1])}{last}{words[-1]}"


def plural(number: float, noun: str) -> str:
    """ "1 seed", "16 seeds". A noun in -y is not expected."""
    return f"{count_text(number)} {noun}{'' if number == 1 else 's'}"


def _scaled(number: float, units: tuple[str, ...], digits: int) -> tuple[str, str]:
    step = 0
    while abs(number) >= 999.5 and step < len(units) - 1:
        number, step = number / 1000, step + 1
    whole = step == 0 or abs(number) >= 10 ** (digits - 1)
    return (f"{number:,.0f}" if whole else f"{number:.{digits}g}"), units[step]
