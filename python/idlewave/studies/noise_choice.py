"""The noise of a study: a machine's own, or regular noise as it was injected in published experiments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import UsageError
from ..escaping import quote
from ..formatting import SPACE, time_text
from ..machine import Machine
from ..noise_models import AnyNoise, Noise, buffer_of_times
from ..units import parse_time

OWN = "own"
"""The word for the machine's own noise."""
REGULAR = ("1000Hz:100us", "10Hz:50us")
"""The noise of a machine without any: that of the talk's figures of regular noise, 10 % of the time, and detours that
take 0.05 % of it, as much as was measured on the SGI Altix."""
_REGULAR = re.compile(r"(\d+(?:\.\d+)?)Hz:(\S+)")
_SECOND = 10**12


def chosen_noises(words: Sequence[str] | None, machine: Machine) -> dict[str, AnyNoise]:
    """The noises by their words: `OWN`, or a frequency and a length such as 1000Hz:100us.

    None: the machine's own, or `REGULAR` if it has none. Raises UsageError.
    """
    if words is None:
        words = REGULAR if machine.noise is None else (OWN,)
    if not words or len({*words}) != len(words):
        raise UsageError(f"expected different noises, found {quote(','.join(words))}")
    return {word: _noise(word, machine) for word in words}


def noise_text(word: str) -> str:
    """The noise in words: "detours of 100 µs at 1000 Hz"."""
    if word == OWN:
        return "the machine's noise"
    period, length = _period_and_length(word)
    frequency = f"{_SECOND / period:.4g}"
    return f"detours of {time_text(length)} at {frequency}{SPACE}Hz"


def _noise(word: str, machine: Machine) -> AnyNoise:
    if word == OWN:
        if machine.noise is None:
            raise UsageError(f"{quote(machine.name)} has no noise of its own: expected such as {REGULAR[0]}")
        return machine.noise
    period, length = _period_and_length(word)
    return Noise(buffer_of_times([0]), buffer_of_times([length]), period)


def _period_and_length(word: str) -> tuple[int, int]:
    found = _REGULAR.fullmatch(word)
    try:
        frequency, length = (float(found[1]), parse_time(found[2])) if found else (0.0, 0)
    except ValueError:
        frequency, length = 0.0, 0
    period = round(_SECOND / frequency) if frequency > 0 else 0
    if not 0 < length < period <= 2**62:
        raise UsageError(
            f"expected a noise such as {REGULAR[0]}, detours shorter than their period, or {OWN}, found {quote(word)}"
        )
    return period, length
