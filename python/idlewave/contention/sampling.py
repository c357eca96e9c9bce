"""Samples counters and probes of memory beside a job, on a core that the job does not use if there is one."""

from __future__ import annotations

import math
import os
import select
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..child_processes import Child
from ..errors import MeasurementError, UsageError
from ..formatting import unknown_name
from ..native_files import package_data
from .columns import SAMPLED

FOREVER = 1_000_000_000
LONG_S = 3600.0


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
        self._samples: deque[Mapping[str, float]] = deque()
        self._cut_line = b""
        self._ended = False
        self._complaints: IO[str] = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - until close
        try:
            self._child = Child.start(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._complaints)
        except OSError as error:
            self._complaints.close()
            raise MeasurementError(f"the probe {program} cannot be run: {error}") from error

    def __next__(self) -> Mapping[str, float]:
        while not self.ready(LONG_S):
            pass
        if not self._samples:
            raise self._failure()
        return self._samples.popleft()

    def ready(self, seconds: float) -> bool:
        """Whether the next sample is there, or the probe has ended, now or within so many seconds."""
        output = self._child.output.fileno()
        deadline = time.monotonic() + seconds
        while not self._samples and not self._ended:
            if not select.select([output], [], [], max(deadline - time.monotonic(), 0.0))[0]:
                return False
            self._take(os.read(output, 1 << 16))
        return True

    def _take(self, piece: bytes) -> None:
        """Samples from what the probe has written; nothing is written by a probe that has ended."""
        self._ended = not piece
        *lines, self._cut_line = (self._cut_line + piece).split(b"\n")
        for line in lines:
            if line.startswith((b"progress", b"{")):
                continue
            cells = line.decode(errors="replace").split(",")
            if not self._names:
                self._names = cells
                continue
            values = dict(zip(self._names, cells, strict=False))
            self._samples.append({name: float(values.get(name) or math.nan) for name in self._columns})

    def _failure(self) -> MeasurementError:
        status = self._child.wait()
        self._complaints.seek(0)
        said = self._complaints.read().strip()[-2000:]
        return MeasurementError(f"the probe of memory ended (exit status {status}): {said or 'it said nothing'}")

    def close(self) -> None:
        """End the probe, which has nothing to store."""
        self._child.kill()
        self._child.end()
        self._complaints.close()


def sample_probes(
    columns: Sequence[str], *, interval_s: float, pid: int | None = None, cpu: int | None = None
) -> ProbeSamples:
    """Begin to sample these columns of the table of contention, once in `interval_s` seconds and the time of a sample.

    The probe runs on the core `cpu`; if that is not given on one that the process `pid` may not use, if there is one,
    else on the last one that this process may use. NaN stands for what the machine has not. Raises UsageError for other
    columns and a process that there is not, MeasurementError if the probe cannot be run; `__next__` raises it if the
    probe ends.
    """
    known = [column.name for column in SAMPLED]
    for name in columns:
        if name not in known:
            raise UsageError(unknown_name("column", name, known))
    return ProbeSamples(columns, interval_s, core_beside_process(pid).probe if cpu is None else cpu)


@dataclass(frozen=True)
class ProbeCore:
    """The core of the probe, and the cores of the job beside which it samples; None: these are not known."""

    probe: int
    job: tuple[int, ...] | None

    @property
    def shared(self) -> bool:
        """Whether the job may use the probe's core, too."""
        return self.job is None or self.probe in self.job


def core_beside_process(pid: int | None) -> ProbeCore:
    """A core that no thread of the process may use, if this process may use one; else the last one. Raises UsageError
    if there is no such process."""
    allowed = sorted(os.sched_getaffinity(0))
    if pid is None:
        return ProbeCore(allowed[-1], None)
    job = _cores_of(pid)
    free = [cpu for cpu in allowed if cpu not in job]
    return ProbeCore((free or allowed)[-1], tuple(sorted(job)))


def core_beside_command() -> ProbeCore:
    """The last core that this process may use for the probe, and the others for a command that is to be started; both
    share it if there is no other."""
    allowed = sorted(os.sched_getaffinity(0))
    return ProbeCore(allowed[-1], tuple(allowed[:-1] or allowed))


@contextmanager
def bound_to(cpus: Collection[int]) -> Iterator[None]:
    """What this thread starts in the block may use these cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def descendant_on(pid: int, cpu: int) -> int | None:
    """A process that descends from `pid` and may use the core; None if there is none."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError, IndexError, ValueError):  # it ends meanwhile
                parent = int((process / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(process.name))
    ahead = [*children.get(pid, [])]
    while ahead:
        process_id = ahead.pop()
        ahead += children.get(process_id, [])
        with suppress(ProcessLookupError):
            if cpu in os.sched_getaffinity(process_id):
                return process_id
    return None


def _cores_of(pid: int) -> set[int]:
    """The cores that some thread of the process may use."""
    cores: set[int] = set()
    with suppress(OSError):  # the process ends meanwhile
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):
                cores |= os.sched_getaffinity(int(thread.name))
    if not cores:
        raise UsageError(f"there is no process {pid}")
    return cores
