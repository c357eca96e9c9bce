"""A timeline: when the ranks of a simulated program finished, and, if recorded, when each op ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

OP_KINDS = ("send", "recv", "calc")


@dataclass(frozen=True)
class Timeline:
    """What one simulation found. Arrays are read-only views of the simulator's own memory.

    `finish` is int64, one a rank, ps. `messages` counts transmissions, control messages of rendezvous included.
    `seconds` is the time that simulation and generation took. `columns` has the recorded ops (empty unless
    recorded): rank, op (its place in the rank's schedule), kind (an index into OP_KINDS), peer (-1: any, or none),
    tag (-1: any), size (bytes; ns for calc), ready_ps, start_ps, end_ps.
    """

    finish: npt.NDArray[np.int64]
    messages: int
    seconds: float
    columns: dict[str, npt.NDArray[Any]]

    @property
    def max_finish(self) -> int:
        """When the last rank finished, ps."""
        return int(self.finish.max())

    def to_arrow(self) -> pa.Table:
        """The finish times as an Arrow table (rank, finish_ps); the times are not copied."""
        import pyarrow as pa

        ranks = pa.array(np.arange(len(self.finish), dtype=np.uint32))
        return pa.table({"rank": ranks, "finish_ps": _arrow(self.finish)})

    def ops_to_arrow(self) -> pa.Table:
        """The recorded ops as an Arrow table; no column is copied."""
        import pyarrow as pa

        columns = {name: _arrow(values) for name, values in self.columns.items()}
        if "kind" in columns:
            columns["kind"] = pa.DictionaryArray.from_arrays(columns["kind"].cast(pa.int8()), pa.array(OP_KINDS))
        return pa.table(columns)

    def ops_to_pandas(self) -> pd.DataFrame:
        """The recorded ops as a data frame, columns as above; `kind` is the name."""
        table: pd.DataFrame = self.ops_to_arrow().to_pandas()
        return table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface: the table of `to_arrow`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _arrow(values: npt.NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])
