"""The table of recorded ops, checked, as numpy columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..escaping import quote
from ..provenance import Provenance
from ..timeline import OP_KINDS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    Table: TypeAlias = pa.Table | pd.DataFrame

SEND, RECV, CALC, PUT, GET, AWAIT, LOCK, SHARED_LOCK, UNLOCK = range(len(OP_KINDS))
RECEIVING = (RECV, AWAIT)
"""The kinds of ops that end when something from their peer has come, which has a match."""
REMOTE = (PUT, GET, LOCK, SHARED_LOCK, UNLOCK)
"""The kinds of ops that transmit, and end when their target has answered."""

Ints: TypeAlias = npt.NDArray[np.int64]

REQUIRED = ("rank", "op", "kind", "peer", "tag", "size", "ready_ps", "start_ps", "end_ps")


@dataclass(frozen=True)
class Names:
    """A column of names: `names[codes[row]]`."""

    codes: npt.NDArray[np.int32]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Ops:
    """The recorded ops, a row each, in the order (rank, op). Times are ps.

    `kind` is an index into OP_KINDS. Values that the table lacks are taken as unknown: `work` is `start`,
    of a recv or an await `end`; `free` is `end`; `noise` and `wait` are 0; ranks and ops -1; names "". `match` is the
    row of the send whose message a recv took, or of the put that notified an await; -1: none, or it is not in the
    table. `given` names the columns that the table has, `provenance` is that of the table.
    """

    given: frozenset[str]

    rank: Ints
    op: Ints
    kind: npt.NDArray[np.int32]
    peer: Ints
    tag: Ints
    size: Ints
    ready: Ints
    start: Ints
    end: Ints
    work: Ints
    free: Ints
    noise: Ints
    wait: Ints
    cause_rank: Ints
    cause_op: Ints
    match: Ints
    wait_state: Names
    cause: Names
    call: Names
    provenance: Provenance | None = None

    def column(self, name: str) -> Ints:
        """The column `name` of the table, which has numbers."""
        values: Ints = getattr(self, name.removesuffix("_ps"))
        return values

    @cached_property
    def is_replied(self) -> npt.NDArray[np.bool_]:
        """Whether each op is a get whose reply the CPU receives, which is its last work for it."""
        replied: npt.NDArray[np.bool_] = (self.kind == GET) & (self.work > self.start)
        return replied

    def __len__(self) -> int:
        return len(self.rank)

    def bounds(self) -> list[tuple[int, int, int]]:
        """For each rank: its number, its first row, and the row after its last."""
        firsts = np.flatnonzero(np.diff(self.rank, prepend=-1))
        lasts = [*firsts[1:].tolist(), len(self.rank)]
        return list(zip(self.rank[firsts].tolist(), firsts.tolist(), lasts, strict=True))


def read_ops(table: Table) -> Ops:
    """The ops in a table as `Timeline.ops_to_arrow` and `ops_to_pandas` make it, or part of its rows.

    Raises InputError if there are none, a column is missing, or the rows are not in the order (rank, op).
    """
    import pyarrow as pa

    provenance = Provenance.of_table(table, "the table of ops")
    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if not len(table):
        raise InputError("there are no ops: expected a timeline that was simulated with record=True")
    lacking = [name for name in REQUIRED if name not in table.column_names]
    if lacking:
        raise InputError(f"the table of ops lacks {', '.join(lacking)}; there are {', '.join(table.column_names)}")
    rank, op = _integers(table, "rank"), _integers(table, "op")
    key = rank << 32 | op
    if np.any(key[1:] <= key[:-1]):
        raise InputError("expected the ops in the order (rank, op), each once")
    kind = _kinds(table)
    start, end = _integers(table, "start_ps"), _integers(table, "end_ps")
    return Ops(
        given=frozenset(table.column_names),
        rank=rank,
        op=op,
        kind=kind,
        peer=_integers(table, "peer"),
        tag=_integers(table, "tag"),
        size=_integers(table, "size"),
        ready=_integers(table, "ready_ps"),
        start=start,
        end=end,
        work=_integers(table, "work_ps", np.where(np.isin(kind, RECEIVING), end, start)),
        free=_integers(table, "free_ps", end),
        noise=_integers(table, "noise_ps", 0),
        wait=_integers(table, "wait_ps", 0),
        cause_rank=_integers(table, "cause_rank", -1),
        cause_op=_integers(table, "cause_op", -1),
        match=_matches(table, key),
        wait_state=_names(table, "wait_state"),
        cause=_names(table, "cause"),
        call=_names(table, "call"),
        provenance=provenance,
    )


def _integers(table: pa.Table, name: str, default: Ints | int | None = None) -> Ints:
    import pyarrow as pa

    if name not in table.column_names:
        return np.broadcast_to(np.asarray(default, dtype=np.int64), len(table))
    try:
        column: Ints = table[name].cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(f"column {name} of the ops: {error}") from error
    return column


def _names(table: pa.Table, name: str) -> Names:
    import pyarrow as pa

    if name not in table.column_names:
        return Names(np.zeros(len(table), dtype=np.int32), ("",))
    column = table[name]
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0)
    if column.null_count:
        raise InputError(f"column {name} of the ops: expected a name in every row")
    return Names(column.indices.to_numpy().astype(np.int32), tuple(column.dictionary.to_pylist()))


def _kinds(table: pa.Table) -> npt.NDArray[np.int32]:
    column = _names(table, "kind")
    unknown = [name for name in column.names if name not in OP_KINDS]
    if unknown:
        raise InputError(f"column kind of the ops: expected {', '.join(OP_KINDS)}, found {quote(unknown[0])}")
    return np.array([OP_KINDS.index(name) for name in column.names], dtype=np.int32)[column.codes]


def _matches(table: pa.Table, key: Ints) -> Ints:
    rank, op = _integers(table, "match_rank", -1), _integers(table, "match_op", -1)
    wanted = np.where(op < 0, -1, rank << 32 | op)
    rows: npt.NDArray[Any] = np.searchsorted(key, wanted)
    found = key[np.minimum(rows, len(key) - 1)] == wanted
    return np.where(found, rows, -1).astype(np.int64)
