"""A timeline: the finish times of the ranks of a simulated program and, if recorded, the times of each op."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from .errors import UsageError
from .escaping import quote
from .field_methods import FieldMethods
from .lazy_provenance import LazyProvenance
from .provenance import KEY, Provenance

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    from .event_run import EventRun

    Columns = dict[str, npt.NDArray[Any]]

OP_KINDS = ("send", "recv", "calc", "put", "get", "await", "lock", "shared_lock", "unlock")
WAIT_STATES = ("", "late sender", "late receiver", "wait at collective", "cpu", "nic", "lock contention")
CAUSES = ("none", "end", "cpu", "nic", "message")
ACTIVITIES = ("computation", "transmission", "reception", "posting", "initiation", "landing", "transmission by NIC")
MESSAGES = (
    *("data", "request to send", "clear to send", "data of a rendezvous"),
    *("put", "get", "reply to get", "lock", "shared_lock", "unlock", "acknowledgement"),
)
POINTS = (
    "start",
    "sender's CPU",
    "handed to NIC",
    "sender's NIC",
    "arrival",
    "receiver's CPU",
    "last byte",
    "receiver's NIC",
    "end",
    *("completion", "posted", "acknowledgement"),
)
NEVER = 2**63 - 1
SPANS = ("latency", "overhead", "gap", "wire_bytes", "cpu_bytes", "completion", "computation", "noise")


@dataclass(frozen=True, eq=False, repr=False)
class Recording(FieldMethods):
    """Which ops a simulation records: those that start from `since_ps` on and before `until_ps` (None: the end).

    `ranks` has the first and the last rank to record (None: all ranks). If the rows would take more than `most_bytes`,
    the simulation ends with an error: they take some 400 to 500 bytes a message, and their columns as much again.
    """

    ranks: tuple[int, int] | None = None
    since_ps: int = 0
    until_ps: int | None = None
    most_bytes: int = 4 << 30

    def __post_init__(self) -> None:
        ranks = (0, 0) if self.ranks is None else tuple(self.ranks)
        if len(ranks) != 2 or not 0 <= ranks[0] <= ranks[1] < 2**32:
            raise UsageError(f"expected the first and the last rank to be recorded, found {self.ranks}")
        if not 0 <= self.since_ps < (NEVER if self.until_ps is None else self.until_ps) <= NEVER:
            raise UsageError(f"expected a time to record, up to 106 days, found {self.since_ps} to {self.until_ps} ps")
        if not 0 <= self.most_bytes < 2**63:
            raise UsageError(f"expected a number of bytes below 2^63, found {self.most_bytes}")

    @property
    def is_whole(self) -> bool:
        """Whether all ops are recorded."""
        return (self.ranks, self.since_ps, self.until_ps) == (None, 0, None)

    @property
    def scope(self) -> str:
        """The ranks and times that are recorded, as text."""
        ranks = "all ranks" if self.ranks is None else f"ranks {self.ranks[0]} to {self.ranks[1]}"
        return f"{ranks} from {self.since_ps} to {'the end' if self.until_ps is None else self.until_ps}"

    def core(self) -> _core.Recording:
        """The same as the struct of the core."""
        core = _core.Recording()
        if self.ranks is not None:
            core.first, core.last = self.ranks
        core.from_ps = self.since_ps
        core.until_ps = NEVER if self.until_ps is None else self.until_ps
        core.most_bytes = self.most_bytes
        return core


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(FieldMethods):
    """The result of one simulation. Arrays are read-only views of the simulator's own memory.

    `finish` is int64, one a rank, ps; `finish_view` the same as a memoryview, for use without numpy; `max_finish`
    is when the last rank finished, ps. `messages` counts transmissions, control messages of rendezvous included.
    `seconds` is the time that simulation and generation took. `run` is what the kernel counted, where it ran in
    partitions: events are messages then. `share_by_one_thread` is the share of the events, from 0 to 1, that one of
    several threads executed for all, to save them waiting for each other or to find out whether it does; in partitions
    it is 0, and `run` has the number.

    The rest is empty unless it was recorded. `columns` has the ops, in the order (rank, op); docs/timeline.md says
    what each column is, and `ops_to_pandas` gives them with names for numbers. `path` has the critical path, `queues`
    what each rank's matching queues were like. `provenance` says what all was made from; tables carry it, too.
    """

    max_finish: int
    finish_view: memoryview = field(repr=False)
    messages: int
    seconds: float
    columns: Columns = field(default_factory=dict)
    path: Columns = field(default_factory=dict)
    queues: Columns = field(default_factory=dict)
    run: EventRun | None = None
    share_by_one_thread: float = 0.0
    lazy_provenance: LazyProvenance | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("finish", "lazy_provenance")}
        return state | {"finish_view": self.finish_view.tobytes(), "provenance": self.provenance}

    def __setstate__(self, state: dict[str, Any]) -> None:
        view = memoryview(state["finish_view"]).cast("q")
        self.__dict__.update(state | {"finish_view": view, "lazy_provenance": None})
        for columns in (self.columns, self.path, self.queues):
            for column in columns.values():
                column.flags.writeable = False

    @cached_property
    def provenance(self) -> Provenance | None:
        """Its provenance; None for a timeline that was not simulated. Large files are read for it, once."""
        return None if self.lazy_provenance is None else self.lazy_provenance.provenance

    @cached_property
    def finish(self) -> npt.NDArray[np.int64]:
        """The finish time of each rank, ps."""
        import numpy as np

        return np.asarray(self.finish_view)

    def to_arrow(self) -> pa.Table:
        """The finish times as an Arrow table (rank, finish_ps); the times are not copied."""
        import numpy as np
        import pyarrow as pa

        ranks = pa.array(np.arange(len(self.finish), dtype=np.uint32))
        return self._with_provenance(pa.table({"rank": ranks, "finish_ps": _arrow(self.finish)}))

    def ops_to_arrow(self) -> pa.Table:
        """The recorded ops as an Arrow table; columns of numbers are not copied, those of names are dictionaries."""
        import pyarrow as pa

        columns = {name: _arrow(values) for name, values in self.columns.items()}
        for name, words in (("kind", OP_KINDS), ("wait_state", WAIT_STATES), ("cause", CAUSES), ("call", _calls())):
            if name in columns:
                columns[name] = _names(self.columns[name], words)
        return self._with_provenance(pa.table(columns))

    def _with_provenance(self, table: pa.Table) -> pa.Table:
        """`table` with the provenance in the metadata of its schema."""
        return table if self.provenance is None else table.replace_schema_metadata({KEY: self.provenance.to_json()})

    def ops_to_pandas(self) -> pd.DataFrame:
        """The recorded ops as a data frame, with names for numbers."""
        table: pd.DataFrame = self.ops_to_arrow().to_pandas()
        return table if self.provenance is None else self.provenance.attach(table)

    def critical_path(self) -> pd.DataFrame:
        """The critical path, which decides the finish: one row a step, in order, from 0 ps to the finish.

        rank, op (-1: none of its own), activity, message, peer, size; `until` names the point from which the path goes
        on; from_ps, to_ps; and how the time between them divides (`SPANS`, each with _ps). Nothing waits on it.
        """
        import pandas as pd

        self._needs_path()
        names = {"activity": ACTIVITIES, "message": MESSAGES, "until": POINTS}
        return pd.DataFrame(
            {name: _categories(values, names[name]) if name in names else values for name, values in self.path.items()}
        )

    def path_division(self) -> dict[str, int]:
        """How the length of the critical path divides, ps: `SPANS`, which sum up to the finish."""
        self._needs_path()
        return {name: int(self.path[f"{name}_ps"].sum()) for name in SPANS}

    def wait_states(self, by: tuple[str, ...] = ("rank", "call")) -> pd.DataFrame:
        """Where ranks waited: the number of ops that waited and their time in all (wait_ps), by `by` and wait_state.

        `by` are columns of the ops: ("rank", "call") for each rank and operation; ("rank", "op") for each op.
        """
        self._needs_record()
        ops = self.ops_to_pandas()
        waited = ops[ops["wait_ps"] > 0]
        return (
            waited.groupby([*by, "wait_state"], observed=True)["wait_ps"]
            .agg(ops="count", wait_ps="sum", longest_ps="max")
            .reset_index()
        )

    def matching_queues(self) -> pd.DataFrame:
        """Each rank's matching queues.

        `arrivals` messages looked for a posted receive, among `mean_posted` on average and `most_posted` at most;
        `unexpected` of them found none. `receives` looked for their message when they were posted, among
        `mean_unexpected` and at most `most_unexpected` that were there; `matched_unexpected` of them found it.
        """
        import numpy as np
        import pandas as pd

        self._needs_record()
        q = self.queues
        return pd.DataFrame(
            {
                "rank": np.arange(len(self.finish), dtype=np.uint32),
                "arrivals": q["arrivals"],
                "unexpected": q["unexpected"],
                "mean_posted": q["posted_lengths"] / np.maximum(q["arrivals"], 1),
                "most_posted": q["most_posted"],
                "receives": q["receives"],
                "matched_unexpected": q["matched_unexpected"],
                "mean_unexpected": q["unexpected_lengths"] / np.maximum(q["receives"], 1),
                "most_unexpected": q["most_unexpected"],
            }
        )

    def traffic(self, by: Literal["pair", "size"] = "pair") -> pd.DataFrame:
        """Messages and bytes of all sends, puts and gets: by pair (rank, peer), or by size.

        `rank` is where the bytes come from, which of a get is the peer of the op.
        """
        import numpy as np
        import pandas as pd

        self._needs_record()
        if by not in ("pair", "size"):
            raise UsageError(f"expected traffic by pair or by size, found {quote(by)}")
        send, put, get = (OP_KINDS.index(kind) for kind in ("send", "put", "get"))
        ops = np.isin(self.columns["kind"], (send, put, get))
        kind, rank, peer = (self.columns[name][ops] for name in ("kind", "rank", "peer"))
        source, destination = np.where(kind == get, (peer, rank), (rank, peer))
        table = pd.DataFrame({"rank": source, "peer": destination, "size": self.columns["size"][ops]})
        groups = table.groupby(["rank", "peer"] if by == "pair" else ["size"])["size"]
        return groups.agg(messages="count", bytes="sum").reset_index()

    def _needs_record(self) -> None:
        if not self.columns:
            raise UsageError("this timeline has finish times only: simulate with record=True")

    def _needs_path(self) -> None:
        self._needs_record()
        if self.max_finish > 0 and not len(self.path["rank"]):
            raise UsageError("the critical path needs a record of all ranks and times")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface: the table of `to_arrow`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _calls() -> tuple[str, ...]:
    """The names of operations, by number: a collective with its algorithm."""
    return tuple(f"{operation} {algorithm}".strip() for operation, algorithm, _ in _core.call_names())


def _arrow(values: npt.NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def _names(numbers: npt.NDArray[Any], words: tuple[str, ...]) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(_arrow(numbers).cast(pa.int16()), pa.array(words))


def _categories(numbers: npt.NDArray[Any], words: tuple[str, ...]) -> pd.Categorical[str]:
    import numpy as np
    import pandas as pd

    return pd.Categorical.from_codes(numbers.astype(np.int16), categories=pd.Index(words))
