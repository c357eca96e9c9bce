"""Samples counters and probes of memory beside a job, on a core that the job may not use if there is one."""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from ..child_processes import Child
from ..errors import MeasurementError, UsageError
from ..formatting import unknown_name
from ..native_files import package_data
from .columns import counter_columns, probe_columns

FOREVER = 1_000_000_000


class ProbeSamples(Iterator[Mapping[str, float]]):
    """The values of an interval by column, interval after interval; `close` ends the probe.

    Counters are those of the probe's own thread, which sleeps between samples, so they say nothing of the job.
    """

    def __init__(self, columns: Sequence[str], interval_s: float, cpu: int) -> None:
        program = package_data() / "bin" / "idlewave-contention"
        words = [str(program), "--victim", "idle", "--interval", repr(float(interval_s)), "--victim-cpu", str(cpu)]
        words += ["--iterations", str(FOREVER), "--output", "/dev/stdout"]
        self._columns = list(columns)
        self._names: list[str] = []
        self._complaints: IO[str] = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - until close
        try:
            self._child = Child.start(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._complaints, text=True
            )
        except OSError as error:
            self._complaints.close()
            raise MeasurementError(f"the probe {program} cannot be run: {error}") from error

    def __next__(self) -> Mapping[str, float]:
        for line in self._child.output:
            if line.startswith(("progress", "{")):
                continue
            cells = line.rstrip("\n").split(",")
            if not self._names:
                self._names = cells
                continue
            values = dict(zip(self._names, cells, strict=False))
            return {name: float(values.get(name) or math.nan) for name in self._columns}
        raise self._failure()

    def _failure(self) -> MeasurementError:
        status = self._child.wait()
        self._complaints.seek(0)
        said = self._complaints.read().strip()[-2000:]
        return MeasurementError(f"the probe of memory ended (exit status {status}): {said or 'it said nothing'}")

    def close(self) -> None:
        """End the probe."""
        self._child.end()
        self._complaints.close()


def sample_probes(columns: Sequence[str], *, interval_s: float, pid: int | None = None) -> ProbeSamples:
    """Begin to sample these columns of the table of contention, once in `interval_s` seconds and the time of a sample.

    The probe runs on a core that the process `pid` may not use, if there is one, else on the last one that this process
    may use. NaN stands for what the machine has not. Raises UsageError for other columns and a process that there is
    not, MeasurementError if the probe cannot be run; `__next__` raises it if the probe ends.
    """
    known = [column.name for column in (*counter_columns(), *probe_columns())]
    for name in columns:
        if name not in known:
            raise UsageError(unknown_name("column", name, known))
    return ProbeSamples(columns, interval_s, _core_beside(pid))


def _core_beside(pid: int | None) -> int:
    allowed = sorted(os.sched_getaffinity(0))
    if pid is None:
        return allowed[-1]
    if not Path(f"/proc/{pid}").exists():
        raise UsageError(f"there is no process {pid}")
    free = [cpu for cpu in allowed if cpu not in os.sched_getaffinity(pid)]
    return (free or allowed)[-1]
