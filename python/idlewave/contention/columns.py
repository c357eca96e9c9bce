"""The columns of the table of contention, which whatever reads the table relies on.

A row is an iteration of a victim. Runs come in pairs, one without traffic and one with it, in random order, so that
what a machine does over minutes meets both alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NO_TRAFFIC = "none"
"""What `traffic` says of the rows that had none; in every other row it names the kind of traffic."""

TRAFFIC_KINDS = ("writer", "mpi-put")
"""A plain writer on other cores, which emulates a NIC that writes at its rate; puts of an MPI rank on another core."""

VICTIMS = ("stream", "stream-cache", "cg", "stencil", "lj")
"""The victims of the probe."""

COMMAND = "command"
"""What `victim` says of any other command, which is timed as a whole."""

LEVELS = ("l1", "l2", "l3", "dram")
"""Levels of memory, for whose sizes the probes of latency and bandwidth have a working set each."""

COUNTERS = ("cycles", "stalled_cycles", "l1_misses", "l2_misses", "l3_misses")
"""Counters of the victim's thread, or of the processes of a command; NaN where the machine has none."""

MEMORY_BYTES = "counter.memory_bytes"
"""Counted by the memory controllers, whatever asks for the bytes; NaN where the machine does not show them."""


@dataclass(frozen=True)
class Column:
    """A column: its name, what pandas and Arrow call its type, and what a value means."""

    name: str
    type: Literal["int32", "int64", "float64", "bool", "string"]
    meaning: str


def _identifying() -> tuple[Column, ...]:
    return (
        Column("run", "int32", "0, 1, …: grows by one whenever an interrupted table is continued"),
        Column("pair", "int64", "number of the pair of runs, one without and one with traffic, over the whole table"),
        Column("second", "bool", "whether this run was the second one of its pair"),
        Column("victim", "string", f"{', '.join(VICTIMS)}, or {COMMAND}"),
        Column("traffic", "string", f"{', '.join((NO_TRAFFIC, *TRAFFIC_KINDS))}: the label of a detector"),
        Column("pair_rate_Bps", "float64", "asked rate of the pair's traffic, in both of its runs"),
        Column("asked_rate_Bps", "float64", "asked rate of all writers together, bytes per second; 0 without traffic"),
        Column("achieved_rate_Bps", "float64", "bytes written over the run's time; 0 without traffic"),
        Column("pattern", "string", "sequential or random; of the pair's traffic, in both of its runs"),
        Column("stores", "string", "cached, nontemporal, or library: as MPI copies; of the pair's traffic"),
        Column("cores", "int32", "cores that write; 0: handled on the victim's core; of the pair's traffic"),
        Column("buffer_bytes", "int64", "bytes of memory that each writer writes; of the pair's traffic"),
    )


def _measured() -> tuple[Column, ...]:
    return (
        Column("iteration", "int64", "0, 1, … within the run"),
        Column("start_ns", "int64", "Unix time UTC at which the iteration began"),
        Column("seconds", "float64", "how long the iteration took"),
        Column("traffic_bytes", "float64", "bytes that were written meanwhile; 0 without traffic"),
    )


def counter_columns() -> tuple[Column, ...]:
    """What counters grew in the iteration, each NaN where the machine has no such counter."""
    of_victim = (Column(f"counter.{name}", "float64", "what it grew in the iteration") for name in COUNTERS)
    moved = "bytes that the memory controllers moved meanwhile, of the whole machine"
    return (*of_victim, Column(MEMORY_BYTES, "float64", moved))


def probe_columns() -> tuple[Column, ...]:
    """Latency and bandwidth of each level of memory, sampled on the victim's core right after the iteration."""
    latencies = (
        Column(f"probe.latency_{level}_s", "float64", f"seconds a dependent load from {level}") for level in LEVELS
    )
    bandwidths = (
        Column(f"probe.bandwidth_{level}_Bps", "float64", f"bytes read per second from {level}") for level in LEVELS
    )
    return (*latencies, *bandwidths)


MEASURED = _measured()
"""What is measured of an iteration."""

SAMPLED = (*counter_columns(), *probe_columns())
"""What is sampled of an iteration or after it: a table may lack these columns, and values of them."""

COLUMNS = (*_identifying(), *MEASURED, *SAMPLED)
"""All columns in the order of the table."""


def counts_of_victim(name: str) -> bool:
    """Whether a column has counts of the victim alone, which say nothing of what computes on other cores."""
    return name.startswith("counter.") and name != MEMORY_BYTES


def column_text(name: str) -> str:
    """A column in words: "latency of L2" of probe.latency_l2_s, "L1 misses" of counter.l1_misses, "time" of seconds."""
    if name == "seconds":
        return "time"
    kind, _, rest = name.partition(".")
    words = [word.upper() if word in LEVELS else word for word in rest.split("_") if word not in ("s", "Bps")]
    return f"{words[0]} of {' '.join(words[1:])}" if kind == "probe" and len(words) > 1 else " ".join(words)
