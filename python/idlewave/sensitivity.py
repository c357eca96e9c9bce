"""How a simulated time depends on the machine: its derivatives.

The simulation itself is differentiated: every simulated moment carries how often each parameter counts in it.
Derivatives are those to the right (a parameter that grows), each parameter on its own, and hold for the run at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from . import _core, memory_needs
from .event_run import EventRun
from .kernel import RunConfiguration, SimulationOptions
from .machine import Level, Machine
from .memory_limits import memory_for
from .noise_models import AnyNoise
from .parameters import takes
from .schedule import Schedule
from .simulation import checked_machine, checked_schedule, in_partitions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    IntArray = npt.NDArray[np.int64]

PARAMETERS = ("L", "o", "o_s", "o_r", "g", "G", "O", "O_s", "O_r", "c", "o_p")


@dataclass(frozen=True)
class Slopes:
    """Derivatives of some moments, which each array has in the same order.

    They are those by a factor of all computation, and those by each of `PARAMETERS` of the network, of the network
    inside nodes, of a buffer that the ranks of a node share, and of one-sided operations (None: there is none).
    """

    computation: IntArray
    network: dict[str, IntArray]
    node: dict[str, IntArray] | None
    shared_buffer: dict[str, IntArray] | None
    one_sided: dict[str, IntArray] | None = None

    def by_name(self) -> dict[str, IntArray]:
        """The arrays by names such as "network.L" or "computation"."""
        levels = {
            "network": self.network,
            "node": self.node,
            "shared_buffer": self.shared_buffer,
            "one_sided": self.one_sided,
        }
        found = {f"{level}.{name}": array for level, arrays in levels.items() for name, array in (arrays or {}).items()}
        return {"computation": self.computation, **found}


@dataclass(frozen=True)
class Derivatives:
    """A simulation with derivatives, as the core returns it.

    `time` and `last`: when the last rank finishes, and its derivatives; `finish`: when each rank does. `sets` are the
    derivatives that occur, and `set_of_rank` which of them each rank has (None: as many as there are ranks, in their
    order). `run` has the statistics of a run in partitions of the kernel.
    """

    time: int
    finish: IntArray
    last: Slopes
    sets: Slopes
    set_of_rank: npt.NDArray[np.uint32] | None
    messages: int
    seconds: float
    run: EventRun | None

    @classmethod
    def of(cls, *, last: dict[str, Any], sets: dict[str, Any], run: _core.RunReport | None = None, **rest: Any) -> Self:  # noqa: ANN401 - the others
        """The same of what the core returns, by its names."""
        counted = None if run is None else EventRun.of(run)
        return cls(last=Slopes(**last), sets=Slopes(**sets), set_of_rank=rest.pop("set"), run=counted, **rest)


class SlopesOfRanks(Mapping[str, "IntArray"]):
    """Derivatives of every rank's finish time: arrays, by name such as "network.L" or "computation".

    What ranks have in common is kept once, and an array, read-only, is made when it is asked for; `dict(slopes)` has
    all.
    """

    def __init__(self, columns: dict[str, IntArray], rows: npt.NDArray[np.uint32] | None) -> None:
        """`rows`: of each rank, its row in the columns; None: as many as there are ranks, in their order."""
        self._columns = columns
        self._rows = rows

    def __getitem__(self, name: str) -> IntArray:
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

    `time` is when the last rank finishes, ps. `network`, `node` (None without a network inside nodes), `shared_buffer`
    (None without a buffer that the ranks of a node share) and `one_sided` (None without parameters of one-sided
    operations, which then have those of messages) have for each of `PARAMETERS` the derivative by it: how many times it
    counts (for G, O, O_s and O_r: bytes). If a parameter of that level, in all its segments, grows by 1 ps (those: 1 ps
    per byte), the time grows by so many ps. o is o_s and o_r growing together, and O likewise. One-sided operations
    have no c and o_p, and where the network completes them no o_r and O_r: by these it is 0. By c it is 0 on a level
    without c, and by o_p on a machine without o_p: there the first picosecond may change what goes first. Where a level
    has c for some sizes alone, and a machine o_p for some messages alone, the others count, too, as long as nothing
    goes first because of that.
    `computation` is the derivative by a factor of all computation, ps. `finish` and `slopes` are the same of every
    rank. `run` has the statistics of the simulation, if it ran in partitions of the kernel.
    """

    time: int
    network: dict[str, int]
    node: dict[str, int] | None
    computation: int
    finish: IntArray
    slopes: SlopesOfRanks
    messages: int
    seconds: float
    run: EventRun | None = None
    shared_buffer: dict[str, int] | None = None
    one_sided: dict[str, int] | None = None

    def to_pandas(self, machine: Machine) -> pd.DataFrame:
        """One row a parameter: level, parameter, derivative, and the share of the time that it stands for.

        The share is what the time would lose if the parameter were 0 and nothing else came instead: a hint of where
        the time goes, not an exact figure. It is empty where a level's segments differ in the parameter.
        """
        import pandas as pd

        rows: list[tuple[str, str, int, float | None]] = []
        levels = {
            "network": (machine.network, self.network),
            "node": (machine.node, self.node),
            "shared_buffer": (machine.shared_buffer, self.shared_buffer),
            "one_sided": (machine.one_sided, self.one_sided),
        }
        for name, (level, slopes) in levels.items():
            if level is None or slopes is None:
                continue
            for parameter in PARAMETERS:
                share = None if level.segments or not self.time else _part(level, slopes, parameter) / self.time
                rows.append((name, parameter, slopes[parameter], share))
        rows.append(("", "computation", self.computation, self.computation / self.time if self.time else None))
        return pd.DataFrame(rows, columns=["level", "parameter", "derivative", "share"])


def _part(level: Level, slopes: dict[str, int], parameter: str) -> float:
    if parameter in ("o", "O"):
        return _part(level, slopes, f"{parameter}_s") + _part(level, slopes, f"{parameter}_r")
    return float(slopes[parameter] * getattr(level.parameters, parameter))


@takes(SimulationOptions)
def sensitivities(
    schedule: Schedule,
    machine: Machine | str | Path,
    *,
    noise: AnyNoise | Literal["machine"] | None = "machine",
    noise_reaches: Iterable[str] | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[SimulationOptions],
) -> Sensitivities:
    """Simulate `schedule` on `machine`, as `simulate` does, with the derivatives of every finish time.

    They are exact for the run at hand: as long as a change is so small that nothing happens in another order, and no
    work moves across the edge of a detour. Work that begins inside a detour begins at that detour's end, so what made
    it late has no slope.
    """
    configuration = RunConfiguration.of(options)
    machine = checked_machine(machine, noise, noise_reaches)
    found = differentiate(checked_schedule(schedule), machine, options["seed"], configuration, progress)
    last = found.last
    return Sensitivities(
        time=found.time,
        network=_of_last(last.network),
        node=None if last.node is None else _of_last(last.node),
        shared_buffer=None if last.shared_buffer is None else _of_last(last.shared_buffer),
        one_sided=None if last.one_sided is None else _of_last(last.one_sided),
        computation=int(last.computation[0]),
        finish=found.finish,
        slopes=SlopesOfRanks(found.sets.by_name(), found.set_of_rank),
        messages=found.messages,
        seconds=found.seconds,
        run=found.run,
    )


def _of_last(columns: dict[str, IntArray]) -> dict[str, int]:
    return {name: int(column[0]) for name, column in columns.items()}


def differentiate(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    progress: Callable[[int], None] | None,
) -> Derivatives:
    """Finish times and their derivatives."""
    needed = memory_needs.DIFFERENTIATED * schedule.ranks
    with memory_for(f"simulating {schedule.ranks:,} ranks with derivatives", needed):
        if configuration.in_partitions:
            return in_partitions(_partitions, schedule, machine, seed, configuration, progress, "differentiate")
        answer = _core.differentiate(schedule.core(), machine.core(), seed, configuration.threads, progress)
        return Derivatives.of(**answer)


def _partitions(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    description: str,
    progress: Callable[[int], None] | None,
    transport: _core.Transport | None,
) -> Derivatives:
    core = configuration.core(description)
    answer = _core.differentiate_partitioned(schedule.core(), machine.core(), seed, core, progress, transport)
    return Derivatives.of(**answer)
