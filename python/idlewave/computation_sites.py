"""The computations of a trace by call site: their distributions as a table.

A trace has no addresses of code. A site is what every trace has: the call that ends the computation with its
communicator and the power of two of its size, the five calls before it, and the level of the last MPI_Pcontrol. Where
the computations of a site repeat themselves in a cycle (core/trace/site_cycles.hpp), each position in it has a row.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from . import _core
from .formatting import size_text

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = {"q05_ns": 0.05, "q25_ns": 0.25, "median_ns": 0.5, "q75_ns": 0.75, "q95_ns": 0.95}
"""The quantiles of the table, by column."""

_COMMUNICATORS = {0: "", 1: "world", 2: "self", 0xFFFF: "unknown"}
_NO_CALL = 1
"""The number of MPI_Init, which stands for the calls before the first."""


def site_name(number: int) -> str:
    """The name of a site, the same in every trace that has it."""
    return f"{number:010x}"


def computation_table(columns: dict[str, Any]) -> pd.DataFrame:
    """One row a computation: rank, site, position, ns; of what the core found, in the order of the run."""
    import numpy as np
    import pandas as pd

    names = pd.Index([site_name(site["id"]) for site in columns["sites"]], dtype=object)
    return pd.DataFrame(
        {
            "rank": np.asarray(columns["rank"]),
            "site": pd.Categorical.from_codes(np.asarray(columns["site"]).astype(np.int64), categories=names),
            "position": np.asarray(columns["position"]) + 1,
            "ns": np.asarray(columns["ns"]),
        }
    )


def site_table(columns: dict[str, Any], *, by_rank: bool) -> pd.DataFrame:
    """One row a site, or a site of a rank, and a position in its cycle: what it is, and the distribution of its
    computations; the largest first."""
    import numpy as np
    import pandas as pd

    names = pd.DataFrame([_described(site) for site in columns["sites"]], columns=list(_DESCRIPTION))
    by = ["site", "position", "rank"] if by_rank else ["site", "position"]
    order = np.lexsort([np.asarray(columns[name]) for name in ("ns", *reversed(by))])
    ns, site, position, rank = (np.asarray(columns[name])[order] for name in ("ns", "site", "position", "rank"))
    rows = pd.DataFrame({"site": site, "position": position, "rank": rank})
    first = np.flatnonzero(~rows.duplicated(by).to_numpy())
    count = np.diff(np.r_[first, len(ns)])
    total = np.add.reduceat(ns, first) if len(first) else ns
    found = names.iloc[site[first]].reset_index(drop=True)
    found.insert(1, "position", position[first] + 1)
    found["level"] = found["level"].astype("Int64")
    if by_rank:
        found.insert(1, "rank", rank[first])
    else:
        found["ranks"] = rows.groupby(by)["rank"].nunique().to_numpy()
    found["count"], found["total_s"] = count, total / 1e9
    found["share"] = total / max(int(total.sum()), 1)
    found["mean_ns"] = total / np.maximum(count, 1)
    found["min_ns"] = ns[first]
    for column, quantile in QUANTILES.items():
        found[column] = ns[first + np.minimum((quantile * count).astype(np.int64), count - 1)]
    found["max_ns"] = ns[first + count - 1]
    ordered: pd.DataFrame = found.sort_values("total_s", ascending=False, kind="stable", ignore_index=True)
    return ordered


_DESCRIPTION = (
    "site",
    "cycle_length",
    "level",
    "call",
    "communicator",
    "least_bytes",
    "most_bytes",
    "after",
    "before_that",
)


def _described(site: dict[str, Any]) -> tuple[object, ...]:
    """The columns of _DESCRIPTION."""
    (call, communicator), *earlier = site["calls"]
    names = [_core.call_name(number) for number, _ in earlier if number != _NO_CALL]
    return (
        site_name(site["id"]),
        site["cycle_length"],
        site["level"],
        _core.call_name(call),
        _COMMUNICATORS.get(communicator, f"{communicator}"),
        site["least_bytes"],
        site["most_bytes"],
        names[0] if names else "",
        _runs(names[1:]),
    )


def _runs(names: list[str]) -> str:
    """Calls in the order of the list, equal ones as one: "MPI_Isend ×3, MPI_Irecv"."""
    found = [(name, len(list(run))) for name, run in groupby(names)]
    return ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in found)


def size_range_text(least: float, most: float) -> str:
    """The sizes of a site's calls: "8 B", "5 to 7 B"; nothing without bytes."""
    if most <= 0:
        return ""
    return size_text(most) if least == most else f"{size_text(least)} to {size_text(most)}"
