"""The hosts of a traced run: how many ranks were on which cores, and what else was busy on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

LEAST_RUN_NS = 500_000_000
"""The shortest run of which the foreign cores are computed: systems count busy time in steps of 10 ms."""


def host_table(headers: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a host of the ranks with these headers: the columns of `Trace.hosts`."""
    import pandas as pd

    ranks_of: dict[str, list[Mapping[str, Any]]] = {}
    for header in headers:
        ranks_of.setdefault(header["host"], []).append(header)
    rows = [_host(host, ranks) for host, ranks in ranks_of.items()]
    return pd.DataFrame(rows).astype({"usable_cores": "Int64", "host_cores": "Int64"})


def _host(host: str, ranks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    usable: set[int] = set().union(*(rank["usable_cores"] for rank in ranks))
    every = all(rank["usable_cores"] for rank in ranks)
    number = max(rank["host_cores"] for rank in ranks)
    return {
        "host": host,
        "ranks": len(ranks),
        "usable_cores": len(usable) if every else None,
        "host_cores": number or None,
        "foreign_cores": _foreign_cores(ranks),
    }


def _foreign_cores(ranks: Sequence[Mapping[str, Any]]) -> float:
    """How many cores other processes kept busy on average: the busy time of the host's cores without the CPU time of
    its ranks."""
    if not all(
        rank["finalized"] and rank["host_busy_begin_ns"] >= 0 and rank["host_busy_end_ns"] >= 0 for rank in ranks
    ):
        return math.nan
    time = max(rank["finalize_begin_ns"] for rank in ranks) - min(rank["init_end_ns"] for rank in ranks)
    if time < LEAST_RUN_NS:
        return math.nan
    busy = max(rank["host_busy_end_ns"] for rank in ranks) - min(rank["host_busy_begin_ns"] for rank in ranks)
    own = sum(rank["cpu_ns"] for rank in ranks)
    return float(max(busy - own, 0) / time)


def cores_text(hosts: pd.DataFrame) -> str:
    """How many ranks were on how many cores: "4 ranks on 2 cores", or "16 ranks on 16 cores of 2 hosts"; "" if the
    tracer did not say on which."""
    from .formatting import count_text, plural

    if hosts["usable_cores"].isna().any():
        return ""
    beyond = f" of {count_text(len(hosts))} hosts" if len(hosts) > 1 else ""
    return f"{plural(int(hosts['ranks'].sum()), 'rank')} on {plural(int(hosts['usable_cores'].sum()), 'core')}{beyond}"


def foreign_cores_text(hosts: pd.DataFrame) -> str:
    """What else was busy: "other processes kept 0.31 of the 2 cores of node1 busy on average", of the host on which
    that was the most; "" if the system did not say it."""
    from .formatting import count_text

    known = hosts.dropna(subset=["foreign_cores", "host_cores"])
    if known.empty or len(known) < len(hosts):
        return ""
    most = known.sort_values("foreign_cores", kind="stable").iloc[-1]
    cores = int(most["host_cores"])
    of = "the core" if cores == 1 else f"the {count_text(cores)} cores"
    return f"other processes kept {most['foreign_cores']:.2f} of {of} of {most['host']} busy on average"
