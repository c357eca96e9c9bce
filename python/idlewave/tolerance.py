"""Latency tolerance: how much latency can be added before a program takes longer, and its time as a function of
latency.

The question, and its name, are those of Shen et al., "LLAMP: Assessing Network Latency Tolerance of HPC Applications
with Linear Programming" (SC'24), who answer it with a linear program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from .checkpoint_parts import SampleCheckpoints
from .errors import UsageError
from .escaping import quote
from .formatting import join_words
from .kernel import RunConfiguration, SimulationOptions
from .machine import Level, Machine
from .noise_models import AnyNoise
from .parameters import takes
from .schedule import Schedule
from .sensitivity import differentiate
from .simulation import as_machine, checked_machine, checked_schedule
from .tolerance_samples import Sample, Samples
from .tolerance_search import Search

if TYPE_CHECKING:
    import pandas as pd

GROWTHS = (0.01, 0.02, 0.05)
MOST_SIMULATIONS = 100
PRECISION = 0.01
LARGEST_LATENCY = 2**63 - 1

LatencyLevel = Literal["network", "node", "one_sided"]
"""The levels of a machine whose latency can be added to."""
_LEVELS: dict[str, str] = {
    "network": "network",
    "node": "network inside nodes",
    "one_sided": "parameters of one-sided operations",
}
"""Each level in words."""


@dataclass(frozen=True)
class LatencyBracket:
    """An interval that encloses the latency at which the finish time first exceeds a limit, as far as is known, in ps.

    `limit` is that finish time. `low` and `high` are added latencies. In the simulation with `low` the time is within
    the limit, in the one with `high` it exceeds the limit, and in none with less than `high` does it. `high` is None if
    no simulation exceeds the limit: because the time does not depend on the latency (`unlimited`), because larger times
    leave the range of int64, or because `most_simulations` were made.

    `exact`: `high` is 1 ps more than `low`, and no simulation contradicts that the time is convex in the latency; so
    `low` is by how much the latency may grow. `estimate` is where a straight line between the two simulations reaches
    the limit; None if `high` is.
    """

    limit: int
    low: int
    high: int | None
    estimate: int | None
    exact: bool
    unlimited: bool

    def columns(self) -> dict[str, int | bool | None]:
        """As a row of a table: times have the unit in their names."""
        return {
            "limit_ps": self.limit,
            "low_ps": self.low,
            "high_ps": self.high,
            "estimate_ps": self.estimate,
            "exact": self.exact,
            "unlimited": self.unlimited,
        }


@dataclass(frozen=True)
class LatencyTolerance:
    """The finish time as a function of the latency, from simulations. Times and latencies are in ps.

    `time` is the finish time with the machine's own latency. `tolerance` has, for each growth of the time that was
    asked for, by how much the latency may grow before the time grows by more.

    `breakpoints` and `times` are the curve: added latencies, and the finish times simulated there. `errors` has for
    each piece between two of them how far the time may lie from the straight line between them.

    - `error_kind` "bound": if the time is convex in the latency, it lies on that line, or below it by no more than the
      error. It is convex as long as nothing happens in another order. Simulations cannot prove that; none made
      contradicts it. A piece with the error 0 is straight.
    - `error_kind` "estimate": under noise, and where the time is not convex, it may jump. The errors hold at the
      latencies `held_out`, which were chosen at random when the curve was known, and are not part of it. At another
      latency that is chosen so they hold with a probability of at least n / (n + 1), with n the number of `held_out`.

    `convex` says whether all that was simulated can lie on a convex curve. `simulated` has every finish time that was
    simulated, by added latency. `simulations` is how many simulations were made, those included whose times left the
    range of int64.
    """

    time: int
    tolerance: dict[float, LatencyBracket]
    breakpoints: list[int]
    times: list[int]
    errors: list[int]
    error_kind: Literal["bound", "estimate"]
    convex: bool
    held_out: list[int]
    simulated: dict[int, int]
    simulations: int

    def to_pandas(self) -> pd.DataFrame:
        """One row for each piece of the curve: from_ps, to_ps (added latency), time_ps at from_ps, slope, error_ps."""
        import pandas as pd

        starts, ends = self.breakpoints[:-1], self.breakpoints[1:]
        slopes = [
            (after - before) / (end - start)
            for start, end, before, after in zip(starts, ends, self.times[:-1], self.times[1:], strict=True)
        ]
        columns = {"from_ps": starts, "to_ps": ends, "time_ps": self.times[:-1], "slope": slopes}
        return pd.DataFrame(columns | {"error_ps": self.errors})

    def brackets(self) -> pd.DataFrame:
        """One row for each growth of the time: growth, and what a LatencyBracket has; what is None is missing."""
        import pandas as pd

        rows = [{"growth": growth} | bracket.columns() for growth, bracket in self.tolerance.items()]
        return pd.DataFrame(rows).astype({"high_ps": "Int64", "estimate_ps": "Int64"})


@takes(SimulationOptions)
def latency_tolerance(
    schedule: Schedule,
    machine: Machine | str | Path,
    *,
    growths: tuple[float, ...] = GROWTHS,
    level: LatencyLevel = "network",
    noise: AnyNoise | Literal["machine"] | None = "machine",
    noise_reaches: Iterable[str] | None = None,
    most_simulations: int = MOST_SIMULATIONS,
    precision: float = PRECISION,
    progress: Callable[[int, int], object] | None = None,
    **options: Unpack[SimulationOptions],
) -> LatencyTolerance:
    """By how much the latency of a level of the network may grow before the finish time grows by `growths`.

    The latencies of other levels stay: with "network" that of one-sided operations, where they have parameters of their
    own, which are the level "one_sided".
    It makes at most `most_simulations` simulations. It makes fewer if each bracket is narrower than `precision` times
    its latency, and the errors of the curve are less than `precision` times the smallest growth of the time. Where the
    time is convex as far as is seen, brackets become exact, which takes few. A `precision` of 0 asks for all that can
    be known. Noise is that of `seed`: the same at every latency.

    `progress` is called a few times a second with how many simulations were made, and `most_simulations`.
    The checkpoint directory has the simulations that have finished, and the checkpoints of the one that runs.
    Raises UsageError for arguments that have no meaning, and what `simulate` raises with the machine's own latency.
    """
    RunConfiguration.of(options)
    checked_schedule(schedule)
    machine = as_machine(machine)
    _check(machine, growths, level, most_simulations, precision)
    machine = checked_machine(machine, noise, noise_reaches)
    checkpoints = SampleCheckpoints(options, _description(schedule, machine, level, options))
    made = 0

    def show(_now: int = 0) -> None:
        if progress is not None:
            progress(made, most_simulations)

    def sample(added: int) -> Sample:
        nonlocal made
        show()
        made += 1
        if (known := checkpoints.known(added)) is not None:
            return known
        slower = with_latency(machine, added, level)
        found = differentiate(schedule, slower, options["seed"], checkpoints.configuration(added), show)
        slopes = getattr(found.last, level)
        assert slopes is not None
        finished = Sample(added, found.time, int(slopes["L"][0]))
        checkpoints.finished(finished)
        return finished

    samples = Samples(sample, most_simulations, LARGEST_LATENCY - _largest_latency(_level(machine, level)))
    base = samples.known[0].time
    limits = {growth: base + int(base * growth) for growth in sorted(set(growths))}
    search = Search(samples, sorted(set(limits.values())), precision, noise=machine.noise is not None)
    search.run()
    return _result(search, limits)


def _description(schedule: Schedule, machine: Machine, level: str, options: SimulationOptions) -> str:
    """The search, for its checkpoints."""
    if options["checkpoint"] is None:
        return ""
    costs = machine.identity()
    return f"seed {options['seed']}, latency of {level}, schedule {schedule.identity()}, machine {costs}"


def _check(
    machine: Machine, growths: tuple[float, ...], level: LatencyLevel, most_simulations: int, precision: float
) -> None:
    if not growths or not all(0 < growth < 1000 for growth in growths):
        raise UsageError(f"expected growths above 0 and below 1000, such as 0.01, found {growths}")
    if level not in _LEVELS:
        raise UsageError(f"there are the levels {join_words(list(_LEVELS))}, not {quote(level)}")
    _level(machine, level)
    if most_simulations < 1:
        raise UsageError(f"expected at least one simulation, found most_simulations={most_simulations}")
    if not 0 <= precision < 1:
        raise UsageError(f"expected a precision of at least 0 and below 1, such as 0.01, found {precision}")


def _result(search: Search, limits: dict[float, int]) -> LatencyTolerance:
    samples = search.samples
    curve = search.curve
    return LatencyTolerance(
        time=samples.known[0].time,
        tolerance={growth: _bracket(search, limit) for growth, limit in limits.items()},
        breakpoints=[sample.added for sample in curve],
        times=[sample.time for sample in curve],
        errors=search.errors(),
        error_kind="bound" if search.bounded else "estimate",
        convex=samples.convex,
        held_out=search.held_out,
        simulated={sample.added: sample.time for sample in samples.known},
        simulations=samples.made,
    )


def _bracket(search: Search, limit: int) -> LatencyBracket:
    low, high = search.samples.around(limit)
    if high is None:
        return LatencyBracket(limit, low.added, None, None, exact=False, unlimited=search.unlimited)
    width = high.added - low.added
    estimate = low.added + (limit - low.time) * width // (high.time - low.time)
    exact = width == 1 and search.samples.convex
    return LatencyBracket(limit, low.added, high.added, estimate, exact, unlimited=False)


def with_latency(machine: Machine, added: int, level: LatencyLevel = "network") -> Machine:
    """The machine with an L that is larger by `added` ps, in all segments of that level."""
    old = _level(machine, level)
    segments = tuple(replace(s, parameters=replace(s.parameters, L=s.parameters.L + added)) for s in old.segments)
    new = replace(old, parameters=replace(old.parameters, L=old.parameters.L + added), segments=segments)
    if level == "network":
        return replace(machine, network=new)
    return replace(machine, node=new) if level == "node" else replace(machine, one_sided=new)


def _level(machine: Machine, name: LatencyLevel) -> Level:
    level: Level | None = getattr(machine, name)
    if level is None:
        raise UsageError(f"the machine {quote(machine.name)} has no {_LEVELS[name]}")
    return level


def _largest_latency(level: Level) -> int:
    return max(parameters.L for parameters in (level.parameters, *(s.parameters for s in level.segments)))
