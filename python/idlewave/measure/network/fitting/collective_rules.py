"""From measured collectives to the rules of the MPI library: which algorithm it uses, by size.

The candidates are the algorithms that the simulator has. Each is simulated on the measured machine at each size. Of a
collective the sizes are cut into ranges, and in each range one algorithm holds, with what the call costs beside its
messages: a time, and a time for each byte, for copies within the rank. The best cut is found by dynamic programming. A
range costs as much as its three parameters do by Schwarz' criterion, so that no range is made for what is scatter. Of a
library whose own choices are known, these are one candidate more: they change with the size at the price of one range.

Where collectives take less time than messages can, the ranks of a node may share a buffer for them. Its two parameters
are fitted (shared_buffer.py), and hold if the criterion is better with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ....algorithm_rules import AlgorithmRule
from ....algorithm_tables import rules_of_library
from ....errors import MeasurementError
from ....formatting import percent_text, size_text
from ....jobs import Operation
from ....machine import Level, Machine
from ....schedule import algorithms
from .collective_times import BARRIER, NS, REDUCTION, ROOTED, call_times, reduction_cost_at
from .shared_buffer import BUFFER_PARAMETERS, THROUGH_BUFFER, buffer_note, buffer_of, flags_of

FAIR = 0.1
"""The error up to which a rule holds."""
QUICK_FLAGS = 0.7
"""The share of the time of messages below which flags are in memory that the ranks share. Samples count whose speed is
within a quarter of the machine's."""
FASTER = 0.25
"""The error beyond which a library is faster than messages can be."""
LEAST_OWN = 0.1
"""The share of a call that a barrier follows, at least, in the time of both."""
SCATTER = 0.03
"""Relative errors below this are scatter."""
PARAMETERS = 3
"""Of a range: the algorithm, and two costs of the call."""
OWN_CHOICE = "the library's own choice"
"""In place of an algorithm: the one that the library is known to choose at each size."""
_STEPS = 4
"""Corrections of the costs of a call, whose effect on the time is not quite linear."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CollectiveFit:
    """The rules of a library, and the error of the simulation with them.

    table: a row a collective and size: samples, median_ps with its 95 % interval (low_ps, high_ps), algorithm,
    simulated_ps, and error, simulated over measured less 1. A barrier follows a call with a root, and its time is part
    of these times. shared_buffer: the parameters of messages through a buffer that the ranks of a node share; None if
    the library has none. notes: sentences.
    """

    rules: tuple[AlgorithmRule, ...]
    table: pd.DataFrame
    ranks: int
    notes: tuple[str, ...]
    shared_buffer: Level | None = None


@dataclass(frozen=True)
class _Range:
    """Sizes from number `first` to `last`, inclusive, with one algorithm and the costs of a call in ps."""

    first: int
    last: int
    algorithm: str
    call: float
    call_per_byte: float


def merged(
    before: Sequence[AlgorithmRule], found: Sequence[AlgorithmRule], library: str, node_ranks: int = 1
) -> tuple[AlgorithmRule, ...]:
    """The rules of a machine, `before`, with those that were measured now.

    What was measured with other numbers of ranks, or written by hand, stays. For more ranks than all of these have the
    rules are the choices of `library` (its MPI_Get_library_version), if it is known, with the costs of the calls of the
    most ranks at the same size. What passes through a buffer that the ranks of a node share does so for up to
    `node_ranks` ranks; beyond, the cost of a call is not known, and 0.
    """
    now = {rule.ranks for rule in found}
    kept = [rule for rule in before if not rule.of_library and rule.ranks not in now]
    measured = [*kept, *found]
    return (*measured, *(_rules_beyond(measured, rules_of_library(library), node_ranks) if measured else ()))


def _rules_beyond(
    measured: Sequence[AlgorithmRule], own: Sequence[AlgorithmRule], node_ranks: int
) -> list[AlgorithmRule]:
    """The library's `own` rules for more ranks than `measured` ones have, cut where the measured costs change."""
    most_measured = max(rule.ranks for rule in measured)
    held = [rule for rule in measured if rule.ranks == most_measured]
    found = []
    for collective in dict.fromkeys(rule.collective for rule in held):
        costs = [rule for rule in held if rule.collective == collective]
        theirs = [rule for rule in own if rule.collective == collective]
        most = most_measured
        if any(rule.algorithm == THROUGH_BUFFER for rule in costs):
            most = max(most, node_ranks)
            costs = [replace(rule, call_ns=0.0, call_ns_per_byte=0.0) for rule in costs]
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


def fit_rules(
    measured: pd.DataFrame, machine: Machine, ranks: int, *, one_node: bool = True, library: str = ""
) -> CollectiveFit:
    """The rules with which the simulation on `machine` comes nearest to the `measured` times.

    `measured`: see `CollectiveMeasurement.table`. `library`: its MPI_Get_library_version, where it chooses by itself.
    `one_node`: all ranks were on one node, and may share a buffer: that of the machine, if it has one already, which
    its other rules were found with. Collectives that the simulator does not have are left out. Raises MeasurementError
    if none is left.
    """
    quiet = replace(machine.with_noise(None), shared_buffer=None)
    known = measured["collective"].isin(set(algorithms()["collective"]))
    table = measured[known].reset_index(drop=True)
    if table.empty:
        raise MeasurementError("no collective that the simulator has was measured")
    reductions = measured[measured["collective"] == REDUCTION]
    own = _at(ranks, rules_of_library(library))
    found = _rules_on(quiet, table, reductions, ranks, own)
    if one_node and _has_faster_flags(found, table, ranks):
        buffer = machine.shared_buffer or buffer_of(table, ranks)
        other = _rules_on(replace(quiet, shared_buffer=buffer), table, reductions, ranks, own)
        if other.cost + BUFFER_PARAMETERS * np.log(len(table)) < found.cost:
            found = other
    return _assessed(found, table, ranks)


@dataclass(frozen=True)
class _Rules:
    """Rules, the machine that they were found on, and what they cost by the criterion."""

    rules: list[AlgorithmRule]
    machine: Machine
    cost: float


def _has_faster_flags(found: _Rules, table: pd.DataFrame, ranks: int) -> bool:
    """Whether calls that wait for flags alone take, in the median, so much less time than the messages of any algorithm
    that another speed of the machine does not explain it."""
    flags = flags_of(table)
    if flags.empty:
        return False
    simulated = call_times(_operations(flags), found.machine, ranks, found.rules)
    return float(np.median(flags["median_ps"].to_numpy() / simulated)) < QUICK_FLAGS


def _at(ranks: int, library: Sequence[AlgorithmRule]) -> list[AlgorithmRule]:
    """Those rules of a library that hold for so many ranks."""
    fewer = [rule for rule in library if rule.ranks <= ranks]
    most = {name: max(r.ranks for r in fewer if r.collective == name) for name in {r.collective for r in fewer}}
    return [replace(rule, ranks=ranks, of_library=False) for rule in fewer if rule.ranks == most[rule.collective]]


def _rules_on(
    machine: Machine, table: pd.DataFrame, reductions: pd.DataFrame, ranks: int, own: Sequence[AlgorithmRule]
) -> _Rules:
    """The barrier's rules are found first: one follows each call with a root. `own`: the library's own choices."""
    is_barrier = table["collective"] == BARRIER
    barrier = float(table.loc[is_barrier, "median_ps"].max()) if is_barrier.any() else 0.0
    rules: list[AlgorithmRule] = []
    cost = 0.0
    for part in (table[is_barrier], table[~is_barrier]):
        if len(part):
            calls = part.reset_index(drop=True)
            found, more = _best_rules(calls, barrier, machine, reductions, ranks, rules, own)
            rules = [*rules, *_corrected(found, calls, machine, ranks, rules)]
            cost += more
    order = {name: i for i, name in enumerate(table["collective"].unique())}
    return _Rules(sorted(rules, key=lambda rule: order[rule.collective]), machine, cost)


def _best_rules(
    table: pd.DataFrame,
    barrier: float,
    machine: Machine,
    reductions: pd.DataFrame,
    ranks: int,
    before: Sequence[AlgorithmRule],
    own: Sequence[AlgorithmRule],
) -> tuple[list[AlgorithmRule], float]:
    """The best cut of each collective, with algorithms as they are. `barrier`: the measured time of a barrier, ps;
    `before`: the rules that are known; `own`: the library's own choices."""
    candidates = _candidates(table, machine, reductions)
    simulated = pd.DataFrame(
        {
            "collective": [operation.name for operation in candidates],
            "size": [operation.bytes for operation in candidates],
            "algorithm": [operation.algorithm for operation in candidates],
            "simulated_ps": call_times(candidates, machine, ranks, before),
        }
    )
    chosen = _chosen(own, table, machine, reductions)
    by_choice = _times_by_choice(chosen, machine, ranks, before)
    rules, cost = [], 0.0
    for name in table["collective"].unique():
        calls = table[table["collective"] == name]
        grid = simulated[simulated["collective"] == name].pivot_table(
            index="algorithm", columns="size", values="simulated_ps", sort=False
        )
        times = {str(algorithm): row.to_numpy() for algorithm, row in grid.iterrows()}
        if name in by_choice:
            times[OWN_CHOICE] = by_choice[name]
        more, ranges = _cut(calls, barrier if name in ROOTED else 0.0, times)
        cost += more
        for part in ranges:
            rules += _rules_of(name, part, calls["size"].to_numpy(), ranks, reductions, chosen.get(name, ()))
    return rules, cost


def _chosen(
    own: Sequence[AlgorithmRule], table: pd.DataFrame, machine: Machine, reductions: pd.DataFrame
) -> dict[str, list[AlgorithmRule]]:
    """By collective the rule of the library at each size: of those that differ from size to size."""
    known = {operation.algorithm for operation in _candidates(table, machine, reductions)}
    found = {}
    for name, calls in table.groupby("collective", sort=False):
        rules = [rule for rule in own if rule.collective == name]
        sizes = calls["size"].tolist()
        if rules and min(rule.bytes for rule in rules) <= min(sizes) and {rule.algorithm for rule in rules} <= known:
            each = [rules[_number_of(rules, str(name), size)] for size in sizes]
            if len(set(each)) > 1:
                found[str(name)] = [
                    replace(rule, bytes=size, reduction_cost=reduction_cost_at(reductions, size))
                    for rule, size in zip(each, sizes, strict=True)
                ]
    return found


def _times_by_choice(
    chosen: dict[str, list[AlgorithmRule]], machine: Machine, ranks: int, before: Sequence[AlgorithmRule]
) -> dict[str, Array]:
    """The simulated times of the library's own choices, by collective, ps."""
    rules = [rule for each in chosen.values() for rule in each]
    if not rules:
        return {}
    operations = [Operation(rule.collective, bytes=rule.bytes) for rule in rules]
    times = call_times(operations, machine, ranks, [*before, *rules])
    ends = np.cumsum([len(each) for each in chosen.values()])
    return dict(zip(chosen, np.split(times, ends[:-1]), strict=True))


def _candidates(table: pd.DataFrame, machine: Machine, reductions: pd.DataFrame) -> list[Operation]:
    """Each algorithm at each size; those through a shared buffer on a machine that has one."""
    listed = algorithms()
    if machine.shared_buffer is None:
        listed = listed[listed["name"] != THROUGH_BUFFER]
    names = {name: listed.loc[listed["collective"] == name, "name"].tolist() for name in table["collective"].unique()}
    costs = {size: reduction_cost_at(reductions, size) for size in table["size"].unique().tolist()}
    return [
        Operation(collective, bytes=size, algorithm=name, reduction_cost=costs[size])
        for collective, size in _calls(table)
        for name in names[collective]
    ]


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


def _cut(own: pd.DataFrame, barrier: float, simulated: dict[str, Array]) -> tuple[float, list[_Range]]:
    """The ranges of sizes of one collective, by the times of each algorithm in ps; and what they cost by the criterion.

    Errors are relative to the time without that of the `barrier` behind the call, ps, if there is one.
    """
    sizes, times = own["size"].to_numpy(dtype=np.float64), own["median_ps"].to_numpy(dtype=np.float64)
    base = np.maximum(times - barrier, LEAST_OWN * times)
    width = (own["high_ps"] - own["low_ps"]).to_numpy() / 2 / base
    scatter = np.maximum(SCATTER, width)
    count = len(sizes)
    price = PARAMETERS * np.log(max(count, 2))
    best: list[tuple[float, list[_Range]]] = [(0.0, [])]
    for last in range(count):
        ways = []
        for first in range(last + 1):
            part = slice(first, last + 1)
            for algorithm, theirs in simulated.items():
                more = times[part] - theirs[part]
                call, per_byte, cost = _costs_of_call(sizes[part], more, base[part], scatter[part])
                before, ranges = best[first]
                ways.append((before + cost + price, [*ranges, _Range(first, last, algorithm, call, per_byte)]))
        best.append(min(ways, key=lambda way: way[0]))  # of equal ones the first, so that the default is preferred
    return best[-1]


def _costs_of_call(sizes: Array, more: Array, base: Array, scatter: Array) -> tuple[float, float, float]:
    """The costs of a call that come nearest to what is measured beyond the messages, `more`, ps and ps per byte; and
    how far they are still off. What the call itself takes counts a little, so that messages explain what they can. All
    is relative to `base`."""
    rows = np.column_stack([1 / base, sizes / base]) / scatter[:, None]
    (call, per_byte), _ = scipy.optimize.nnls(rows, more / base / scatter)
    own = (call + per_byte * sizes) / base
    off = (more / base - own) / scatter
    return float(call), float(per_byte), float((off**2).sum() + (own**2).sum())


def _rules_of(
    collective: str,
    part: _Range,
    sizes: NDArray[np.int64],
    ranks: int,
    reductions: pd.DataFrame,
    chosen: Sequence[AlgorithmRule],
) -> list[AlgorithmRule]:
    """The rule of a range; where the library's own choice holds, one for each of its algorithms."""
    if part.algorithm != OWN_CHOICE:
        return [_rule(collective, part, sizes, ranks, reductions)]
    found = []
    numbers = range(part.first, part.last + 1)
    for algorithm, group in groupby(numbers, key=lambda number: (chosen[number].algorithm, chosen[number].segment)):
        own = list(group)
        rule = _rule(
            collective, replace(part, first=own[0], last=own[-1], algorithm=algorithm[0]), sizes, ranks, reductions
        )
        found.append(replace(rule, segment=algorithm[1]))
    return found


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
    rules: Sequence[AlgorithmRule],
    table: pd.DataFrame,
    machine: Machine,
    ranks: int,
    before: Sequence[AlgorithmRule],
) -> list[AlgorithmRule]:
    """The rules with costs of calls that are fitted to what they do in the simulation: a call's time may pass while a
    rank waits. `before`: the rules that are known."""
    found = list(rules)
    operations = _operations(table)
    numbers = np.array([_number_of(found, *call) for call in _calls(table)])
    sizes, times = table["size"].to_numpy(dtype=np.float64), table["median_ps"].to_numpy(dtype=np.float64)
    added = [_probe_ns(rule, table) for rule in found]
    for _ in range(_STEPS):
        simulated = call_times(operations, machine, ranks, [*before, *found])
        more = [replace(rule, call_ns=rule.call_ns + ns) for rule, ns in zip(found, added, strict=True)]
        effect = (call_times(operations, machine, ranks, [*before, *more]) - simulated) / NS
        for number, rule in enumerate(found):
            own = numbers == number
            slope = max(float(np.median(effect[own] / added[number])), 0.25)
            without = simulated[own] - slope * NS * (rule.call_ns + rule.call_ns_per_byte * sizes[own])
            more_time, scatter = times[own] - without, np.full(own.sum(), SCATTER)
            call, per_byte, _ = _costs_of_call(sizes[own], more_time, times[own], scatter)
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


def _assessed(fit: _Rules, table: pd.DataFrame, ranks: int) -> CollectiveFit:
    rules, machine = fit.rules, fit.machine
    numbers = [_number_of(rules, *call) for call in _calls(table)]
    simulated = call_times(_operations(table), machine, ranks, rules)
    error = simulated / table["median_ps"].to_numpy() - 1
    found = table.assign(algorithm=[rules[i].algorithm for i in numbers], simulated_ps=simulated, error=error)
    worst = pd.Series(np.abs(error)).groupby(np.array(numbers)).max()
    held = tuple(replace(rule, residual=round(float(worst[i]), 4)) for i, rule in enumerate(rules))
    notes = (*_notes(found), *([] if machine.shared_buffer is None else [buffer_note(machine.shared_buffer)]))
    return CollectiveFit(held, found, ranks, notes, machine.shared_buffer)


def _notes(table: pd.DataFrame) -> list[str]:
    off = table["error"].abs()
    worst = table.iloc[int(off.to_numpy().argmax())]
    size = f", {size_text(int(worst['size']))}" if worst["size"] else ""
    notes = [
        f"With these rules the simulation is within {percent_text(FAIR)} of the measured collectives on "
        f"{percent_text(float((off <= FAIR).mean()))} of the rows; the median error is "
        f"{percent_text(float(off.median()))}, the largest {worst['error']:+.0%} ({worst['collective']}{size})."
    ]
    messages = table[table["algorithm"] != THROUGH_BUFFER]
    slow = (messages["error"] > FASTER).groupby(messages["collective"], sort=False).mean()
    quicker = [str(name) for name in slow.index[slow > 0.5]]
    if quicker:
        notes.append(
            f"Measured calls of {', '.join(quicker)} take less time than the messages of any algorithm: the library "
            "probably has another way within a node, such as a buffer that all ranks share."
        )
    return notes
