"""How long the computations of a traced program take: as recorded or drawn, and scaled, written as text:
``"0.5"``, ``"0.5,level:2=0.25"``, ``"3f0a99c1d2=2"``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import _core
from .errors import UsageError
from .escaping import quote

if TYPE_CHECKING:
    from .pattern_options import TraceParameters

_FORM = "a factor from 0.000001 to 1000000, or PHASE=FACTOR or SITE=FACTOR, such as 0.5, level:2=0.25 or 3f0a99c1d2=0.5"
_MOST = 1e6
"""The largest factor, and one by the smallest."""


def core_of(options: TraceParameters) -> _core.ComputationOptions:
    """The options as the compiled core has them. Raises UsageError."""
    refuse_without_effect({name: value for name, value in options.items() if value})
    found = _core.ComputationOptions()
    found.drawn = options["computation_times"] == "drawn"
    found.seed = options["computation_seed"]
    found.noise = options["interrupts"]
    phases: dict[int | None, float] = {}
    sites: dict[int, float] = {}
    factors = _factors(options["scale_computation"])
    found.factor = factors.pop("", 1.0)
    for name, factor in factors.items():
        if marked := re.fullmatch(r"level:(none|-?[0-9]{1,10})", name):
            level = None if marked[1] == "none" else int(marked[1])
            if level is not None and not -(2**31) <= level < 2**31:
                raise _unusable(name)
            if level in phases:
                raise UsageError(f"scale_computation: two factors for {quote(f'level:{marked[1]}')}")
            phases[level] = factor
        elif re.fullmatch(r"[0-9a-f]{10}", name):
            sites[int(name, 16)] = factor
        else:
            raise _unusable(name)
    found.factors_by_phase, found.factors_by_site = phases, sites
    return found


def refuse_without_effect(given: Mapping[str, object]) -> None:
    """Raise UsageError if an option that was given has no effect beside the others."""
    if "computation_seed" in given and given.get("computation_times") != "drawn":
        raise UsageError("computation_seed has no meaning unless computation_times is drawn")
    if given.get("interrupts") and given.get("gaps") == "wall":
        raise UsageError("interrupts has no meaning if gaps is wall, which leaves computations as they were")


def _factors(text: object) -> dict[str, float]:
    """The factor by name of a phase or site; that of all others by ""."""
    found: dict[str, float] = {}
    if isinstance(text, int | float):
        text = repr(text)
    if not isinstance(text, str):
        raise UsageError(f"scale_computation: expected {_FORM}, found {quote(repr(text))}")
    for entry in filter(None, (word.strip() for word in text.split(","))):
        name, equals, number = entry.rpartition("=")
        try:
            factor = float(number)
        except ValueError:
            factor = math.nan
        if not 1 / _MOST <= factor <= _MOST or bool(equals) != bool(name):
            raise _unusable(entry)
        if name in found:
            raise UsageError(f"scale_computation: two factors for {quote(name) if name else 'all computations'}")
        found[name] = factor
    return found


def _unusable(text: str) -> UsageError:
    return UsageError(f"scale_computation: expected {_FORM}, found {quote(text)}")
