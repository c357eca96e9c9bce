"""LogGP parameters of puts, or of messages, piecewise over sizes, from the times of transfers, calls and floods.

A put of s bytes (k = s - 1, 0 of an empty one) takes, by the simulator's rules and without noise,

    the CPU of its call          o + kO
    until it is complete         the longest of o + 2L + kG (the bytes, and the acknowledgement back), o + kO and g + kG
    between two of a flood       the longer of g + kG (the NIC) and o + kO (the CPU)

and half a ping-pong of messages takes 2o + L + kG, with o at both ends. These three are measured at each size. In a
range of sizes each of them is one line, so the parameters follow from a linear program: it makes the sum of the
relative errors smallest, while no error of a put is beyond TOLERANCE, and none of the others beyond twice that. Ranges
grow, from the smallest size on, as far as that can be met. Where it cannot be met at a size alone, the put comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.optimize
from numpy.typing import NDArray

from ...errors import MeasurementError
from ...formatting import percent_text, plain_time, size_text
from ...machine import Level, Parameters, Segment
from ...units import parse_cost
from ..network.fitting.epoch_scatter import half_width
from .samples import ACKNOWLEDGED, CALL, FLOOD, GET, PING_PONG, POLLED, PUT, OneSidedMeasurement

Array = NDArray[np.float64]

TOLERANCE = 0.04
"""The largest relative error of a transfer within a range; a call and a flood may be off by twice as much."""
GOAL = 0.05
"""The error of a put beyond which it is said."""
SURE = 10_000.0
"""ps: a call, or the gap of a flood, may be off by so much in any case: it is half of what a clock's reading takes, and
calls one after another run into each other."""
ANY = 100.0
"""A relative error that stands for any."""
NAMES = ("o", "O", "L", "g", "G")
_o, _O, _L, _g, _G = range(5)
_TRANSFER, _CALL, _GAP = range(3)
SERIES = ("transfer", "call", "gap")


@dataclass(frozen=True)
class OneSidedRange:
    """The parameters of transfers of at least `first` bytes: o, L and g in ps, O and G in ps per byte after the first;
    intervals: those of another run of as many epochs (none without two epochs)."""

    first: int
    o: int
    O: float  # noqa: E741 - LogGP's letter
    L: int
    g: int
    G: float
    intervals: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class OneSidedFit:
    """The parameters of a back end, by range of sizes.

    table: a row a series and size: measured_ps, fitted_ps, error (fitted over measured, less 1), and fitted, whether
    the parameters were fitted to it. Series: transfer (a put with its completion; of mpi half a ping-pong), call, gap
    (between two of a flood), and, for comparison, get and polled (half of a put that the target polls, and its answer).
    waits: whether a put waits until a target that computes calls its library. notes: sentences.
    """

    back_end: str
    ranges: tuple[OneSidedRange, ...]
    table: pd.DataFrame
    waits: bool = False
    notes: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        """The network for the simulator, of two-sided messages: the receiver's CPU takes as long as the sender's."""
        found = [
            Parameters(L=r.L, o_s=r.o, o_r=r.o, g=r.g, G=_digits(r.G), O_s=_digits(r.O), O_r=_digits(r.O))
            for r in self.ranges
        ]
        later = zip(self.ranges[1:], found[1:], strict=True)
        return Level(found[0], tuple(Segment(r.first, p) for r, p in later))


@dataclass(frozen=True)
class _Rule:
    """How a transfer's time follows from the parameters: `ends` times o, `ways` times L."""

    ends: float
    ways: float

    @property
    def two_sided(self) -> bool:
        return self.ends == 2

    def path(self, k: Array | float) -> Array:
        """The factors of the parameters in the way of the bytes, a row a size."""
        k = np.atleast_1d(np.asarray(k, dtype=np.float64))
        rows = np.zeros((len(k), len(NAMES)))
        rows[:, _o], rows[:, _L], rows[:, _G] = self.ends, self.ways, k
        return rows

    def times(self, values: Array, k: Array) -> Array:
        """The times of transfer, call and gap, a column a size."""
        path, cpu, nic = (rows @ values for rows in (self.path(k), _cpu(k), _nic(k)))
        transfer = path if self.two_sided else np.maximum.reduce([path, cpu, nic])
        return np.stack([transfer, cpu, np.maximum(cpu, nic)])


ONE_SIDED, TWO_SIDED = _Rule(1, 2), _Rule(2, 1)


def _cpu(k: Array) -> Array:
    return _line(k, _o, _O)


def _nic(k: Array) -> Array:
    return _line(k, _g, _G)


def _line(k: Array, constant: int, per_byte: int) -> Array:
    rows = np.zeros((len(k), len(NAMES)))
    rows[:, constant], rows[:, per_byte] = 1, k
    return rows


def fit_one_sided(found: OneSidedMeasurement, back_end: str) -> OneSidedFit:
    """The parameters of a back end. Raises MeasurementError if its transfers, calls or floods were not measured."""
    rule = TWO_SIDED if back_end == "mpi" else ONE_SIDED
    table = curves(found.table, back_end)
    # In an epoch at another speed of the machine nothing may have been measured that counts: it gives no interval.
    whole = [part for part in found.epoch_tables if not _missing_in(part, back_end)]
    each = [curves(part, back_end).reindex(table.index) for part in whole]
    ranges = fit_ranges(table, rule, each)
    errors = _errors(found.table, back_end, table, ranges, rule)
    waits = found.waits(back_end)
    return OneSidedFit(back_end, ranges, errors, waits, tuple(_notes(back_end, errors, ranges, waits)))


def curves(table: pd.DataFrame, back_end: str) -> pd.DataFrame:
    """By size, the times of transfer, call and gap of a back end, ps; of floods over one link. Raises MeasurementError
    if one of them was not measured."""
    if missing := _missing_in(table, back_end):
        raise MeasurementError(f"{missing[0]}s of {back_end} were not measured, so they have no parameters")
    own = _over_one_link(table, back_end).set_index("size")
    times = {operation: rows["median_ps"] for operation, rows in own.groupby("operation")}
    transfer = _transfer_of(back_end)
    whole = times[ACKNOWLEDGED if back_end == "mpi" else PUT]
    flood = own.loc[own["operation"] == FLOOD]
    found = pd.DataFrame(
        {
            "transfer": times[transfer] / (2 if back_end == "mpi" else 1),
            "call": times[CALL],
            "gap": (flood["median_ps"] - whole) / (flood["window"] - 1).where(flood["window"] > 1),
        }
    )
    found["gap"] = found["gap"].where(found["gap"] > 0)
    return found[found["transfer"] > 0].sort_index()


def _missing_in(table: pd.DataFrame, back_end: str) -> list[str]:
    """The operations that give parameters and are not in the table."""
    measured = set(_over_one_link(table, back_end)["operation"])
    needed = (_transfer_of(back_end), CALL, FLOOD, *([ACKNOWLEDGED] if back_end == "mpi" else []))
    return [operation for operation in needed if operation not in measured]


def _over_one_link(table: pd.DataFrame, back_end: str) -> pd.DataFrame:
    return table[(table["back_end"] == back_end) & (table["links"] == 1)]


def _transfer_of(back_end: str) -> str:
    return PING_PONG if back_end == "mpi" else PUT


def fit_ranges(table: pd.DataFrame, rule: _Rule, epochs: Sequence[pd.DataFrame] = ()) -> tuple[OneSidedRange, ...]:
    """The parameters by range, of `table` as `curves` has it; `epochs`: the same of each epoch."""
    k = np.maximum(table.index.to_numpy(dtype=np.float64) - 1, 0)
    measured = table[[*SERIES]].to_numpy(dtype=np.float64).T
    each = [part[[*SERIES]].to_numpy(dtype=np.float64).T for part in epochs]
    ranges: list[OneSidedRange] = []
    usual: Array | None = None
    begin = 0
    while begin < len(k):
        end, values = _longest(rule, k, measured, begin, usual)
        usual = values if usual is None else usual
        part = slice(begin, end)
        again = [_fitted(rule, k[part], own[:, part], usual) for own in each if np.isfinite(own[0, part]).all()]
        intervals = {} if len(again) < 2 else _intervals(values, [fit.values for fit in again])
        if ranges:
            intervals |= {n: w for n, w in ranges[0].intervals.items() if n in "oL" and _as_usual(values, usual, n)}
        ranges.append(_rounded(int(table.index[begin]) if begin else 0, values, intervals))
        begin = end
    return tuple(ranges)


def times_of(ranges: Sequence[OneSidedRange], sizes: Array, rule: _Rule = ONE_SIDED) -> Array:
    """The times of transfer, call and gap of these sizes by the rules, a row each, ps."""
    firsts = np.array([r.first for r in ranges])
    which = np.searchsorted(firsts, sizes, side="right") - 1
    found = np.empty((len(SERIES), len(sizes)))
    for number in np.unique(which):
        own = which == number
        found[:, own] = rule.times(_values(ranges[number]), np.maximum(sizes[own] - 1, 0))
    return found


# ---- one range


@dataclass(frozen=True)
class _Fitted:
    """Parameters, and the largest error in units of what is allowed."""

    values: Array
    worst: float


def _longest(rule: _Rule, k: Array, measured: Array, begin: int, usual: Array | None) -> tuple[int, Array]:
    """The end of the longest range from `begin` on that is met within the tolerance, and its parameters; of a size
    alone also those that meet it for a transfer only, or not at all."""
    alone = slice(begin, begin + 1)
    end, best = begin + 1, _fitted(rule, k[alone], measured[:, alone], usual)
    if best.worst > 1:
        return end, _fitted(rule, k[alone], measured[:, alone], usual, transfers_first=True).values
    while end < len(k):
        longer = _fitted(rule, k[begin : end + 1], measured[:, begin : end + 1], usual)
        if longer.worst > 1:
            break
        end, best = end + 1, longer
    return end, best.values


def _fitted(rule: _Rule, k: Array, measured: Array, usual: Array | None, *, transfers_first: bool = False) -> _Fitted:
    """The best parameters of these sizes, whatever limits transfers (the way of the bytes, or the CPU) and floods.
    `transfers_first`: calls and floods may be off by any amount."""
    allowed = (TOLERANCE, *(ANY if transfers_first else 2 * TOLERANCE,) * 2)
    best: _Fitted | None = None
    for transfer in (rule.path(k),) if rule.two_sided else (rule.path(k), _cpu(k)):
        for gap in (_nic(k), _cpu(k)):
            found = _of_lines(rule, k, measured, (transfer, gap), allowed, usual)
            if found.worst <= 1:
                return found
            best = found if best is None or found.worst < best.worst else best
    assert best is not None
    return best


def _of_lines(
    rule: _Rule,
    k: Array,
    measured: Array,
    longest: tuple[Array, Array],
    allowed: Sequence[float],
    usual: Array | None,
) -> _Fitted:
    """The best parameters where these lines limit transfers and floods. `allowed`: the largest relative error of each
    series. The variables are the parameters, the relative error of each time, how far o and L are from the usual ones,
    which are those of the smallest transfers, and the largest error in units of what is allowed."""
    limits = [[rule.path(k)] if rule.two_sided else [rule.path(k), _cpu(k), _nic(k)], [_cpu(k)], [_cpu(k), _nic(k)]]
    tight = (longest[0], _cpu(k), longest[1])
    scales = np.stack([measured[_TRANSFER], *(np.maximum(measured[i], SURE / (2 * TOLERANCE)) for i in (_CALL, _GAP))])
    sizes, names = len(k), len(NAMES)
    errors = names + np.arange(len(SERIES) * sizes).reshape(len(SERIES), sizes)
    off, worst = names + errors.size, names + errors.size + 2
    unit = np.array([1, 1 / max(float(k.max()), 1), 1, 1, 1 / max(float(k.max()), 1)]) * float(measured[0].max())
    rows: list[Array] = []
    bounds: list[float] = []

    def at_most(factors: Array, bound: float, others: dict[int, float]) -> None:
        row = np.zeros(worst + 1)
        row[:names] = factors * unit
        for column, factor in others.items():
            row[column] += factor
        rows.append(row)
        bounds.append(bound)

    for series, (lines, lower) in enumerate(zip(limits, tight, strict=True)):
        for i in np.flatnonzero(np.isfinite(measured[series])):
            value, scale, error = measured[series, i], scales[series, i], int(errors[series, i])
            for line in lines:
                at_most(line[i] / scale, value / scale, {error: -1.0})
            at_most(-lower[i] / scale, -value / scale, {error: -1.0})
            at_most(np.zeros(names), 0.0, {error: 1.0, worst: -allowed[series]})
    if rule.two_sided:  # the formula of half a ping-pong holds where the CPUs copy what is on its way
        at_most(np.eye(names)[_O] - np.eye(names)[_G], 0.0, {})
    near = np.ones(names) if usual is None else usual
    for column, name in zip((off, off + 1), (_o, _L), strict=True):
        for sign in (1.0, -1.0):
            at_most(sign * np.eye(names)[name] / max(near[name], 1.0), sign, {column: -1.0})
    lowest: list[tuple[float, float | None]] = [(0.0, None)] * (worst + 1)
    lowest[_L] = (1.0 / unit[_L], None)  # 1 ps: what a rank does reaches another later
    first = np.zeros(worst + 1)
    first[worst] = 1.0
    found = scipy.optimize.linprog(first, np.array(rows), np.array(bounds), bounds=lowest)
    if found.x is None:
        return _Fitted(np.ones(names), np.inf)
    least = float(found.x[worst])
    lowest[worst] = (0.0, max(least * (1 + 1e-6), 1.0) + 1e-9)
    second = np.zeros(worst + 1)
    second[errors.ravel()] = 1.0
    second[:names], second[[off, off + 1]] = 1e-7, 0.0 if usual is None else 1e-4
    better = scipy.optimize.linprog(second, np.array(rows), np.array(bounds), bounds=lowest)
    return _Fitted((found.x if better.x is None else better.x)[:names] * unit, least)


# ---- the results


def _intervals(values: Array, epochs: Sequence[Array]) -> dict[str, tuple[float, float]]:
    halves = half_width(epochs)
    return {
        name: (max(float(values[i] - halves[i]), 0.0), float(values[i] + halves[i])) for i, name in enumerate(NAMES)
    }


def _as_usual(values: Array, usual: Array, name: str) -> bool:
    """Whether nothing says that a parameter is another one than that of the smallest transfers."""
    i = NAMES.index(name)
    return bool(np.isclose(values[i], usual[i], rtol=1e-6, atol=1))


def _digits(value: float) -> float:
    """A cost per byte to six digits, as machine.toml has it."""
    return parse_cost(f"{value / 1000:.6g}ns")


def _rounded(first: int, values: Array, intervals: dict[str, tuple[float, float]]) -> OneSidedRange:
    return OneSidedRange(
        first,
        round(values[_o]),
        _digits(values[_O]),
        max(round(values[_L]), 1),
        round(values[_g]),
        _digits(values[_G]),
        intervals,
    )


def _values(r: OneSidedRange) -> Array:
    return np.array([getattr(r, name) for name in NAMES], dtype=np.float64)


def _errors(
    whole: pd.DataFrame, back_end: str, table: pd.DataFrame, ranges: Sequence[OneSidedRange], rule: _Rule
) -> pd.DataFrame:
    """The rows of OneSidedFit.table."""
    sizes = table.index.to_numpy(dtype=np.float64)
    predicted = times_of(ranges, sizes, rule)
    parts = [
        pd.DataFrame({"series": name, "size": table.index, "measured_ps": table[name].to_numpy(), "fitted_ps": times})
        for name, times in zip(SERIES, predicted, strict=True)
    ]
    own = whole[(whole["back_end"] == back_end) & (whole["links"] == 1)]
    for operation, share in ((GET, 1.0), (POLLED, 0.5)):
        rows = own[own["operation"] == operation]
        if rows.empty:
            continue
        seen = rows["size"].to_numpy(dtype=np.float64)
        times = times_of(ranges, seen)[_TRANSFER]
        if operation == POLLED:
            times = _arrivals(ranges, seen)
        name = "get" if operation == GET else "polled"
        compared = {"series": name, "size": rows["size"].to_numpy(), "measured_ps": rows["median_ps"] * share}
        parts.append(pd.DataFrame({**compared, "fitted_ps": times}))
    found = pd.concat(parts, ignore_index=True).dropna(subset="measured_ps").reset_index(drop=True)
    error = found["fitted_ps"] / found["measured_ps"] - 1
    return found.assign(error=error, fitted=found["series"].isin(SERIES))


def _arrivals(ranges: Sequence[OneSidedRange], sizes: Array) -> Array:
    """The times from the call of a put until its bytes are in the target's memory: o + L + kG."""
    arrivals: Array = times_of([replace(r, g=0, O=0.0) for r in ranges], sizes, _Rule(1, 1))[_TRANSFER]
    return arrivals


def _notes(back_end: str, errors: pd.DataFrame, ranges: Sequence[OneSidedRange], waits: bool) -> list[str]:
    kind = "Half a ping-pong" if back_end == "mpi" else "A put"
    transfers = errors[errors["series"] == "transfer"]
    beyond = transfers[transfers["error"].abs() > GOAL]
    notes = [
        f"{back_end}: {kind} by the parameters is within {percent_text(GOAL)} of what was measured at "
        f"{len(transfers) - len(beyond)} of {len(transfers)} sizes."
    ]
    for size, error in beyond[["size", "error"]].itertuples(index=False):
        notes.append(
            f"{back_end}: {kind} of {size_text(int(size))} is {error:+.0%} off: its time, the call's and the flood's "
            "do not go together by the rules."
        )
    for name, what in (
        ("call", "the CPU time of the call"),
        ("gap", "the time between two of a flood"),
        ("get", "a get, which has the parameters of a put"),
        ("polled", "the time until a target that polls sees a put"),
    ):
        own = errors[errors["series"] == name]
        if len(own) and (off := own["error"].abs()).max() > 2 * GOAL:
            worst = own.iloc[int(off.to_numpy().argmax())]
            notes.append(
                f"{back_end}: {what} is up to {worst['error']:+.0%} off (at {size_text(int(worst['size']))}), "
                f"{percent_text(float(off.median()))} at the median size."
            )
    if back_end != "mpi" and any(r.L < SURE for r in ranges):
        shortest = min(r.L for r in ranges)
        notes.append(
            f"{back_end}: L is as short as {plain_time(shortest)}: a put through shared memory is complete when the "
            "origin's CPU has copied it, so hardly anything is left for the way."
        )
    if waits:
        notes.append(f"{back_end}: puts wait until a target that computes calls its library: its CPU takes part.")
    return notes
