"""Noise by name: of the shape of published systems, and regular noise of any frequency and length."""

from __future__ import annotations

import re
from dataclasses import replace

from .errors import InputError, UsageError
from .escaping import quote
from .formatting import unknown_name
from .machine import Machine
from .native_files import PRESETS
from .noise_models import AnyNoise, Noise, as_times
from .random_noise import MixedNoise
from .units import PICOSECONDS, parse_time

NOISE_PRESETS = PRESETS / "noise"
SAME = "same"
"""Behind a name: all ranks have the same detours at the same times."""
_REGULAR = re.compile(r"(\d+(?:\.\d+)?)Hz:(\S+)")
_ANY_NETWORK = '[network]\nL = "1us"\no = "1us"\ng = "1us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
MOST_HZ = 10**6


def noise_presets() -> list[str]:
    """The names of the published systems whose noise ships with Idlewave."""
    return sorted(file.stem for file in NOISE_PRESETS.iterdir() if file.suffix == ".toml")


def noise_preset(name: str) -> AnyNoise:
    """The noise of the shape of a published system, such as "jaguar". Raises InputError for an unknown name.

    Its share of time is the published one, its sources are assumed; docs/studies/noise.md says on which grounds.
    """
    if name not in noise_presets():
        raise InputError(unknown_name("noise", name, noise_presets()))
    text = (NOISE_PRESETS / f"{name}.toml").read_text(encoding="utf-8")
    noise = Machine.from_toml(f'name = "{name}"\n{_ANY_NETWORK}{text}', name=f"noise {name}").noise
    if noise is None:
        raise InputError(f"noise {name}: expected detours, found none")
    return noise


def regular_noise(hertz: float, length_ps: int) -> Noise:
    """A detour of `length_ps` every 1 / `hertz` s. Raises UsageError if it leaves no time."""
    if not 0 < hertz <= MOST_HZ:
        raise UsageError(f"expected a frequency above 0 and up to {MOST_HZ} Hz, found {hertz:g}")
    period = round(PICOSECONDS["s"] / hertz)
    if not 0 < length_ps < period:
        raise UsageError(f"expected detours shorter than their period, found {length_ps:,} ps of {period:,} ps")
    return Noise(as_times([0]), as_times([length_ps]), period)


def noise_named(name: str) -> AnyNoise:
    """The noise of a name: a preset (jaguar), or regular noise (1000Hz:100us), with :same behind it co-scheduled.

    Raises UsageError for another name.
    """
    plain, _, same = name.partition(f":{SAME}")
    if same:
        raise UsageError(f"expected a noise such as jaguar or 1000Hz:100us, found {quote(name)}")
    match = _REGULAR.fullmatch(plain)
    if match:
        try:
            noise: AnyNoise = regular_noise(float(match[1]), parse_time(match[2]))
        except ValueError as error:
            raise UsageError(f"{quote(name)}: {error}") from None
    elif plain in noise_presets():
        noise = noise_preset(plain)
    else:
        raise UsageError(f"{unknown_name('noise', plain, noise_presets())}, and regular noise such as 1000Hz:100us")
    return co_scheduled(noise) if plain != name else noise


def co_scheduled(noise: AnyNoise) -> AnyNoise:
    """The same noise, at the same times on all ranks."""
    if isinstance(noise, MixedNoise):
        random = tuple(replace(source, phase=SAME) for source in noise.random)
        return MixedNoise(_same_phase(noise.trace), random)
    return _same_phase(noise) if isinstance(noise, Noise) else replace(noise, phase=SAME)


def _same_phase(noise: Noise) -> Noise:
    return Noise(noise.starts, noise.lengths, noise.period, SAME)
