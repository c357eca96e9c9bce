"""How sensitive programs are to latency and to bandwidth: times with other L and G, and how much of each they
tolerate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import memory_needs
from ..errors import UsageError
from ..formatting import unknown_name
from ..machine import Machine
from ..schedule import Schedule
from ..sensitivity import sensitivities
from ..simulation import simulate
from ..tolerance import GROWTHS
from .case_study import CaseStudy, Row, memory_of_ranks
from .machine_variants import MOST_FACTOR, NAMES, scaled
from .programs import GENERATED, ProgramSettings, programs_at
from .simulated_case import SimulatedCase, checked_factors
from .stopping import check_stop

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

PARAMETERS = ("L", "G")
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
PRECISION = 0.005
"""How near the two factors are between which a tolerance lies, relatively."""
_SHOWN = {"o": "o_s", "O": "O_s"}
_LEVELS = ("network", "node", "shared_buffer", "one_sided")


@dataclass(frozen=True)
class SensitivityCase(SimulatedCase):
    """Simulations with another value of one parameter: times `factor`, or as many times as lets the time grow by the
    share `growth` at most; one of the two is None."""

    parameter: str
    factor: float | None
    growth: float | None


def sensitivity_cases(
    machine: Machine,
    programs: Sequence[str | Schedule] = GENERATED,
    ranks: Sequence[int] | None = None,
    settings: ProgramSettings | None = None,
    parameters: Sequence[str] = PARAMETERS,
    factors: Sequence[float] = FACTORS,
    growths: Sequence[float] = GROWTHS,
) -> list[SensitivityCase]:
    """For each program, number of ranks and parameter a case for each factor, and one for each growth. The factor 1 is
    always among them. There is no noise. Raises UsageError."""
    if not parameters or len({*parameters}) != len(parameters):
        raise UsageError(f"expected different parameters, found {list(parameters)}")
    for name in parameters:
        if name not in NAMES:
            raise UsageError(unknown_name("parameter", name, NAMES))
    quiet = machine.with_noise(None)
    chosen = sorted(checked_factors([1.0, *(factor for factor in factors if factor != 1)]))
    limits = checked_factors(growths, what="growth")
    points: list[tuple[float | None, float | None]] = [(factor, None) for factor in chosen]
    points += [(None, growth) for growth in limits]
    return [
        SensitivityCase(program, quiet, program.ranks, 0, name, factor, growth)
        for program in programs_at(programs, ranks, settings, machine)
        for name in parameters
        for factor, growth in points
    ]


def sensitivity_row(case: SensitivityCase) -> Row:
    """`finish_ps`, when the last rank finishes, ps.

    With a factor, also `derivative`: by how many ps the time grows if the parameter grows by 1 ps (for costs per byte:
    1 ps a byte) on all levels. With a growth, also `tolerated`: the largest factor found at which the time is within
    the limit, and `exceeding`, the smallest at which it is not, None if the time stays within it up to a factor of 1e6.
    `value_ps` is the machine's own value, ps or ps a byte: of its network, for small messages; of o and O, to send.
    """
    value = float(getattr(case.machine.network.parameters, _SHOWN.get(case.parameter, case.parameter)))
    return {**_times(case), "value_ps": value}


def _times(case: SensitivityCase) -> Row:
    """The row but for the value."""
    if case.factor is not None:
        found = sensitivities(case.program, scaled(case.machine, [case.parameter], case.factor), progress=check_stop)
        counts = [getattr(found, level) for level in _LEVELS]
        derivative = sum(slopes[case.parameter] for slopes in counts if slopes is not None)
        return {"finish_ps": found.time, "derivative": derivative, "tolerated": None, "exceeding": None}

    def finish(factor: float) -> int:
        machine = scaled(case.machine, [case.parameter], factor)
        return int(simulate(case.program, machine, progress=check_stop).max_finish)

    tolerated, exceeding = tolerated_factor(finish, case.growth or 0.0)
    return {"finish_ps": finish(tolerated), "derivative": None, "tolerated": tolerated, "exceeding": exceeding}


def tolerated_factor(finish: Callable[[float], int], growth: float) -> tuple[float, float | None]:
    """Two factors from 1 on, between which the time `finish` comes to exceed its value at 1 by the share `growth`.

    The second is None if it does not exceed it at 1e6. They differ by less than `PRECISION`. They are sought on the
    straight line between the two, since the time is one piecewise, and else by halving.
    """
    times = {1.0: finish(1.0)}
    limit = times[1.0] * (1 + growth)

    def exceeds(factor: float) -> bool:
        times[factor] = finish(factor)
        return times[factor] > limit

    low, high = 1.0, 2.0
    while not exceeds(high):
        low, high = high, min(high * high, MOST_FACTOR)
        if low >= MOST_FACTOR:
            return low, None
    while high / low > 1 + PRECISION:
        before = high / low
        line = low + (limit - times[low]) * (high - low) / (times[high] - times[low])
        for factor in (line * (1 - PRECISION / 4), line * (1 + PRECISION / 4)):
            if low < factor < high:
                low, high = (low, factor) if exceeds(factor) else (factor, high)
        middle = (low * high) ** 0.5
        if high / low > 1 + PRECISION and high / low > before**0.5:
            low, high = (low, middle) if exceeds(middle) else (middle, high)
    return low, high


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.latency_bandwidth_page import latency_bandwidth_page

    return latency_bandwidth_page(table)


def _memory(case: SensitivityCase) -> int:
    """A lower bound of the memory of a case: derivatives of every rank take more than its time."""
    if case.factor is None:
        return memory_of_ranks(case)
    return memory_needs.DIFFERENTIATED * case.ranks


SENSITIVITY = CaseStudy("sensitivity", 1, sensitivity_row, _page, _memory)
"""The study: its table has the columns of `SensitivityCase`, and those of `sensitivity_row`."""
