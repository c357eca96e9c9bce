"""Recordings of the probe of one-sided communication, of a machine whose parameters are known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from idlewave.measure.one_sided.samples import (
    ACKNOWLEDGED,
    BACK_ENDS,
    CALL,
    COLUMNS,
    COMPUTING,
    FLOOD,
    GET,
    GET_OVERLAP,
    NOTIFIED,
    OPERATIONS,
    OVERLAP,
    PING_PONG,
    POLLED,
    PUT,
)

SIZES = (0, 1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
REPETITIONS = 1000
"""So many: the nanoseconds of all are the picoseconds of one."""
COMPUTING_NS = 2_000_000
SAMPLES = 9


@dataclass(frozen=True)
class Known:
    """Parameters in ps, and ps per byte after the first."""

    o: float
    L: float
    g: float
    G: float
    O: float = 0.0  # noqa: E741 - LogGP's letter

    def call(self, k: float) -> float:
        return self.o + k * self.O

    def gap(self, k: float) -> float:
        return max(self.g + k * self.G, self.call(k))

    def put(self, k: float) -> float:
        return max(self.o + 2 * self.L + k * self.G, self.gap(k))

    def message(self, k: float) -> float:
        """One way, with as much CPU time at its end as at its beginning."""
        return 2 * self.o + self.L + k * self.G


NETWORK = Known(o=300_000, L=900_000, g=400_000, G=100.0, O=20.0)
"""A network that moves bytes by itself."""
MEMORY = Known(o=20_000, L=5_000, g=10_000, G=50.0, O=50.0)
"""A put through shared memory: the CPU copies."""
MESSAGES = Known(o=500_000, L=700_000, g=800_000, G=200.0, O=30.0)
Machine = Mapping[str, Sequence[tuple[int, Known]]]
"""By back end, the parameters from each first size on."""
USUAL: Machine = {"mpi": [(0, MESSAGES)], "rma": [(0, NETWORK)]}


def times_ps(back_end: str, known: Known, k: float, window: int, waits: bool) -> dict[str, float]:
    """The time of one repetition of each operation that is recorded."""
    if back_end == "mpi":
        answered = known.message(k) + known.message(0)
        flood = (window - 1) * known.gap(k) + answered
        return {
            PING_PONG: 2 * known.message(k),
            ACKNOWLEDGED: answered,
            CALL: known.call(k),
            FLOOD: flood,
            OVERLAP: answered,
        }
    put = known.put(k)
    return {
        PUT: put,
        GET: put,
        NOTIFIED: 2 * (put + known.put(0)),
        POLLED: 2 * (known.o + known.L + k * known.G),
        CALL: known.call(k),
        FLOOD: (window - 1) * known.gap(k) + put,
        OVERLAP: put,
        GET_OVERLAP: put,
        COMPUTING: COMPUTING_NS * 1000 if waits else put,
    }


def write(folder: Path, rows: Sequence[Sequence[int]], back_ends: Sequence[str], **changes: object) -> None:
    """A recording with these rows."""
    folder.mkdir(exist_ok=True, parents=True)
    np.array(rows, dtype="<i8").reshape(-1, len(COLUMNS)).tofile(folder / "one-sided.i64")
    said = {
        "probe": "one-sided",
        "library": "an MPI",
        "ranks": [{"host": "a"}, {"host": "b"}],
        "back_ends": list(back_ends),
        "operations": list(OPERATIONS),
        "computing_ns": COMPUTING_NS,
        "interrupted": False,
        "tables": {"samples": {"file": "one-sided.i64", "columns": list(COLUMNS)}},
    }
    (folder / "one-sided.json").write_text(json.dumps(said | changes))


def rows_of(
    machine: Machine, seed: int = 1, scatter: float = 0.0, hidden: float = 0.25, waits: bool = False
) -> list[list[int]]:
    """Samples of a machine that does what the rules say, with a relative scatter. `hidden`: the share of a computation
    that hides in a transfer."""
    random = np.random.default_rng(seed)
    rows = []
    for number, (back_end, ranges) in enumerate(machine.items()):
        for size in SIZES:
            known = next(own for first, own in reversed(ranges) if size >= first)
            window = 64 if size < 65536 else 32
            for operation, time in times_ps(back_end, known, max(size - 1, 0), window, waits).items():
                for i in range(SAMPLES):
                    elapsed = time * (1 + scatter * random.normal())
                    alone = computed = 0.0
                    if operation in (OVERLAP, GET_OVERLAP):
                        alone = computed = elapsed
                        elapsed = (2 - hidden) * alone
                    own = window if operation == FLOOD else 1
                    key = (number, OPERATIONS.index(operation), 1, size, own)
                    times = (max(round(elapsed), 1), round(alone), round(computed))
                    rows.append([*key, REPETITIONS, *times, 10**6 * i, 0, 800, 800, 670, 670])
    return rows


def recorded(folder: Path, machine: Machine | None = None, **changes: object) -> None:
    """A recording without scatter."""
    own = USUAL if machine is None else machine
    write(folder, rows_of(own), [*own], **changes)


def epochs_recorded(folder: Path, machine: Machine, epochs: int = 3, scatter: float = 0.02, seed: int = 1) -> None:
    """Recordings of several starts."""
    for epoch in range(1, epochs + 1):
        write(folder / f"epoch-{epoch}", rows_of(machine, seed * 1000 + epoch, scatter), [*machine])


assert set(USUAL) <= set(BACK_ENDS)
