"""A network's machine at each of the speeds at which it was measured, and the speed at which something ran.

A host may place the processors of a virtual machine on one core, on cores with a cache of their own, or far from each
other, and change that from second to second; messages then take up to four times as long. A prediction holds at the
speed of its machine. So runs are compared with the machine at their own speed, which a ping-pong of one byte shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ..machine import Machine
from .loops import run_loops

if TYPE_CHECKING:
    import pandas as pd

    from .. import mpi
    from ..measure.network.fitting.machine_speeds import Speed

NEAR = 1.1
"""A sample has a machine's speed if the ping-pongs before and after it are within this factor of the machine's, and its
cores were shared or not as the machine's."""
PILOT_SECONDS = 0.1
"""Of the loops that show the speed before and behind a run; each is run once at least."""


@dataclass(frozen=True)
class MachineAtSpeed:
    """A machine, and the speed at which it was measured; None where that is not known, as of a preset."""

    machine: Machine
    speed: Speed | None = None

    @property
    def pilot_ns(self) -> float:
        """The time of a byte there and back, ns; nan where it is not known."""
        return math.nan if self.speed is None else self.speed.pilot_ns

    def has(self, samples: pd.DataFrame) -> pd.Series:
        """Whether each sample of the loops was taken at this speed; yes where the speed is not known."""
        if self.speed is None:
            import pandas as pd

            return pd.Series(True, index=samples.index)
        return self.speed.has(samples, NEAR)


def machines_at_speeds(names: Sequence[str]) -> tuple[MachineAtSpeed, ...]:
    """The machines of these names, each as its file has it, and at every other speed of which its recording has samples
    of most that was measured. Of two at one speed the first counts. Raises what `Machine.named` and readers of
    recordings raise."""
    found: list[MachineAtSpeed] = []
    for machine in (machine for name in names for machine in _speeds_of(name)):
        if not any(_alike(machine.speed, other.speed) for other in found):
            found.append(machine)
    return tuple(found)


def _alike(one: Speed | None, other: Speed | None) -> bool:
    """Whether samples of both would count for either."""
    if one is None or other is None or one.shared != other.shared:
        return False
    return 1 / NEAR < one.pilot_ns / other.pilot_ns < NEAR


def _speeds_of(name: str) -> list[MachineAtSpeed]:
    machine = Machine.named(name)
    if not (Path(name) / "measurement.json").is_file():
        return [MachineAtSpeed(machine)]
    from ..measure.machine_files import Measurement
    from ..measure.network.assessment import read_speeds
    from ..measure.network.files.network_files import machine_of

    fit = Measurement.load(name).network.patterns
    speeds = [] if fit is None else read_speeds(Path(name) / "raw", fit.speed)
    found = [MachineAtSpeed(machine if net is None else machine_of(machine.name, net), speed) for speed, net in speeds]
    return found or [MachineAtSpeed(machine)]


def pilot_ns(found: mpi.Mpi, launch: Sequence[str]) -> float:
    """The time of a byte there and back between two ranks, now, ns. Raises what `run_loops` raises."""
    samples = run_loops(found, launch, 2, PILOT_SECONDS, 1, 1)
    pilots: list[float] = [*samples["pilot_before_ns"], *samples["pilot_after_ns"]]
    return median(pilots)


def nearest(machines: Sequence[MachineAtSpeed], pilot_ns: float) -> MachineAtSpeed:
    """The machine whose speed is nearest to that at which a byte there and back takes `pilot_ns`; of those on unshared
    cores, if there are any. The first one where nothing is known."""
    known = [machine for machine in machines if machine.speed is not None]
    unshared = [machine for machine in known if machine.speed is not None and not machine.speed.shared]
    if math.isnan(pilot_ns) or not known:
        return machines[0]
    return min(unshared or known, key=lambda machine: abs(math.log(pilot_ns / machine.pilot_ns)))
