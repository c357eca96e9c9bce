"""A range of sizes with its parameters, and the check of its fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....errors import MeasurementError
from .bootstrap import NAMES, Estimate, determined
from .observations import Array
from .prediction import FittedParameters
from .range_model import Fit

LARGEST_SCATTER = 0.25
"""A range fails if the median size of a curve is further than this (relative) from the fit. The curve of a call with a
part that is no overhead (tail, stall) determines nothing, and is not checked."""

_DECIDES = {"half": "L", "gap": "g", "send": "o_s", "receive": "o_r"}
"""The parameter that is undetermined if a curve does not fit."""


FailedFit = Literal["refused", "noted"]
"""Whether a fit that fails is an error, or is noted: a parameter below 0 is held at 0 then, and where too few
repetitions ran alike, the fit is to all of them."""


class QuickRendezvousError(MeasurementError):
    """A rendezvous whose data would need a negative time."""


@dataclass(frozen=True)
class Range:
    """The parameters that hold from a message size on: times in ps, G and O in ps per byte.

    intervals: 95 % bootstrap intervals by parameter; hidden: parameters that no curve shows because the CPU is slower;
    tail, stall: the times of a send and of a lone receive beyond o_s and o_r, ps (see range_model.py); scatter: median
    |relative residual| by curve. onset: the 95 % interval of `first`; cause: start, rendezvous, jump (a change of
    protocol) or bend (see protocol_changes.py). kept: parameters that these sizes do not determine, with the values of
    the range below. failures: sentences on what failed, where that is not an error. held: the increase of the residuals
    (relative) because values that fit best below 0 are held at 0 (see range_model.py).
    """

    first: int
    rendezvous: bool
    parameters: FittedParameters
    intervals: dict[str, tuple[float, float]]
    hidden: tuple[str, ...]
    tail: float
    stall: float
    scatter: dict[str, float]
    onset: tuple[int, int] = (1, 1)
    cause: str = "start"
    kept: tuple[str, ...] = ()
    held: float = 0.0
    failures: tuple[str, ...] = ()


def kept_in(series: str, aside: float, latency: float) -> str:
    """The parameter that has the part of a call that is not in its overhead: "L", or "g" for a send that lasts longer
    than its message is on the way. `aside` and the range's L (`latency`) are in one unit."""
    return "g" if series == "o_s" and aside > latency else "L"


def checked(
    sizes: NDArray[np.int64],
    rendezvous: bool,
    fit: Fit,
    drawn: Array,
    below: FittedParameters | None,
    failed_fit: FailedFit = "refused",
) -> Range:
    """The range of `sizes` by its fit, with the parameters of each resample (`drawn`), and those of the range below.

    Raises MeasurementError if a parameter is negative beyond its uncertainty, or a curve too far from the fit, unless
    a failed fit is only to be noted.
    """
    failures: list[str] = []

    def fail(why: str) -> None:
        if failed_fit == "refused":
            raise MeasurementError(why)
        failures.append(f"By PRTT, {why}.")

    where = f"for messages of {sizes[0]} to {sizes[-1]} B"
    aside = fit.tail > 0 or fit.stall > 0
    found = determined(fit.parameters, drawn, None if aside else below, fit.hidden)
    scatter = {curve: float(np.median(np.abs(r))) for curve, r in fit.residuals.items()}
    unused = {"send": fit.tail, "receive": fit.stall}
    for curve, value in scatter.items():
        if value > LARGEST_SCATTER and not unused.get(curve):
            name = _DECIDES[curve]
            fail(
                f"{name} {where} is not determined: its curve '{curve}' is {value:.0%} from the "
                f"fit at the median size, more than {LARGEST_SCATTER:.0%}; the fit gave "
                f"{_shown(name, found)}"
            )
    for name in NAMES:
        value, high = getattr(found.parameters, name), found.intervals[name][1]
        if value < 0 and high + (high - value) < 0:
            if rendezvous and name == "o_s":
                raise QuickRendezvousError(f"o_s would be {_shown(name, found)}")
            fail(f"{name} {where} came out negative: {_shown(name, found)}; a negative parameter is a failed fit")
    values = {name: max(getattr(found.parameters, name), 0.0) for name in NAMES}
    zero = [name for name in NAMES if getattr(found.parameters, name) <= 0 and name not in fit.hidden]
    intervals = {n: (min(low, values[n]), max(high, values[n])) for n, (low, high) in found.intervals.items()}
    hidden = tuple(h for h in fit.hidden if h not in found.kept) + tuple(f"{name}≈0" for name in zero)
    return Range(
        int(sizes[0]),
        rendezvous,
        FittedParameters(**values),
        intervals,
        hidden,
        fit.tail,
        fit.stall,
        scatter,
        kept=found.kept,
        held=fit.held,
        failures=tuple(failures),
    )


def _shown(name: str, found: Estimate) -> str:
    unit = "ns/B" if name in "GO" else "ns"
    low, high = found.intervals[name]
    return f"{getattr(found.parameters, name) / 1000:.4g} {unit} [{low / 1000:.4g}, {high / 1000:.4g}] (95 %)"
