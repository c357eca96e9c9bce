"""How a simulated time depends on the machine: its derivatives, and how much more latency a program bears.

The simulation itself is differentiated: every simulated moment carries how often each parameter counts in it.
Derivatives are those to the right (a parameter that grows), each parameter on its own, and hold for the run at hand.
The question of latency tolerance, and the name, are those of Shen et al., "LLAMP: Assessing Network Latency Tolerance
of HPC Applications with Linear Programming" (SC'24), who answer it with a linear program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from .errors import InputError, UsageError
from .machine import Level, Machine
from .noise import AnyNoise
from .quoting import quote
from .schedule import Schedule
from .simulation import checked_machine, checked_run

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

PARAMETERS = ("L", "o", "o_s", "o_r", "g", "G", "O")
GROWTHS = (0.01, 0.02, 0.05)


class SlopesOfRanks(Mapping[str, "npt.NDArray[np.int64]"]):
    """Derivatives of every rank's finish time: arrays, by name such as "network.L" or "computation".

    What ranks have in common is kept once, and an array, read-only, is made when it is asked for; `dict(slopes)` has
    all.
    """

    def __init__(self, columns: dict[str, npt.NDArray[np.int64]], rows: npt.NDArray[np.uint32] | None) -> None:
        """`rows`: of each rank, its row in the columns; None: as many as there are ranks, in their order."""
        self._columns = columns
        self._rows = rows

    def __getitem__(self, name: str) -> npt.NDArray[np.int64]:
        column = self._columns[name]
        if self._rows is None:
            return column
        values = column[self._rows]
        values.flags.writeable = False
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass(frozen=True)
class Sensitivities:
    """The finish time and its derivatives.

    `time` is when the last rank finishes, ps. `network` and `node` (None without a network inside nodes) have for each
    of `PARAMETERS` the derivative by it: how many times it counts (for G and O: bytes). If a parameter of that level,
    in all its segments, grows by 1 ps (G, O: 1 ps per byte), the time grows by so many ps. `computation` is the
    derivative by a factor of all computation, ps. `finish` and `slopes` are the same of every rank.
    """

    time: int
    network: dict[str, int]
    node: dict[str, int] | None
    computation: int
    finish: npt.NDArray[np.int64]
    slopes: SlopesOfRanks
    messages: int
    seconds: float

    def to_pandas(self, machine: Machine) -> pd.DataFrame:
        """One row a parameter: level, parameter, derivative, and the share of the time that it stands for.

        The share is what the time would lose if the parameter were 0 and nothing else came instead: a hint of where
        the time goes, not an exact figure. It is empty where a level's segments differ in the parameter.
        """
        import pandas as pd

        rows: list[tuple[str, str, int, float | None]] = []
        levels = [("network", machine.network, self.network)]
        if machine.node is not None and self.node is not None:
            levels.append(("node", machine.node, self.node))
        for name, level, slopes in levels:
            for parameter in PARAMETERS:
                share = None if level.segments or not self.time else _part(level, slopes, parameter) / self.time
                rows.append((name, parameter, slopes[parameter], share))
        rows.append(("", "computation", self.computation, self.computation / self.time if self.time else None))
        return pd.DataFrame(rows, columns=["level", "parameter", "derivative", "share"])


def _part(level: Level, slopes: dict[str, int], parameter: str) -> float:
    if parameter == "o":
        return _part(level, slopes, "o_s") + _part(level, slopes, "o_r")
    return float(slopes[parameter] * getattr(level.parameters, parameter))


def sensitivities(
    schedule: Schedule,
    machine: Machine,
    *,
    noise: AnyNoise | Literal["machine"] | None = "machine",
    noise_reaches: Iterable[str] | None = None,
    seed: int = 0,
    scheduler: str = "sequential",
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Sensitivities:
    """Simulate `schedule` on `machine`, as `simulate` does, with the derivatives of every finish time.

    They are exact for the run at hand: as long as a change is so small that nothing happens in another order, and no
    work moves across the edge of a detour. Work that begins inside a detour begins at that detour's end, so what made
    it late has no slope.
    """
    checked_run(scheduler, threads, seed)
    machine = checked_machine(machine, noise, noise_reaches)
    answer = _core.differentiate(schedule.core(), machine.core(), seed, threads, progress)
    last = {name: int(column[0]) for name, column in _by_name(answer["last"]).items()}
    node = {name: last[f"node.{name}"] for name in PARAMETERS} if machine.node is not None else None
    return Sensitivities(
        time=answer["time"],
        network={name: last[f"network.{name}"] for name in PARAMETERS},
        node=node,
        computation=last["computation"],
        finish=answer["finish"],
        slopes=SlopesOfRanks(_by_name(answer["sets"]), answer["set"]),
        messages=answer["messages"],
        seconds=answer["seconds"],
    )


def _by_name(columns: dict[str, Any]) -> dict[str, npt.NDArray[np.int64]]:
    levels = {f"{level}.{name}": v for level in ("network", "node") for name, v in (columns[level] or {}).items()}
    return {"computation": columns["computation"], **levels}


@dataclass(frozen=True)
class LatencyTolerance:
    """The finish time as a function of the latency, from the machine's own on.

    `time` is the finish time with the machine's latency, ps. `tolerance` has, for each growth of the time that was
    asked for, by how many ps the latency may grow before the time grows by more, simulated on both sides; None: by any.
    `breakpoints` and `times` are growths of the latency and the finish times there: between two of them the time grows
    along a straight line, and a jump is two breakpoints 1 ps apart. `simulations` is how many it took.

    As long as nothing happens in another order the time is convex in the latency, and this is all of it, exactly.
    `convex` False says that it is not so; True that nothing else was seen. Where messages overtake each other, or work
    moves across detours, each piece is a line on which both ends and three points between lie, and what is smaller than
    a quarter of a piece may be unseen: the time may have exceeded a limit for a moment before.
    """

    time: int
    tolerance: dict[float, int | None]
    breakpoints: list[int]
    times: list[int]
    convex: bool
    simulations: int

    def to_pandas(self) -> pd.DataFrame:
        """One row for each straight piece: from_ps, to_ps (growth of L), time_ps at from_ps, slope."""
        import pandas as pd

        starts, ends = self.breakpoints[:-1], self.breakpoints[1:]
        slopes = [
            (after - before) / (end - start)
            for start, end, before, after in zip(starts, ends, self.times[:-1], self.times[1:], strict=True)
        ]
        return pd.DataFrame({"from_ps": starts, "to_ps": ends, "time_ps": self.times[:-1], "slope": slopes})


def latency_tolerance(
    schedule: Schedule,
    machine: Machine,
    *,
    growths: tuple[float, ...] = GROWTHS,
    level: Literal["network", "node"] = "network",
    noise: AnyNoise | Literal["machine"] | None = "machine",
    noise_reaches: Iterable[str] | None = None,
    seed: int = 0,
    scheduler: str = "sequential",
    threads: int = 1,
    most_simulations: int = 1000,
    progress: Callable[[int], None] | None = None,
) -> LatencyTolerance:
    """By how much the latency of a level of the network may grow before the finish time grows by `growths`.

    The time as a function of L is found piece by piece: where the straight lines of two simulations meet, there the
    next is made. Raises InputError if it has more pieces than `most_simulations` can find, as it may have with noise.
    """
    checked_run(scheduler, threads, seed)
    if not growths or not all(0 < growth < 1000 for growth in growths):
        raise UsageError(f"expected growths above 0 and below 1000, such as 0.01, found {growths}")
    if level not in ("network", "node"):
        raise UsageError(f"there are the levels network and node, not {quote(level)}")
    if level == "node" and machine.node is None:
        raise UsageError(f"the machine {machine.name} has no network inside nodes")
    machine = checked_machine(machine, noise, noise_reaches)

    def point(growth: int) -> tuple[int, int]:
        slower = with_latency(machine, growth, level).core()
        answer = _core.differentiate(schedule.core(), slower, seed, threads, progress)
        return answer["time"], int(answer["last"][level]["L"][0])

    curve = _Curve(point, most_simulations)
    base = curve.time(0)
    limits = {growth: base + int(base * growth) for growth in sorted(growths)}
    end = curve.reach(max(limits.values()))
    tolerance = curve.last_within(end, limits)
    breakpoints, times = curve.breakpoints(end)
    convex = curve.convex(breakpoints, times)
    return LatencyTolerance(base, tolerance, breakpoints, times, convex, curve.simulations)


def with_latency(machine: Machine, growth: int, level: Literal["network", "node"] = "network") -> Machine:
    """The machine with an L that is larger by `growth` ps, in all segments of that level."""
    old = machine.network if level == "network" else machine.node
    if old is None:
        raise UsageError(f"the machine {machine.name} has no network inside nodes")
    segments = tuple(replace(s, parameters=replace(s.parameters, L=s.parameters.L + growth)) for s in old.segments)
    new = replace(old, parameters=replace(old.parameters, L=old.parameters.L + growth), segments=segments)
    return replace(machine, network=new) if level == "network" else replace(machine, node=new)


class _Curve:
    """The finish time as a function of the growth of L, simulated where it is asked for."""

    def __init__(self, point: Callable[[int], tuple[int, int]], most_simulations: int) -> None:
        self._point = point
        self._known: dict[int, tuple[int, int]] = {}
        self._most = most_simulations

    @property
    def simulations(self) -> int:
        return len(self._known)

    def _at(self, growth: int) -> tuple[int, int]:
        if growth not in self._known:
            if len(self._known) == self._most:
                raise InputError(
                    f"the time as a function of the latency has too many pieces for {self._most} simulations; "
                    "without noise it has fewer"
                )
            self._known[growth] = self._point(growth)
        return self._known[growth]

    def time(self, growth: int) -> int:
        return self._at(growth)[0]

    def slope(self, growth: int) -> int:
        """The slope to the right."""
        return self._at(growth)[1]

    def reach(self, limit: int) -> int:
        """A growth at which the time exceeds `limit`; or beyond `limit` itself, if it does not even there.

        A message that is received makes a finish of at least L, so then none is.
        """
        growth = 0
        step = max(1, limit // 8)
        while self.time(growth) <= limit and growth <= limit:
            slope = self.slope(growth)
            to_limit = (limit - self.time(growth)) // slope + 1 if slope else min(step, limit + 1 - growth)
            growth = self._bearable(growth, growth + max(to_limit, 1))
            step *= 2
        return growth

    def _bearable(self, known: int, growth: int) -> int:
        """The growth, or one nearer to `known` if simulated times would leave their range."""
        while growth > known + 1:
            try:
                self._at(growth)
            except OverflowError:
                growth = (known + growth) // 2
            else:
                break
        return growth

    def last_within(self, end: int, limits: dict[float, int]) -> dict[float, int | None]:
        """For each limit the growth after which the time exceeds it, simulated on both sides; None: it never does."""
        while True:
            self._explore()
            breakpoints, times = self.breakpoints(end)
            found = {growth: _crossing(breakpoints, times, limit) for growth, limit in limits.items()}
            known = self.simulations
            for last in found.values():
                if last is not None:
                    self._at(last)
                    self._at(last + 1)
            if self.simulations == known:
                return found

    def _explore(self) -> None:
        """Simulates wherever it is needed to know the curve between what is known of it."""
        pieces = list(pairwise(sorted(self._known)))
        while pieces:
            a, b = pieces.pop()
            if b - a <= 1:
                continue
            middle = self._next(a, b)
            if middle is not None:
                pieces += [(middle, b), (a, middle)]

    def _next(self, a: int, b: int) -> int | None:
        """Where to look next between `a` and `b`; None: they are joined by a straight line."""
        slope_here = self.slope(a)
        if self.time(a) + slope_here * (b - a) == self.time(b):
            for between in ((a + b) // 2, (3 * a + b) // 4, (a + 3 * b) // 4):
                straight = self.time(a) + slope_here * (between - a)
                if a < between and self.time(between) != straight:
                    return between
            return None
        slope = self.slope(b - 1)
        before = self.time(b - 1)
        if slope == self.slope(a):
            return (a + b) // 2
        # The lines from a to the right and from b - 1 to the left meet here, or up to 1 ps later.
        meeting = a + (before - slope * (b - 1 - a) - self.time(a)) // (self.slope(a) - slope)
        return meeting if a < meeting < b - 1 else (a + b) // 2

    def breakpoints(self, end: int) -> tuple[list[int], list[int]]:
        """The ends of the straight pieces up to `end`, and the times there."""
        known = [x for x in sorted(self._known) if x <= end]
        kept = known[:1]
        for left, here, right in zip(known, known[1:], known[2:], strict=False):
            rise_before = (self.time(here) - self.time(left)) * (right - here)
            rise_after = (self.time(right) - self.time(here)) * (here - left)
            if rise_before != rise_after:
                kept.append(here)
        kept += known[-1:] if len(known) > 1 else []
        return kept, [self.time(x) for x in kept]

    def convex(self, breakpoints: list[int], times: list[int]) -> bool:
        """Whether nothing that was seen says otherwise: slopes only grow, and no point lies below what they promise."""
        known = sorted(self._known)
        if any(self.time(a) + self.slope(a) * (b - a) > self.time(b) for a, b in pairwise(known)):
            return False
        slopes = [(d - c) / (b - a) for a, b, c, d in zip(breakpoints, breakpoints[1:], times, times[1:], strict=False)]
        return all(before <= after for before, after in pairwise(slopes))


def _crossing(breakpoints: list[int], times: list[int], limit: int) -> int | None:
    """The largest growth up to which the time stays within `limit`; None if it always does."""
    for a, b, before, after in zip(breakpoints, breakpoints[1:], times, times[1:], strict=False):
        if after > limit:
            return a + (limit - before) * (b - a) // (after - before)
    return None
