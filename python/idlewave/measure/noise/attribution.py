"""The causes of detours, by the kernel's events beside them, or by the kernel's counts."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from .noise_recording import CoreRecording, NoiseRecording

NOT_EXPLAINED = "not explained: hypervisor, SMI, or events not recorded"
SLACK_PS = 1_000_000
"""The largest distance of a cause from its detour, in ps: the two are dated by readings of different clocks."""

_TASK_SHARE = 0.5  # of a detour; a task that ran for that much of it is its cause
_NUMBERED = re.compile(r"(/\d\S*|:\d+)$")
_COUNTED = {"switches": "another task (context switch)", "migrations": "migration", "faults": "page fault"}

Causes = list[str]


def causes_by_events(core: CoreRecording) -> Causes:
    """The cause of each detour of a core: the task that ran, or the chain of interrupts and softirqs, by overlap.

    Raises ValueError if no events were recorded.
    """
    if core.events is None:
        raise ValueError(f"core {core.cpu} has no events")
    starts = core.table["start_ps"].to_numpy()
    ends = starts + core.table["length_ps"].to_numpy()
    events = core.events.sort_values(["begin_ns", "end_ns"], ascending=[True, False], kind="stable")
    begins = (events["begin_ns"].to_numpy(dtype=float) * 1000).round().astype(np.int64)
    finishes = (events["end_ns"].to_numpy(dtype=float) * 1000).round().astype(np.int64)
    names = [event_name(kind, name) for kind, name in zip(events["kind"], events["name"], strict=True)]
    tasks = np.array([kind == "task" for kind in events["kind"]], dtype=bool)
    shares = _own_shares(events)
    reach = np.maximum.accumulate(finishes) if len(finishes) else finishes
    first = np.searchsorted(reach, starts - SLACK_PS, side="right")
    last = np.searchsorted(begins, ends + SLACK_PS, side="left")
    causes = []
    for start, end, low, high in zip(starts.tolist(), ends.tolist(), first.tolist(), last.tolist(), strict=True):
        near = [i for i in range(low, high) if finishes[i] > start - SLACK_PS]
        within = [i for i in near if begins[i] < end and finishes[i] > start]
        causes.append(_cause(within or near, start, end, begins, finishes, names, tasks, shares))
    return causes


def _own_shares(events: pd.DataFrame) -> npt.NDArray[np.float64]:
    """The share of each event's time in which it ran itself; 1 if the kernel does not give it."""
    gross = (events["end_ns"] - events["begin_ns"]).to_numpy(dtype=float)
    net = events["net_ns"].to_numpy(dtype=float)
    shares = np.ones(len(events))
    told = ~np.isnan(net) & (gross > 0)
    shares[told] = np.clip(net[told] / gross[told], 0, 1)
    return shares


def _cause(
    near: list[int],
    start: int,
    end: int,
    begins: npt.NDArray[np.int64],
    finishes: npt.NDArray[np.int64],
    names: list[str],
    tasks: npt.NDArray[np.bool_],
    shares: npt.NDArray[np.float64],
) -> str:
    if not near:
        return NOT_EXPLAINED
    overlap = {i: max(min(int(finishes[i]), end) - max(int(begins[i]), start), 0) for i in near}
    ran: dict[str, float] = {}
    for i in near:
        if tasks[i]:
            ran[names[i]] = ran.get(names[i], 0) + overlap[i] * shares[i]
    rest = [i for i in near if not tasks[i]]
    if ran and (sum(ran.values()) >= _TASK_SHARE * (end - start) or not rest):
        return max(ran, key=lambda name: ran[name])
    return " + ".join(dict.fromkeys(names[i] for i in rest))


def event_name(kind: str, name: str) -> str:
    """An event as a cause: interrupts and vectors by name, else kind and name; a task without its number."""
    plain = _NUMBERED.sub("", name.strip()) or "?"
    return plain if kind in ("irq", "vector") else kind if plain == kind else f"{kind} {plain}"


def causes_by_counts(core: CoreRecording) -> Causes:
    """The cause of each detour of a core by the kernel's counts across it: switches, migrations, faults.

    Raises ValueError if the table has none of these columns.
    """
    counted = [name for name in _COUNTED if name in core.table]
    if not counted:
        raise ValueError(f"core {core.cpu} has no counts beside its detours")
    causes = np.full(len(core.table), "neither task nor fault: interrupt, hypervisor or SMI", dtype=object)
    for name in reversed(counted):
        causes[core.table[name].to_numpy() > 0] = _COUNTED[name]
    return [str(cause) for cause in causes]


def attribute(recording: NoiseRecording) -> pd.DataFrame:
    """A row a cause, the costliest first: cause, count, total_ps, share (of the detours' time), median_ps, longest_ps.

    It is over all cores with recorded causes: events if they were recorded, else counts. No rows if there are none.
    """
    parts = []
    for core in recording.cores:
        causes = _causes_of(core)
        if causes is not None:
            parts.append(pd.DataFrame({"cause": causes, "length_ps": core.table["length_ps"].to_numpy()}))
    columns = ["cause", "count", "total_ps", "share", "median_ps", "longest_ps"]
    if not parts:
        return pd.DataFrame(columns=columns)
    table = pd.concat(parts, ignore_index=True)
    groups = table.groupby("cause", sort=False)["length_ps"]
    result = pd.DataFrame(
        {
            "count": groups.size(),
            "total_ps": groups.sum(),
            "share": groups.sum() / max(int(table["length_ps"].sum()), 1),
            "median_ps": groups.median(),
            "longest_ps": groups.max(),
        }
    ).reset_index()
    return result.sort_values("total_ps", ascending=False, ignore_index=True)[columns]


def _causes_of(core: CoreRecording) -> Causes | None:
    if core.events is not None and len(core.events):
        return causes_by_events(core)
    if any(name in core.table for name in _COUNTED):
        return causes_by_counts(core)
    return None


def counted_sources(summaries: Iterable[dict[str, object]], detours: dict[int, int]) -> pd.DataFrame:
    """The system's counts during the recording of each core, which are not assigned to single detours.

    A row a (core, source), the most frequent first: core, source, meaning, count, rate_per_s, most (the largest share
    of the core's detours that it could be), steal_s (for the hypervisor). `detours`: the number that each core
    recorded.
    """
    rows = []
    for said in summaries:
        cpu = _number(said.get("cpu"))
        seconds = _number(said.get("duration_ns")) * 1e-9
        total = detours.get(int(cpu), 0)
        for name, meaning, count in _counts(said):
            most = min(count / total, 1.0) if total else 0.0
            rows.append((int(cpu), name, meaning, int(count), count / seconds if seconds else 0.0, most, 0.0))
        steal = _number(said.get("steal_s"))
        if steal > 0:
            rows.append((int(cpu), "steal", "time that the hypervisor gave to others", 0, 0.0, 1.0, steal))
    columns = ["core", "source", "meaning", "count", "rate_per_s", "most", "steal_s"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["core", "count"], ascending=[True, False], ignore_index=True)


def _counts(said: dict[str, object]) -> list[tuple[str, str, float]]:
    interrupts = said.get("interrupts")
    found = []
    if isinstance(interrupts, dict):
        found = [(str(n), str(e.get("meaning", "")), _number(e.get("count"))) for n, e in interrupts.items()]
    switches = _number(said.get("involuntary_switches"))
    if switches:
        found.append(("switches", "context switches to another task", switches))
    return [entry for entry in found if entry[2] > 0]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
