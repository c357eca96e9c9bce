"""A brief measurement of an allocation: as many phases of each pair of ranks as a verdict needs, in the time there is.

The time is planned before: how long a phase is, and with how many ranks rank 0 exchanges. Phases may take longer than
planned, because trains of large messages do on a slow network; so they are counted afterwards, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MeasurementError, UsageError
from ..formatting import plain_time, plural, size_text
from ..measure.overtime.recording import OvertimeRecording
from ..measure.overtime.settings import TESTS
from ..measurement_parameters import OVERTIME_SIZES
from .defaults import SECONDS
from .needs import parse_needs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from ..mpi import Mpi
    from .needs import Need

LEAST_ROUNDS = 20
"""A verdict needs so many rounds of the three tests, and of each pair of ranks at least `LEAST_OF_PAIR` of them."""
LEAST_OF_PAIR = 5
LONGEST_PHASE = 1.0
SHORTEST_PHASE = 0.005
_BESIDE = 0.012
"""Seconds that a phase takes beside its length: the gap after it, and until its ranks are awake."""
_RESERVE = 2.0
"""So many times the rounds that are needed are planned."""
_MARGIN = 1.1


@dataclass(frozen=True)
class Plan:
    """How the time is used: seconds a phase, and the number of ranks, the last ones, with which rank 0 exchanges."""

    phase: float
    peers: int


def rounds_needed(peers: int) -> int:
    """How many rounds a verdict about so many pairs needs."""
    return max(LEAST_ROUNDS, LEAST_OF_PAIR * peers)


def seconds_needed(peers: int, phase: float = SHORTEST_PHASE) -> float:
    """How long these take, s."""
    return _RESERVE * rounds_needed(peers) * len(TESTS) * (phase + _BESIDE)


def planned(seconds: float, ranks: int) -> Plan:
    """The longest phases with which rank 0 exchanges with all other ranks in so many seconds, or else, with the
    shortest phases, with as many ranks as there is time for. Raises UsageError if there is time for none."""
    if seconds < seconds_needed(1):
        raise UsageError(
            f"{plural(ranks, 'rank')} need at least {_seconds_text(seconds_needed(1))} for {LEAST_ROUNDS} rounds of "
            f"{', '.join(TESTS)}, found {plain_time(seconds * 1e12, 3)}"
        )
    peers = ranks - 1
    if seconds < seconds_needed(peers):
        rounds = LEAST_ROUNDS * seconds / seconds_needed(1)
        peers = min(peers, int(rounds + 1e-9) // LEAST_OF_PAIR)
    each = seconds / (_RESERVE * rounds_needed(peers) * len(TESTS))
    return Plan(min(max(each - _BESIDE, SHORTEST_PHASE), LONGEST_PHASE), peers)


def measure_allocation(
    needs: str | Sequence[Need] = (),
    seconds: float = SECONDS,
    ranks: int = 2,
    *,
    hosts: Sequence[str] = (),
    mpi: Mpi | None = None,
) -> OvertimeRecording:
    """Measure the ranks of this allocation briefly, without idle phases, with the sizes that the needs name.

    `hosts`: a rank on each of them, instead of `ranks` wherever the MPI puts them. The notes say which pairs there was
    no time for. Raises UsageError if there is time for none, or two needs name different sizes of a test, MpiError, and
    MeasurementError, also if there are fewer phases of a pair than a verdict needs: then it names how long to measure.
    """
    import tempfile

    from ..measure.overtime import measure_overtime

    count = len(hosts) or ranks
    plan = planned(seconds, count)
    sizes = _sizes(parse_needs(needs) if isinstance(needs, str) else needs)
    with tempfile.TemporaryDirectory(prefix="idlewave-") as folder:
        found = measure_overtime(
            Path(folder) / "now",
            mpi,
            hosts=hosts,
            counters=[],
            seconds=seconds,
            ranks=count,
            peers=plan.peers,
            phase=plan.phase,
            idle=0.0,
            sizes=tuple(sizes[test] for test in TESTS),
        )
    now = replace(found, name="what was measured now", folder=None)
    _check_phases(now.table, plan, count, seconds)
    if plan.peers == count - 1:
        return now
    left_out = (
        f"in {plain_time(seconds * 1e12, 3)} rank 0 exchanged with the last {plural(plan.peers, 'rank')} of {count} "
        f"only; all of them need {_seconds_text(seconds_needed(count - 1))}"
    )
    return replace(now, notes=(*now.notes, left_out))


def _sizes(needs: Sequence[Need]) -> Mapping[str, int]:
    """The size of each test: the one that a need names, else the usual one. Raises UsageError for two of one test."""
    sizes: dict[str, int] = {}
    for need in needs:
        if need.size is None:
            continue
        if sizes.setdefault(need.test, need.size) != need.size:
            both = " and ".join(size_text(size) for size in sorted({sizes[need.test], need.size}))
            raise UsageError(f"expected needs of one size of {need.test}, which is measured once, found {both}")
    return {**dict(zip(TESTS, OVERTIME_SIZES, strict=True)), **sizes}


def _check_phases(table: pd.DataFrame, plan: Plan, ranks: int, seconds: float) -> None:
    """Raise MeasurementError if a pair, or the test of all ranks, has fewer phases than a verdict needs."""
    rounds = rounds_needed(plan.peers)
    least = dict.fromkeys(TESTS, max(LEAST_OF_PAIR, LEAST_ROUNDS // plan.peers)) | {"allreduce": rounds}
    pairs = dict.fromkeys(TESTS, plan.peers) | {"allreduce": 1}
    of_pairs = {test: table[table["test"] == test].groupby("peer").size() for test in TESTS}
    fewest = {test: int(found.min()) if len(found) == pairs[test] else 0 for test, found in of_pairs.items()}
    test = min(TESTS, key=lambda name: fewest[name] / least[name])
    if fewest[test] >= least[test]:
        return
    lasted = float((table["start_ns"] + table["length_ns"]).max() - table["start_ns"].min()) / 1e9
    each = lasted / max(len(table), 1)
    # Phases are planned to fill 1 / _RESERVE of the time; what they take beyond their length has to fit into the rest.
    beyond = max(each - plan.phase - _BESIDE, 0.0)
    wanted = rounds * len(TESTS) * beyond * _RESERVE / (_RESERVE - 1)
    what = "allreduce" if test == "allreduce" else f"{test} of each pair of ranks"
    raise MeasurementError(
        f"expected at least {plural(least[test], 'phase')} of {what}, found {fewest[test]}: here "
        f"{plural(ranks, 'rank')} need about {_seconds_text(_MARGIN * max(wanted, seconds))}, since a phase takes "
        f"{plain_time(each * 1e12, 3)}"
    )


def _seconds_text(seconds: float) -> str:
    """A time that is enough: rounded up, to tenths of a second, or above ten to seconds."""
    digits = 10 if seconds < 10 else 1
    return f"{math.ceil(seconds * digits - 1e-9) / digits:g} s"
