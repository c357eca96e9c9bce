"""Noise by name: a machine's own, that of published systems, and regular noise of any frequency and length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .errors import InputError, UsageError
from .escaping import quote
from .formatting import SPACE, time_text, unknown_name
from .machine import Machine
from .native_files import PRESETS
from .noise_models import AnyNoise, Noise, as_times
from .random_noise import MixedNoise
from .units import PICOSECONDS, parse_time

NOISE_PRESETS = PRESETS / "noise"
OWN = "own"
"""The noise of the machine itself."""
SAME = "same"
"""Behind a name: all ranks have the same detours at the same times."""
REGULAR = ("1000Hz:100us", "10Hz:50us")
"""The noise of a machine without any: that of the talk's figures of regular noise, 10 % of the time, and detours that
take 0.05 % of it, as much as was measured on the SGI Altix."""
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


def noise_named(name: str, machine: Machine | None = None) -> AnyNoise:
    """The noise of a name: `OWN`, that of the machine, a preset (jaguar), or regular noise (1000Hz:100us); with :same
    behind it co-scheduled.

    Raises UsageError for another name, and for `OWN` without a machine that has noise.
    """
    plain, same = _without_same(name)
    match = _REGULAR.fullmatch(plain)
    if match:
        try:
            noise: AnyNoise = regular_noise(float(match[1]), parse_time(match[2]))
        except ValueError as error:
            raise UsageError(f"{quote(name)}: {error}") from None
    elif plain == OWN and machine is not None:
        noise = _noise_of(machine)
    elif plain in noise_presets():
        noise = noise_preset(plain)
    else:
        own = [] if machine is None else [OWN]
        known = unknown_name("noise", plain, [*own, *noise_presets()])
        raise UsageError(f"{known}, and regular noise such as {REGULAR[0]}")
    return co_scheduled(noise) if same else noise


def with_noise_named(machine: Machine, name: str) -> Machine:
    """The machine with the noise of that name instead of its own. Raises UsageError."""
    return machine if name == OWN and _noise_of(machine) else machine.with_noise(noise_named(name, machine))


def chosen_noises(names: Sequence[str] | None, machine: Machine) -> dict[str, AnyNoise]:
    """The noises of these names. None: the machine's own, or `REGULAR` if it has none. Raises UsageError."""
    if names is None:
        names = REGULAR if machine.noise is None else (OWN,)
    if not names or len({*names}) != len(names):
        raise UsageError(f"expected different noises, found {quote(','.join(names))}")
    return {name: noise_named(name, machine) for name in names}


def noise_text(name: str) -> str:
    """The noise of a name in words: "detours of 100 µs at 1000 Hz"."""
    plain, same = _without_same(name)
    at = " at the same times on all ranks" if same else ""
    match = _REGULAR.fullmatch(plain)
    if match:
        return f"detours of {time_text(parse_time(match[2]))} at {float(match[1]):.4g}{SPACE}Hz{at}"
    return f"detours of the machine{at}" if plain == OWN else f"detours like those of {plain}{at}"


def _without_same(name: str) -> tuple[str, bool]:
    plain = name.removesuffix(f":{SAME}")
    return plain, plain != name


def _noise_of(machine: Machine) -> AnyNoise:
    if machine.noise is None:
        raise UsageError(f"{quote(machine.name)} has no noise of its own: expected such as {REGULAR[0]}")
    return machine.noise


def co_scheduled(noise: AnyNoise) -> AnyNoise:
    """The same noise, at the same times on all ranks."""
    if isinstance(noise, MixedNoise):
        random = tuple(replace(source, phase=SAME) for source in noise.random)
        return MixedNoise(_same_phase(noise.trace), random)
    return _same_phase(noise) if isinstance(noise, Noise) else replace(noise, phase=SAME)


def _same_phase(noise: Noise) -> Noise:
    return Noise(noise.starts, noise.lengths, noise.period, SAME)
