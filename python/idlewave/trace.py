"""A trace: the MPI calls of each rank of a run, with their times."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import _core
from .computation_sites import computation_table, site_table
from .digests import Files
from .errors import InputError, UsageError
from .escaping import name_of
from .formatting import unknown_name
from .input.validation import read_json
from .input.value_types import Open
from .lazy_provenance import LazyProvenance, of_recorded_trace, rank_files
from .memory_limits import memory_for
from .pattern_options import Gaps
from .provenance import PROVENANCE, Provenance, command_text
from .trace_hosts import host_table

if TYPE_CHECKING:
    import pandas as pd

    from .interrupts import Interrupts
    from .machine import Machine

GROUPS = ("point-to-point", "waiting for requests", "collective", "one-sided", "files", "other MPI")
"""The groups of calls; the core has them as numbers."""

CORE_WAIT = "waiting for a core"
"""The category of time between calls in which a rank could have computed and had no core."""

COMPUTATION = "computation"
"""The category of the other time between calls."""

LEAST_SHARE = 0.9
"""Of a core. A rank that had less, and was preempted more often than it slept, shared its core; a busy rank with a core
to itself has 0.98 and more."""


def is_in_mpi(time: pd.DataFrame) -> pd.Series:
    """Of each row of `Trace.time` whether it is time in MPI."""
    return ~time["category"].isin((COMPUTATION, CORE_WAIT))


class ImportedSchema(Open):
    """What trace.json says of a trace that was imported: from which format, and how much of what was left out."""

    format: str = ""
    left_out: dict[str, int] = {}  # noqa: RUF012 - msgspec copies it


class TraceSchema(Open):
    """The schema of trace.json (docs/trace-format.md), as far as it is used."""

    format: Literal[1]
    command: list[str] = []  # noqa: RUF012 - msgspec copies it
    host: str = ""
    started: str = ""
    provenance: Any = None
    imported: ImportedSchema | None = None


class Trace:
    """The trace of one run, checked, with its tables. Its files are read again, a piece at a time, for each schedule or
    table that is made of it: they may be larger than the memory."""

    def __init__(self, core: _core.Trace, directory: Path, files: Files) -> None:
        self._core = core
        self.directory = directory
        self._files = files

    @classmethod
    def load(cls, directory: str | Path) -> Trace:
        """Read the trace in `directory`. Raises InputError naming the file, the byte and what was expected."""
        directory = Path(directory)
        files = Files(rank_files(directory))
        with memory_for(f"reading {name_of(str(directory))}"):
            return cls(_core.Trace.read(str(directory)), directory, files)

    def core(self) -> _core.Trace:
        """The trace as the compiled core sees it."""
        return self._core

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return int(self._core.ranks)

    @property
    def one_sided_calls(self) -> int:
        """The number of puts, gets and accumulates."""
        return int(self._core.one_sided_calls)

    @property
    def timed_one_sided_calls(self) -> int:
        """How many of these a schedule has as computation, for the time that they took: all, if ranks call MPI in
        several threads; else none, where the whole run is used."""
        return self.one_sided_calls if (self.processes["threads"] > 1).any() else 0

    @property
    def file_calls(self) -> int:
        """The number of calls of files. A schedule has only the time that they took."""
        return int(self._core.file_calls)

    @property
    def measured_s(self) -> float:
        """The run time, s: from the first rank that leaves MPI_Init to the last one that calls MPI_Finalize."""
        return float(self._core.duration_ns) / 1e9

    @cached_property
    def description(self) -> TraceSchema | None:
        """The content of trace.json; None if the file is missing. Raises InputError if it is no such file."""
        file = self.directory / "trace.json"
        return read_json(file, TraceSchema, "the description of a trace") if os.path.lexists(file) else None

    @property
    def command(self) -> str:
        """The traced command; "" without a trace.json. Raises InputError if that is no such file."""
        return "" if self.description is None else " ".join(self.description.command)

    @property
    def imported(self) -> ImportedSchema | None:
        """Of an imported trace its format and what was left out; None of another. Raises InputError as `command`."""
        return None if self.description is None else self.description.imported

    @cached_property
    def lazy_provenance(self) -> LazyProvenance:
        """Its provenance, which is computed when it is first needed."""
        return of_recorded_trace(self.directory, self._files, self._recorded())

    def _recorded(self) -> Provenance:
        """The provenance of the run in trace.json; earlier versions have less there."""
        description, name = self.description, str(self.directory / "trace.json")
        if description is None:
            return Provenance("trace")
        if description.provenance is not None:
            return Provenance.from_object(description.provenance, name, PROVENANCE)
        made_by = command_text(description.command)
        return Provenance("trace", made_by=made_by, host=description.host, time=description.started)

    @property
    def provenance(self) -> Provenance:
        """The digest of the ranks' files, which are read for it, and the provenance in trace.json."""
        return self.lazy_provenance.provenance

    @cached_property
    def processes(self) -> pd.DataFrame:
        """One row a rank: the header of its file (host, clock, context switches, CPU time, calls, threads that made
        them and their time)."""
        import pandas as pd

        return pd.DataFrame(self._core.headers())

    @cached_property
    def clocks(self) -> pd.DataFrame:
        """One row a rank: the offset of its clock from rank 0's, and how exactly that is known; see `clock_table`."""
        return clock_table(self.processes)

    @cached_property
    def calls(self) -> pd.DataFrame:
        """One row a call: rank, thread (0 called MPI_Init, and each further one came later), call (name), group (of
        GROUPS), begin_ns and end_ns since the run began on rank 0's clock, inside_ns (in MPI), peer (a message's
        destination as a world rank, −1: none), bytes (sent).
        """
        import numpy as np
        import pandas as pd

        with memory_for(f"listing the calls of {name_of(str(self.directory))}"):
            columns = self._core.calls()
        table = pd.DataFrame({name: np.asarray(values) for name, values in columns.items()})
        numbers = np.unique(table["call"])
        names = {int(n): _core.call_name(int(n)) for n in numbers}
        table["call"] = table["call"].map(names).astype("category")
        table["group"] = pd.Categorical.from_codes(table["group"].astype("int8"), categories=pd.Index(GROUPS))
        return table

    def communication(self) -> pd.DataFrame:
        """Who talks to whom: source, destination, messages, bytes; point-to-point only."""
        return self._communication.copy()

    @cached_property
    def _communication(self) -> pd.DataFrame:
        sends = self.calls[self.calls["peer"] >= 0]
        table = sends.groupby(["rank", "peer"], as_index=False).agg(messages=("bytes", "size"), bytes=("bytes", "sum"))
        return table.rename(columns={"rank": "source", "peer": "destination"})

    def time(self) -> pd.DataFrame:
        """How each rank's time divides: rank, category (COMPUTATION, CORE_WAIT, or one of GROUPS), seconds. Of a rank
        that calls MPI in several threads it is the time of all of them, of each further one from its first call to its
        last. Waits for a core between calls are computation where they are not known; those inside calls are in MPI.
        """
        return self._time.copy()

    @cached_property
    def _time(self) -> pd.DataFrame:
        import numpy as np
        import pandas as pd

        inside = self.calls.groupby(["rank", "group"], observed=False)["inside_ns"].sum() / 1e9
        table = inside.rename("seconds").reset_index().rename(columns={"group": "category"})
        table["category"] = table["category"].astype(str)
        total = self.processes["threads_ns"] / 1e9
        in_mpi = table.groupby("rank")["seconds"].sum().reindex(range(self.ranks), fill_value=0.0)
        outside = np.maximum(total.to_numpy() - in_mpi.to_numpy(), 0.0)
        waiting = np.minimum(self.core_shares()["core_wait_s"].fillna(0.0).to_numpy(), outside)
        ranks = np.arange(self.ranks)
        computing = pd.DataFrame({"rank": ranks, "category": COMPUTATION, "seconds": outside - waiting})
        waits = pd.DataFrame({"rank": ranks, "category": CORE_WAIT, "seconds": waiting})
        rest = pd.concat([waits, table], ignore_index=True)
        return pd.concat([computing, rest[rest["seconds"] > 0]], ignore_index=True)

    def totals(self) -> pd.DataFrame:
        """One row a kind of call: call, count, bytes, seconds inside it; sums over ranks, the longest first."""
        return self._totals.copy()

    @cached_property
    def _totals(self) -> pd.DataFrame:
        table = self.calls.groupby("call", observed=True, as_index=False).agg(
            count=("inside_ns", "size"), bytes=("bytes", "sum"), seconds=("inside_ns", "sum")
        )
        table["call"] = table["call"].astype(str)
        table["seconds"] = table["seconds"] / 1e9
        return table.sort_values("seconds", ascending=False, ignore_index=True)

    def run_times(self) -> pd.DataFrame:
        """One row a rank: rank, seconds (from leaving MPI_Init to calling MPI_Finalize)."""
        import pandas as pd

        rows = self.processes
        return pd.DataFrame({"rank": rows["rank"], "seconds": (rows["finalize_begin_ns"] - rows["init_end_ns"]) / 1e9})

    def core_shares(self) -> pd.DataFrame:
        """What the system gave the ranks, one row a rank: rank, host, share (CPU time by run time: 1 is one core; NaN
        if the rank did not reach MPI_Finalize), voluntary_switches and involuntary_switches (context switches), shared,
        core_wait_s and core_wait_in_calls_s.

        shared: the rank had less than LEAST_SHARE of a core, and was preempted more often than it slept. core_wait_s:
        for how long it could have run and had no core, between calls, s; core_wait_in_calls_s: the same inside calls.
        They are NaN where the system or an earlier tracer did not report them: then the computations of a rank that
        shared a core hold these waits, and nobody knows how long they are.
        """
        import pandas as pd

        rows = self.processes
        share = rows["cpu_ns"].where(rows["finalized"]) / (rows["finalize_begin_ns"] - rows["init_end_ns"]).clip(
            lower=1
        )
        preempted = rows["involuntary_switches"] > rows["voluntary_switches"]
        switches = rows[["voluntary_switches", "involuntary_switches"]]
        return pd.DataFrame(
            {
                "rank": rows["rank"],
                "host": rows["host"],
                "share": share,
                **switches,
                "shared": (share < LEAST_SHARE) & preempted,
                "core_wait_s": rows["core_wait_in_computations_ns"].where(rows["core_waits_known"]) / 1e9,
                "core_wait_in_calls_s": rows["core_wait_in_calls_ns"].where(rows["core_waits_known"]) / 1e9,
            }
        )

    def hosts(self) -> pd.DataFrame:
        """One row a host: host, ranks, usable_cores (how many its ranks may use, together), host_cores (how many it
        has) and foreign_cores (how many cores other processes than its ranks kept busy on average, from MPI_Init to
        MPI_Finalize).

        What the system or an earlier tracer did not say is missing (NA, NaN); so are the foreign cores of a run of less
        than half a second.
        """
        return host_table(self._core.headers())

    @property
    def share_without_core(self) -> float | None:
        """For which share of their time the threads of all ranks could have run and had no core, between and inside
        calls: of those ranks of which it is known, None if it is known of none. The time of the threads is that of
        `time`."""
        ranks = [rank for rank in self._core.headers() if rank["core_waits_known"]]
        waited = sum(rank["core_wait_in_computations_ns"] + rank["core_wait_in_calls_ns"] for rank in ranks)
        return float(waited / max(sum(rank["threads_ns"] for rank in ranks), 1)) if ranks else None

    def interrupts_on(self, machine: Machine) -> Interrupts:
        """Which share of the computations' time interrupts took that the noise of `machine` adds again, and a note on
        it: `Schedule.from_trace(trace, interrupts=share)` removes it; see `interrupts.interrupts_on`."""
        from .interrupts import interrupts_on

        return interrupts_on(self, machine)

    def computations(self, gaps: Gaps = "own") -> pd.DataFrame:
        """One row a computation, by rank and in order: rank, site and position (as in `computation_sites`), ns.

        It is the time between two calls, without what the tracer took, tests that found nothing, and the waits for a
        core; with these waits if `gaps` is "wall".
        """
        return computation_table(self._computations(gaps))

    def computation_sites(self, gaps: Gaps = "own", *, by_rank: bool = False) -> pd.DataFrame:
        """The distribution of the computations of each call site, that with the most time first.

        A site is the call that ends the computation, with its communicator and the power of two of its size, the five
        calls before it, and the level of the last MPI_Pcontrol; places in the program with the same of these are one
        site. Where the times of its computations repeat themselves in a cycle of 2 to 12, each position in the cycle
        has a row. Columns: site (its name, the same in every trace), position (in the cycle, from 1), cycle_length
        (1: there is no cycle), level (NA before the first MPI_Pcontrol), call, communicator, least_bytes and most_bytes
        of the calls, after (the call before), before_that (the four calls before that, the latest first), ranks (how
        many have it; with `by_rank` there is a row for each rank, and its number in rank), count, total_s, share (of
        all computation), mean_ns, min_ns, the quantiles q05_ns, q25_ns, median_ns, q75_ns, q95_ns, and max_ns.
        """
        return site_table(self._computations(gaps), by_rank=by_rank)

    def _computations(self, gaps: Gaps) -> dict[str, Any]:
        if gaps not in get_args(Gaps):
            raise UsageError(unknown_name("gaps", gaps, get_args(Gaps)))
        with memory_for(f"listing the computations of {name_of(str(self.directory))}"):
            return self._core.computations(gaps == "wall")

    def check_complete(self) -> None:
        """Raise InputError, naming the rank, unless every rank reached MPI_Finalize."""
        for row in self._core.headers():
            if not row["finalized"]:
                raise InputError(
                    f"{name_of(self.directory)}: rank {row['rank']} never reached MPI_Finalize; "
                    f"it recorded {row['calls']} calls"
                )


def clock_table(processes: pd.DataFrame) -> pd.DataFrame:
    """Each rank's clock compared with rank 0's, by the measurements in MPI_Init and MPI_Finalize (in `processes`).

    Columns: rank, host, offset_ns (rank 0's clock minus this one, in MPI_Init), drift_ppm (how much faster rank 0's
    clock runs, in millionths), drift_error_ppm and residual_ns, which are bounds, not standard errors. A time that the
    readers have corrected is off by at most residual_ns, if the drift was constant. An unknown value is NaN: of a rank
    that did not reach MPI_Finalize only the offset is known, and its residual grows unseen.
    """
    import pandas as pd

    p = processes
    ended = p["clock_end_at_ns"] > p["clock_at_ns"]
    span = (p["clock_end_at_ns"] - p["clock_at_ns"]).where(ended)
    drift = (p["clock_end_offset_ns"] - p["clock_offset_ns"]) / span
    return pd.DataFrame(
        {
            "rank": p["rank"],
            "host": p["host"],
            "offset_ns": p["clock_offset_ns"],
            "drift_ppm": drift * 1e6,
            "drift_error_ppm": (p["clock_error_ns"] + p["clock_end_error_ns"]) / span * 1e6,
            "residual_ns": p[["clock_error_ns", "clock_end_error_ns"]].max(axis=1).where(ended),
        }
    )
