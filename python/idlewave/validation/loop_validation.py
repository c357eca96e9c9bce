"""Runs the loops of benchmarks, and compares them with what each network's machine predicts at the same speed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..traced_run import find_mpi
from .loops import medians, run_loops, simulated_ps
from .rows import Progress, Row, RowKey, Times, row_of

if TYPE_CHECKING:
    import pandas as pd

    from .speeds import MachineAtSpeed
    from .suite import LoopRun, Network


def validate_loops(
    loops: LoopRun,
    networks: Sequence[Network],
    machines: Mapping[str, Sequence[MachineAtSpeed]],
    runs: int,
    progress: Progress,
) -> None:
    """The runs on the networks take turns, as those of programs do. `machines`: by network."""
    starts: dict[str, list[pd.DataFrame]] = {network.name: [] for network in networks}
    for run, network in itertools.product(range(runs), networks):
        progress.next(f"loops on {network.name}, run {run + 1} of {runs}")
        found = find_mpi(network.launch)
        samples = run_loops(found, network.launch, loops.ranks, loops.seconds, loops.max_size, run + 1)
        starts[network.name].append(samples[samples["loop"].isin(loops.names)])
    for network in networks:
        progress.next(f"loops simulated on {network.name}")
        for machine in machines[network.name]:
            for row in _rows(loops, network.name, machine, starts[network.name]):
                progress.row(row)


def _rows(loops: LoopRun, network: str, at: MachineAtSpeed, starts: Sequence[pd.DataFrame]) -> list[Row]:
    """A row a loop and size of which a start has samples at the machine's speed."""
    own = [samples[at.has(samples)] for samples in starts]
    points: dict[tuple[str, int], list[float]] = {}
    for samples in own:
        for point, time in medians(samples).items():
            points.setdefault(point, []).append(time / 1e12)
    share_at_speed = sum(len(samples) for samples in own) / max(sum(len(samples) for samples in starts), 1)
    rows = []
    for loop, size in sorted(points, key=lambda point: (loops.names.index(point[0]), point[1])):
        times = Times(points[loop, size], [simulated_ps(at.machine, loops.ranks, loop, size) / 1e12])
        compared = RowKey(loops.ranks, loops.ranks, "", network, at.pilot_ns)
        rows.append(row_of(loop, times, compared, size=size, share_at_speed=share_at_speed))
    return rows
