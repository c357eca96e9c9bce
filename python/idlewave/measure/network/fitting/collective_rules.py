"""From measured collectives to the rules of the MPI library: which algorithm it uses, by size.

The candidates are the algorithms that the simulator has. Each is simulated on the measured machine at each size. Of a
collective the sizes are cut into ranges, and in each range one algorithm holds, with what the call costs beside its
messages: a time, and a time for each byte, for copies within the rank. The best cut is found by dynamic programming. A
range costs as much as its three parameters do by Schwarz' criterion, so that no range is made for what is scatter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ....algorithm_rules import AlgorithmRule, rules_of_library
from ....errors import MeasurementError
from ....formatting import percent_text, size_text
from ....jobs import Job, Operation
from ....machine import Machine
from ....schedule import Schedule, algorithms
from ....simulation import simulate

REDUCTION = "reduction"
"""What beside the collectives is measured: a reduction within a rank."""
FAIR = 0.1
"""The error up to which a rule holds."""
FASTER = 0.25
"""The error beyond which a library is faster than messages can be."""
NS = 1000.0
SCATTER = 0.03
"""Relative errors below this are scatter."""
PARAMETERS = 3
"""Of a range: the algorithm, and two costs of the call."""
ROOTED = ("bcast", "reduce", "gather", "scatter")
MOST_ROOTS = 8
"""The root goes round among the first ranks, as in the probe."""
FEW, MANY = 2, 6
"""Rounds of two simulations, of a call of each root: the difference leaves out what only the first ones have."""
_STEPS = 4
"""Corrections of the costs of a call, whose effect on the time is not quite linear."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CollectiveFit:
    """The rules of a library, and the error of the simulation with them.

    table: a row a collective and size: samples, median_ps with its 95 % interval (low_ps, high_ps), algorithm,
    simulated_ps, and error, simulated over measured less 1. notes: sentences.
    """

    rules: tuple[AlgorithmRule, ...]
    table: pd.DataFrame
    ranks: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Range:
    """Sizes from number `first` to `last`, inclusive, with one algorithm and the costs of a call in ps."""

    first: int
    last: int
    algorithm: str
    call: float
    call_per_byte: float


def merged(before: Sequence[AlgorithmRule], found: Sequence[AlgorithmRule], library: str) -> tuple[AlgorithmRule, ...]:
    """The rules of a machine, `before`, with those that were measured now.

    What was measured with other numbers of ranks, or written by hand, stays. For more ranks than all of these have the
    rules are the choices of `library` (its MPI_Get_library_version), if it is known, with the costs of the calls of the
    most ranks at the same size.
    """
    now = {rule.ranks for rule in found}
    kept = [rule for rule in before if not rule.of_library and rule.ranks not in now]
    measured = [*kept, *found]
    return (*measured, *(_rules_beyond(measured, rules_of_library(library)) if measured else ()))


def _rules_beyond(measured: Sequence[AlgorithmRule], own: Sequence[AlgorithmRule]) -> list[AlgorithmRule]:
    """The library's `own` rules for more ranks than `measured` ones have, cut where the measured costs change."""
    most = max(rule.ranks for rule in measured)
    held = [rule for rule in measured if rule.ranks == most]
    found = []
    for collective in dict.fromkeys(rule.collective for rule in held):
        costs = [rule for rule in held if rule.collective == collective]
        theirs = [rule for rule in own if rule.collective == collective]
        least = max((rule.ranks for rule in theirs if rule.ranks <= most + 1), default=most + 1)
        for ranks in sorted({rule.ranks for rule in theirs if rule.ranks >= least}):
            chosen = [rule for rule in theirs if rule.ranks == ranks]
            for size in sorted({rule.bytes for rule in (*chosen, *costs)}):
                cost = costs[_number_of(costs, collective, size)]
                found.append(
                    replace(
                        chosen[_number_of(chosen, collective, size)],
                        ranks=max(ranks, most + 1),
                        bytes=size,
                        reduction_cost=cost.reduction_cost,
                        call_ns=cost.call_ns,
                        call_ns_per_byte=cost.call_ns_per_byte,
                    )
                )
    return found


def fit_rules(measured: pd.DataFrame, machine: Machine, ranks: int) -> CollectiveFit:
    """The rules with which the simulation on `machine` comes nearest to the `measured` times.

    `measured`: see `CollectiveMeasurement.table`. Collectives that the simulator does not have are left out. Raises
    MeasurementError if none is left.
    """
    quiet = machine.with_noise(None)
    reductions = measured[measured["collective"] == REDUCTION]
    listed = algorithms()
    names = [name for name in measured["collective"].unique() if name in set(listed["collective"])]
    table = measured[measured["collective"].isin(names)].reset_index(drop=True)
    if table.empty:
        raise MeasurementError("no collective that the simulator has was measured")
    algorithms_of = {name: listed.loc[listed["collective"] == name, "name"].tolist() for name in names}
    costs = {size: _cost_at(reductions, size) for size in table["size"].unique().tolist()}
    operations = [
        Operation(collective, bytes=size, algorithm=name, reduction_cost=costs[size])
        for collective, size in _calls(table)
        for name in algorithms_of[collective]
    ]
    candidates = pd.DataFrame(
        {
            "collective": [operation.name for operation in operations],
            "size": [operation.bytes for operation in operations],
            "algorithm": [operation.algorithm for operation in operations],
            "simulated_ps": call_times(operations, quiet, ranks),
        }
    )
    rules: list[AlgorithmRule] = []
    for name in names:
        own = table[table["collective"] == name]
        grid = candidates[candidates["collective"] == name].pivot_table(
            index="algorithm", columns="size", values="simulated_ps", sort=False
        )
        ranges = _cut(own, {str(algorithm): row.to_numpy() for algorithm, row in grid.iterrows()})
        rules += [_rule(name, part, own["size"].to_numpy(), ranks, reductions) for part in ranges]
    rules = _corrected(rules, table, quiet, ranks)
    return _assessed(rules, table, quiet, ranks)


def call_times(
    operations: Sequence[Operation], machine: Machine, ranks: int, rules: Iterable[AlgorithmRule] = ()
) -> Array:
    """The time of one call of each operation in a loop in which the root goes round, on a machine without noise, ps.

    The ranks are on as few nodes as they can be.
    """
    calls = [min(ranks, MOST_ROOTS) if operation.name in ROOTED else 1 for operation in operations]
    apart = -(-ranks // machine.node_ranks) * machine.node_ranks if machine.node else ranks
    ends = []
    for rounds in (FEW, MANY):
        jobs = [
            Job(
                ranks,
                [replace(operation, times=rounds * each, rotating_root=operation.name in ROOTED)],
                first=i * apart,
            )
            for i, (operation, each) in enumerate(zip(operations, calls, strict=True))
        ]
        ends.append(simulate(Schedule.compose(jobs, rules=tuple(rules)), machine).finish[::apart])
    return np.asarray((ends[1] - ends[0]) / ((MANY - FEW) * np.array(calls)), dtype=np.float64)


def _cost_at(reductions: pd.DataFrame, size: int) -> float:
    """The measured cost of a reduction of `size` bytes, ns per byte; 0 if none was measured."""
    if reductions.empty or size == 0:
        return 0.0
    time = np.interp(size, reductions["size"], reductions["median_ps"])
    return float(time) / NS / size


def _cost_between(reductions: pd.DataFrame, first: int, last: int) -> float:
    """The cost of a further byte of a reduction between two sizes, ns per byte: the slope of a line, of least relative
    error, whose constant part belongs to the call."""
    if reductions.empty or last == 0:
        return 0.0
    near = reductions[reductions["size"].between(first / 2, last * 2)]
    if len(near) < 2:
        near = reductions
    sizes, times = near["size"].to_numpy(dtype=np.float64), near["median_ps"].to_numpy(dtype=np.float64)
    (_, slope), _ = scipy.optimize.nnls(np.column_stack([1 / times, sizes / times]), np.ones(len(times)))
    return float(slope) / NS


def _cut(own: pd.DataFrame, simulated: dict[str, Array]) -> list[_Range]:
    """The ranges of sizes of one collective, by the times of each algorithm in ps."""
    sizes, times = own["size"].to_numpy(dtype=np.float64), own["median_ps"].to_numpy(dtype=np.float64)
    width = (own["high_ps"] - own["low_ps"]).to_numpy() / 2 / times
    scatter = np.maximum(SCATTER, width)
    count = len(sizes)
    price = PARAMETERS * np.log(max(count, 2))
    best: list[tuple[float, list[_Range]]] = [(0.0, [])]
    for last in range(count):
        ways = []
        for first in range(last + 1):
            part = slice(first, last + 1)
            for algorithm, theirs in simulated.items():
                call, per_byte, cost = _costs_of_call(sizes[part], times[part], theirs[part], scatter[part])
                before, ranges = best[first]
                ways.append((before + cost + price, [*ranges, _Range(first, last, algorithm, call, per_byte)]))
        best.append(min(ways, key=lambda way: way[0]))  # of equal ones the first, so that the default is preferred
    return best[-1][1]


def _costs_of_call(sizes: Array, times: Array, simulated: Array, scatter: Array) -> tuple[float, float, float]:
    """The costs of a call that bring the simulated times nearest to the measured ones, ps and ps per byte; and how far
    they are still off. What the call itself takes counts a little, so that messages explain what they can."""
    rows = np.column_stack([1 / times, sizes / times]) / scatter[:, None]
    (call, per_byte), _ = scipy.optimize.nnls(rows, (1 - simulated / times) / scatter)
    own = (call + per_byte * sizes) / times
    off = ((times - simulated) / times - own) / scatter
    return float(call), float(per_byte), float((off**2).sum() + (own**2).sum())


def _rule(
    collective: str, part: _Range, sizes: NDArray[np.int64], ranks: int, reductions: pd.DataFrame
) -> AlgorithmRule:
    first, last = int(sizes[part.first]), int(sizes[part.last])
    return AlgorithmRule(
        collective,
        part.algorithm,
        ranks=ranks,
        bytes=0 if part.first == 0 else first,
        reduction_cost=_cost_between(reductions, first, last),
        call_ns=part.call / NS,
        call_ns_per_byte=part.call_per_byte / NS,
    )


def _corrected(
    rules: Sequence[AlgorithmRule], table: pd.DataFrame, machine: Machine, ranks: int
) -> list[AlgorithmRule]:
    """The rules with costs of calls that are fitted to what they do in the simulation: a call's time may pass while a
    rank waits."""
    found = list(rules)
    operations = _operations(table)
    numbers = np.array([_number_of(found, *call) for call in _calls(table)])
    sizes, times = table["size"].to_numpy(dtype=np.float64), table["median_ps"].to_numpy(dtype=np.float64)
    added = [_probe_ns(rule, table) for rule in found]
    for _ in range(_STEPS):
        simulated = call_times(operations, machine, ranks, found)
        more = [replace(rule, call_ns=rule.call_ns + ns) for rule, ns in zip(found, added, strict=True)]
        effect = (call_times(operations, machine, ranks, more) - simulated) / NS
        for number, rule in enumerate(found):
            own = numbers == number
            slope = max(float(np.median(effect[own] / added[number])), 0.25)
            without = simulated[own] - slope * NS * (rule.call_ns + rule.call_ns_per_byte * sizes[own])
            call, per_byte, _ = _costs_of_call(sizes[own], times[own], without, np.full(own.sum(), SCATTER))
            found[number] = replace(rule, call_ns=call / NS / slope, call_ns_per_byte=per_byte / NS / slope)
    return found


def _probe_ns(rule: AlgorithmRule, table: pd.DataFrame) -> float:
    """A time that is added to a call to see what it does: a twentieth of the shortest call."""
    own = table.loc[(table["collective"] == rule.collective) & (table["size"] >= rule.bytes), "median_ps"]
    return max(float(own.min()) / 20_000, 1.0)


def _number_of(rules: Sequence[AlgorithmRule], collective: str, size: int) -> int:
    """The number of the rule that holds."""
    own = [i for i, rule in enumerate(rules) if rule.collective == collective and rule.bytes <= size]
    return max(own, key=lambda i: rules[i].bytes)


def _operations(table: pd.DataFrame) -> list[Operation]:
    return [Operation(collective, bytes=size) for collective, size in _calls(table)]


def _calls(table: pd.DataFrame) -> list[tuple[str, int]]:
    """The collective and the size of each row."""
    return list(zip(table["collective"].tolist(), table["size"].tolist(), strict=True))


def _assessed(rules: Sequence[AlgorithmRule], table: pd.DataFrame, machine: Machine, ranks: int) -> CollectiveFit:
    numbers = [_number_of(rules, *call) for call in _calls(table)]
    simulated = call_times(_operations(table), machine, ranks, rules)
    error = simulated / table["median_ps"].to_numpy() - 1
    found = table.assign(algorithm=[rules[i].algorithm for i in numbers], simulated_ps=simulated, error=error)
    worst = pd.Series(np.abs(error)).groupby(np.array(numbers)).max()
    held = tuple(replace(rule, residual=round(float(worst[i]), 4)) for i, rule in enumerate(rules))
    return CollectiveFit(held, found, ranks, tuple(_notes(found)))


def _notes(table: pd.DataFrame) -> list[str]:
    off = table["error"].abs()
    worst = table.iloc[int(off.to_numpy().argmax())]
    size = f", {size_text(int(worst['size']))}" if worst["size"] else ""
    notes = [
        f"With these rules the simulation is within {percent_text(FAIR)} of the measured collectives on "
        f"{percent_text(float((off <= FAIR).mean()))} of the rows; the median error is "
        f"{percent_text(float(off.median()))}, the largest {worst['error']:+.0%} ({worst['collective']}{size})."
    ]
    slow = (table["error"] > FASTER).groupby(table["collective"], sort=False).mean()
    quicker = [str(name) for name in slow.index[slow > 0.5]]
    if quicker:
        notes.append(
            f"Measured calls of {', '.join(quicker)} take less time than the messages of any algorithm: the library "
            "probably has another way within a node, such as a buffer that all ranks share."
        )
    return notes
