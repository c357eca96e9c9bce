"""The variation of a machine's network: factors of L and G over time (docs/model.md, R27), and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from . import _core
from .errors import InputError, UsageError
from .escaping import cut, name_of
from .field_methods import FieldMethods
from .formatting import join_words, size_text
from .input.bounds import MOST_TABLE
from .input.files import read_text
from .noise_models import as_times
from .recorded_pairs import recorded_pairs
from .units import parse_time

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from .machine import Level, Machine
    from .noise_models import Times

    Factors = npt.NDArray[np.float64]

COLUMNS = ["start_ns", "L_factor", "G_factor"]
MOST_FACTOR = 1e6
"""The greatest factor."""
LEAST_RECORDED = 0.01
"""The least factor that a recording can give: below it a phase was faster than the parameters that do not vary."""


@dataclass(frozen=True, eq=False, repr=False)
class Variation(FieldMethods):
    """Factors of L and G over time: from each of `starts` on those of `L` and `G`, until the next; before the first 1.

    `starts` is an int64 array in ps, ascending from 0 on; `L` and `G` are arrays of numbers above 0. With a `period`
    (ps), beyond all starts, the table is repeated for ever. `recorded` says where it was recorded, in words.
    """

    starts: Times
    L: Factors
    G: Factors
    period: int | None = None
    recorded: str = ""

    def __post_init__(self) -> None:
        vars(self).update(starts=as_times(self.starts), L=_as_factors(self.L), G=_as_factors(self.G))

    @classmethod
    def load(cls, path: str | Path, period: int | None = None, recorded: str = "") -> Variation:
        """Read a file of factors: CSV with the header start_ns,L_factor,G_factor. Raises InputError naming the line."""
        name = name_of(path)
        rows = list(_read_rows(read_text(path, "a file of factors of L and G", most=MOST_TABLE), name))
        starts, L, G = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(as_times(starts), _as_factors(L), _as_factors(G), period, recorded)

    def csv(self) -> str:
        """The text of such a file, exactly: times in ns with three decimals."""
        rows = zip(self.starts.tolist(), self.L.tolist(), self.G.tolist(), strict=True)
        lines = (f"{start // 1000}.{start % 1000:03d},{L!r},{G!r}" for start, L, G in rows)
        return "\n".join([",".join(COLUMNS), *lines]) + "\n"

    def shifted(self, offset: int) -> Variation:
        """The same as it goes on `offset` ps later; with a period the table goes round.

        Raises UsageError for a negative offset.
        """
        if offset < 0:
            raise UsageError(f"expected an offset from 0 on, found {offset} ps")
        starts, L, G = self._columns
        if len(starts) == 0:
            return self
        if starts[0] > 0:
            starts, L, G = np.r_[0, starts], np.r_[1.0, L], np.r_[1.0, G]
        offset = offset if self.period is None else offset % self.period
        now = int(np.searchsorted(starts, offset, side="right")) - 1
        order, moved = np.arange(now, len(starts)), np.r_[0, starts[now + 1 :] - offset]
        if self.period is not None:
            passed = now + (starts[now] < offset)  # the row that holds at the offset ends the period, too
            order = np.r_[order, np.arange(passed)]
            moved = np.r_[moved, starts[:passed] + (self.period - offset)]
        return replace(self, starts=moved, L=L[order], G=G[order])

    @property
    def _columns(self) -> tuple[Times, Factors, Factors]:
        return self.starts, self.L, self.G

    def core(self) -> _core.Variation:
        """The variation as the compiled core sees it. Raises InputError naming the row that is impossible."""
        if self.period is not None and self.period <= 0:
            raise InputError(f"variation: expected a period above 0, found {self.period} ps")
        return _core.Variation(self.starts, self.L, self.G, self.period or 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variation):
            return NotImplemented
        same = (self.period, self.recorded) == (other.period, other.recorded)
        return same and all(map(np.array_equal, self._columns, other._columns))

    def __hash__(self) -> int:
        return hash((self.period, self.recorded, *(column.tobytes() for column in self._columns)))


def variation_from_recording(
    table: pd.DataFrame, machine: Machine | None = None, *, recorded: str = "", hosts: Sequence[str] = ()
) -> Variation:
    """The variation of a network that was recorded over time: L by its latencies, G by its bandwidths.

    `table` has a row for each phase of the recording: start_ns, test and value, and as far as they are known length_ns,
    run, phase, rank, peer and size. The value is the half round trip in a phase of the test "latency", s, and bytes per
    second in one of "bandwidth"; other tests and phases without a value are left out. Times are relative to the medians
    of the same test, pair and size; of several pairs in one phase their mean counts. From the beginning of a phase on
    its factor holds, until that of the next phase of its test; before the first one, the first. The period is that of
    the recording; the pauses in which it was interrupted (between runs) are left out, and no factor holds beyond one if
    the next run has phases of the test. Without lengths a run ends one median step after its last start.

    `hosts`: that of each rank, as the recording's overtime.json has them. Then pairs within a node and pairs between
    nodes are not mixed (`recorded_pairs`, whose notes say which are left out).

    With a `machine`, its overheads and its gap do not vary: what a half round trip of o_s + L + o_r + kG is longer than
    the median is L's alone, and what a message's time of g + kG is longer is G's; without one the
    factors are those of the times as a whole. None is below LEAST_RECORDED or above MOST_FACTOR.

    Raises InputError for a table without such phases.
    """
    phases = _phases(recorded_pairs(table, hosts, machine).table)
    medians = phases.groupby(["test", "rank", "peer", "size"])["value"].transform("median")
    ratios = phases["value"] / medians
    phases["factor"] = ratios.where(phases["test"] == "latency", 1 / ratios)
    if machine is not None:
        level = machine.network
        rows = zip(phases["test"], phases["size"], phases["factor"], strict=True)
        phases["factor"] = [_of_parameter(level, test, int(size), factor) for test, size, factor in rows]
    phases["factor"] = phases["factor"].clip(LEAST_RECORDED, MOST_FACTOR)
    of_phase = (
        phases.groupby(["phase", "test"])
        .agg(start=("start", "min"), run=("run", "min"), factor=("factor", "mean"))
        .reset_index()
    )
    steps = of_phase.pivot_table(index=["start", "run"], columns="test", values="factor").reset_index("run")
    run = steps.pop("run")
    of_runs = steps.groupby(run)
    steps = of_runs.ffill().fillna(of_runs.bfill()).ffill().bfill()
    ones = np.ones(len(steps))
    L, G = (steps[test].to_numpy() if test in steps else ones for test in ("latency", "bandwidth"))
    starts, period = steps.index.to_numpy() * 1000, int(phases["end"].max()) * 1000
    starts[0] = 0  # what was recorded before the first phase has its factors, too
    return Variation(starts, L, G, period, recorded)


def unvaried_notes(table: pd.DataFrame, machine: Machine) -> tuple[str, ...]:
    """Sentences about recorded tests whose variation changes nothing in a simulation of `machine`: a factor of a
    parameter that is 0."""
    found = []
    for test, parameter, other in (("latency", "L", "o_s and o_r"), ("bandwidth", "G", "g, O_s and O_r")):
        sizes = sorted({int(size) for size in table.loc[table["test"] == test, "size"]}) if "size" in table else []
        still = [size for size in sizes if getattr(machine.network.at(size), parameter) == 0]
        if sizes and still == sizes:
            message = join_words([size_text(size) for size in sizes])
            found.append(
                f"{parameter} of messages of {message} is 0 on {machine.name}, so the recorded variation of {test} "
                f"changes nothing: the time is in {other}, which do not vary"
            )
    return tuple(found)


def _phases(table: pd.DataFrame) -> pd.DataFrame:
    """The phases of latency and bandwidth: phase, test, rank, peer, size, value; start and end in ns of recorded time,
    from 0 on. Raises InputError."""
    import pandas as pd

    missing = [name for name in ("start_ns", "test", "value") if name not in table]
    if missing:
        raise InputError(
            f"a recording of a network: expected the columns start_ns, test and value, found no {missing[0]}"
        )
    table = table.sort_values("start_ns", kind="stable").reset_index(drop=True)
    starts = table["start_ns"].astype("int64")
    runs = table["run"] if "run" in table else pd.Series(0, index=table.index)
    length = table["length_ns"] if "length_ns" in table else _usual_step(starts, runs)
    ends = (starts + length).astype("int64")
    first, last = starts.groupby(runs).min(), ends.groupby(runs).max()
    begins = (last - first).cumsum().shift(fill_value=0)
    moved = runs.map(begins - first)
    columns = {name: table.get(name, 0) for name in ("rank", "peer", "size")}
    every = pd.DataFrame(
        {
            "phase": table.get("phase", starts),
            "run": runs,
            "test": table["test"].astype(str),
            **columns,
            "value": table["value"].astype("float64"),
            "start": starts + moved,
            "end": ends + moved,
        }
    )
    whole = int(every["end"].max()) if len(every) else 0
    valid = every["test"].isin(["latency", "bandwidth"]) & np.isfinite(every["value"]) & (every["value"] > 0)
    phases: pd.DataFrame = every[valid].copy()
    if phases.empty:
        raise InputError("a recording of a network: expected phases of latency or bandwidth, found none")
    phases["end"] = max(whole, int(phases["start"].max()) + 1)
    return phases


def _usual_step(starts: pd.Series, runs: pd.Series) -> int:
    """The median time from one start to the next one of the same run, ns, at least 1."""
    steps = starts.groupby(runs).diff()
    steps = steps[steps > 0]
    return max(1, round(float(steps.median()))) if len(steps) else 1


def _of_parameter(level: Level, test: str, size: int, factor: float) -> float:
    """The factor of L or G by which the time of a test grows by `factor`, where everything else stays."""
    p, k = level.at(size), max(size - 1, 0)
    varying, rest = (p.L, p.o_s + p.o_r + k * p.G) if test == "latency" else (k * p.G, p.g)
    if varying <= 0:
        return factor
    return (factor * (varying + rest) - rest) / varying


def _as_factors(values: npt.ArrayLike) -> Factors:
    return np.ascontiguousarray(values, dtype=np.float64)


def _read_rows(text: str, name: str) -> Iterator[tuple[int, float, float]]:
    """The rows of a file of factors: start in ps, factor of L, factor of G. Raises InputError."""
    lines = enumerate(text.splitlines(), 1)
    _, header = next(lines, (1, ""))
    if [word.strip() for word in header.split(",")] != COLUMNS:
        raise InputError(f"{name}:1: expected the header {','.join(COLUMNS)}, found {cut(header) or 'nothing'}")
    before = -1
    for number, line in lines:
        if not line.strip():
            continue
        row = _row(line, f"{name}:{number}")
        if row[0] <= before:
            least = "a start from 0 on" if before < 0 else "a start after that of the row before"
            raise InputError(f"{name}:{number}: expected {least}, found {cut(line)}")
        before = row[0]
        yield row


def _row(line: str, where: str) -> tuple[int, float, float]:
    try:
        start, L, G = line.split(",")
        row = parse_time(f"{start.strip()}ns"), float(L), float(G)
    except ValueError:
        raise InputError(f"{where}: expected start_ns,L_factor,G_factor, three numbers, found {cut(line)}") from None
    for factor in row[1:]:
        if not (0 < factor <= MOST_FACTOR):
            raise InputError(f"{where}: expected factors above 0 and up to {MOST_FACTOR:.0f}, found {cut(line)}")
    return row
