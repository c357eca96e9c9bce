"""Times and sizes with their units written out: ``"1.3us"``, ``"2.5ns"``, ``"64KiB"``.

Inside Idlewave every time is an integer number of picoseconds; a per-byte cost is a float, picoseconds per byte.
"""

from __future__ import annotations

import re

from .escaping import quote

PICOSECONDS = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "ms": 10**9, "s": 10**12}

MOST_TIME = 2**63 - 1
"""The longest time, ps: 106 days."""

_MOST_CHARACTERS = 100
_LEAST_EXPONENT, _MOST_EXPONENT = -400, 99
_QUANTITY = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?)\s*(ps|ns|us|µs|ms|s)\s*", re.ASCII)


def _exact_time(text: str) -> tuple[int, int]:
    """Picoseconds in `text`, a number with a unit (ps ns us ms s), exactly: numerator and denominator.

    Raises ValueError when it is not of that form, has more than 100 characters, or is beyond 106 days, either way.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"expected a time of at most {_MOST_CHARACTERS} characters, found {quote(text)}")
    match = _QUANTITY.fullmatch(text)
    if not match:
        raise ValueError(f"expected a time with a unit (ps, ns, us, ms or s), such as '1.3us', found {quote(text)}")
    exponent = int(match[2] or 0)
    if exponent < _LEAST_EXPONENT:
        raise ValueError(f"expected an exponent of at least {_LEAST_EXPONENT}, found {quote(text)}")
    # The exponent is checked first, so that no number with very many digits is computed.
    number, divisor = _ratio(match[1]) if exponent <= _MOST_EXPONENT else (MOST_TIME + 1, 1)
    time = number * PICOSECONDS[match[3]]
    if abs(time) > MOST_TIME * divisor:
        raise ValueError(f"expected a time of at most 106 days, found {quote(text)}")
    return time, divisor


def _ratio(number: str) -> tuple[int, int]:
    """A decimal number as numerator and denominator, exactly. (`fractions` would take longer to load than a file of
    times to read.)"""
    mantissa, _, exponent = number.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    shift = int(exponent or 0) - len(decimals)
    digits = int(whole + decimals)
    return (digits * 10**shift, 1) if shift >= 0 else (digits, 10**-shift)


def parse_time(text: str) -> int:
    """Picoseconds in `text`, rounded to the nearest (halves up). Raises ValueError as above."""
    time, divisor = _exact_time(text)
    return (2 * time + divisor) // (2 * divisor)


def parse_cost(text: str) -> float:
    """Picoseconds per byte in `text` ("2.5ns" is 2500.0), of at most 106 days. Raises ValueError as above."""
    time, divisor = _exact_time(text)
    return time / divisor


SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

_SIZE = re.compile(r"\s*([+-]?\d{1,40}(?:\.\d{1,18})?)\s*([A-Za-z]*)\s*", re.ASCII)
MOST_SIZE = 2**63 - 1


def parse_size(text: str) -> int:
    """Bytes in `text`, a number that may have a unit (of SIZES): "8KiB" is 8192, "1.5 MB" 1500000.

    Raises ValueError when it is not of that form, no whole number of bytes, negative, or more than MOST_SIZE.
    """
    match = _SIZE.fullmatch(text)
    scale = SIZES.get(match[2] or "B") if match else None
    if match is None or scale is None:
        raise ValueError(f"expected bytes, such as 4096, 8KiB or 1MB (units: {', '.join(SIZES)}), found '{text[:200]}'")
    number, divisor = _ratio(match[1])
    size, rest = divmod(number * scale, divisor)
    if rest != 0:
        raise ValueError(f"expected a whole number of bytes, found '{text[:200]}'")
    if not 0 <= size <= MOST_SIZE:
        raise ValueError(f"expected from 0 to {MOST_SIZE} bytes, found '{text[:200]}'")
    return size


_COUNT = re.compile(r"\s*([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,2})?)\s*", re.ASCII)


def parse_count(text: str) -> int:
    """The whole number in `text`, exactly: "1024", "1e6", "1.5e3". Raises ValueError when it is none."""
    match = _COUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a whole number such as 1024 or 1e6, found {quote(text)}")
    number, divisor = _ratio(match[1])
    count, rest = divmod(number, divisor)
    if rest != 0:
        raise ValueError(f"expected a whole number, found {quote(text)}")
    return count


def format_time(picoseconds: float, digits: int = 4) -> str:
    """`picoseconds` in the most readable unit, with at most `digits` significant digits: 1300000 -> "1.3us".

    For names that people type again, in ASCII and without a space; what they read is `wording.time_text`.
    """
    if picoseconds == 0:
        return "0ps"
    unit = "ps"
    for name in ("ns", "us", "ms", "s"):
        if abs(picoseconds) >= PICOSECONDS[name]:
            unit = name
    value = picoseconds / PICOSECONDS[unit]
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}{unit}"
    return f"{value:.{digits}g}{unit}"


def exact_time(picoseconds: int) -> str:
    """`picoseconds`, exactly, in the largest unit: 1300000 -> "1.3us"."""
    for name in ("s", "ms", "us", "ns"):
        scale = PICOSECONDS[name]
        if abs(picoseconds) >= scale:
            whole, rest = divmod(abs(picoseconds), scale)
            sign = "-" if picoseconds < 0 else ""
            fraction = str(rest).rjust(len(str(scale)) - 1, "0").rstrip("0")
            return f"{sign}{whole}{'.' + fraction if fraction else ''}{name}"
    return f"{picoseconds}ps"


def exact_cost(picoseconds: float) -> str:
    """`picoseconds` per byte in ns where six digits lose nothing, else in ps: 2500.0 -> "2.5ns"."""
    text = f"{picoseconds / 1000:.6g}ns"
    return text if parse_cost(text) == picoseconds else f"{picoseconds!r}ps"
