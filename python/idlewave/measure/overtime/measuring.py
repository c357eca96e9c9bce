"""Records a network over time: starts the probe, reads its lines, adds what counters grew by, and appends the rows."""

from __future__ import annotations

import platform
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Unpack

import msgspec

from ... import mpi as mpis
from ...child_processes import Child
from ...errors import IdlewaveError, MeasurementError, OutputError
from ...escaping import printable
from ...host_environment import describe_recording
from ...measurement_parameters import OvertimeParameters
from ...mpi import Mpi
from ...parameters import takes
from ...termination_signals import Interrupted, ended_by_signals, shielded
from ..counters import CounterReader, find_sources
from ..probe_process import Advance, shown
from .probe_lines import Begin, End, Line, Load, Phase, lines_of
from .recorder import Columns, Recorder
from .recording import OvertimeRecording, read_overtime
from .settings import GAP, Settings

if TYPE_CHECKING:
    from rich.progress import Progress

SILENCE = 180.0
"""Seconds beyond the longest phase after which a probe that says nothing is given up; MPI's start is in them."""
ENDING = 20.0
"""Seconds that the ranks have to end after a signal."""
LATE = 0.05
"""Counters that are read later than this share of a phase after its end are not used."""
OTHER_HOST = "Rank 0 ran on {host}, and counters were read on {here}: there are none in the recording."


@takes(OvertimeParameters)
def measure_overtime(
    folder: str | Path,
    mpi: Mpi | None = None,
    *,
    hosts: Sequence[str] = (),
    counters: Sequence[str] | None = None,
    progress: Progress | None = None,
    **given: Unpack[OvertimeParameters],
) -> OvertimeRecording:
    """Record latency, bandwidth and allreduce between the ranks of a job over time, each followed by an idle phase,
    with the counters that grew meanwhile. Returns the recording in `folder`.

    An earlier recording of the same settings in `folder` is continued. `hosts`: a rank on each of these hosts.
    `counters`: the names of sources, None for all that are there, an empty list for none. What was recorded is in
    `folder` also after an interrupt and each of these errors: UsageError for settings that the recording there does not
    have, MeasurementError if the probe fails or says nothing, OutputError if nothing can be written.
    """
    mpi = mpi or mpis.find()
    settings = Settings.checked(dict(given), hosts, mpi)
    sources, notes = find_sources(counters)
    launch = [str(mpi.mpiexec), "-n", str(settings.ranks), *mpi.host_options(hosts), str(mpis.build(mpi, "overtime"))]
    command = [*launch, "--seconds", str(given["seconds"]), *settings.options]
    environment = describe_recording("overtime", mpi, by="idlewave.measure.measure_overtime", options=dict(given))
    with Recorder(Path(folder), settings) as recorder, shown(progress, "overtime") as advance:
        recorder.say(environment=environment, mpi=environment.get("mpi"))
        run = OvertimeRun(recorder, CounterReader(sources, notes), given["seconds"], advance)
        run.record(command, mpi.environment())
    return read_overtime(folder)


@dataclass
class OvertimeRun:
    """One run of the probe, and what is known of it."""

    recorder: Recorder
    reader: CounterReader
    seconds: float
    advance: Advance | None = None
    library: str = ""
    reason: str = ""
    phases: int = 0
    late: int = 0
    counted: bool = True
    """Whether counters are those of the host of rank 0."""
    started: float = field(default_factory=time.monotonic)
    processor: float = field(default_factory=time.process_time)
    load: dict[str, float] = field(default_factory=dict)
    _columns: Columns = field(default_factory=Columns)
    _smeared: bool = False
    """Whether counters were last read when the next phase had begun."""
    _ready: float = 0.0
    """When they were read first, Unix time."""

    def record(self, command: Sequence[str], environment: dict[str, str] | None) -> None:
        """Run `command`, the probe or what prints the same lines, and record what it says. Raises as
        `measure_overtime`; overtime.json then says how the run ended."""
        longest = self.recorder.settings.phase * max(1.0, self.recorder.settings.idle)
        try:
            with tempfile.TemporaryFile("w+", errors="replace") as complaints, ended_by_signals():
                with self._probe(command, environment, complaints) as running:
                    for line in lines_of(running, longest + SILENCE):
                        with shielded():  # a phase is recorded whole, with its counters
                            self._take(line)
                    status = running.wait()
                self._check_end(status, complaints)
        except BaseException as error:
            with shielded():
                self._end(_reason_of(error), failed=True)
            raise
        self._end(self.reason, failed=False)
        if self.reason != "time":
            raise MeasurementError(f"the probe of overtime was ended by a signal after {self.phases} phases")

    def _probe(self, command: Sequence[str], environment: dict[str, str] | None, complaints: IO[str]) -> Child:
        try:
            return Child.start(
                command,
                grace=ENDING,
                environment=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as error:
            raise MeasurementError(f"the probe {command[0]} cannot be run: {error}") from error

    def _check_end(self, status: int, complaints: IO[str]) -> None:
        """Raises MeasurementError with the probe's message if it did not end as it says."""
        if status == 0 and self.reason:
            return
        complaints.seek(0, 2)
        complaints.seek(max(0, complaints.tell() - 4000))
        said = complaints.read().strip()[-2000:] or "it said nothing"
        what = f"failed (exit status {status})" if status else "ended without saying so"
        raise MeasurementError(f"the probe of overtime {what} after {self.phases} phases: {said}")

    def _take(self, line: Line) -> None:
        if isinstance(line, Phase):
            self._take_phase(line)
        elif isinstance(line, Load):
            self.load = msgspec.structs.asdict(line)
            self._say()
        elif isinstance(line, Begin):
            self._begin(line)
        elif isinstance(line, End):
            self.reason = line.reason

    def _begin(self, line: Begin) -> None:
        self.library = line.library
        self.started = time.monotonic()
        here = platform.node()
        self.recorder.check_hosts([rank.host for rank in line.ranks])
        self.counted = line.ranks[0].host == here if line.ranks else False
        known = self.reader.discover() if self.counted else {}
        if not self.counted and self.reader.sources and line.ranks:
            self.reader.notes.append(OTHER_HOST.format(host=line.ranks[0].host, here=here))
        earlier = self.recorder.said.get("counters", {})
        self.recorder.say(
            library=line.library,
            shared_cpus=line.shared_cpus,
            counters=earlier
            | {
                name: {"source": source, "unit": counter.unit, "what": counter.what, "bits": counter.bits}
                for name, (source, counter) in known.items()
            },
        )
        self._say()
        self.recorder.write_said()
        self.reader.read()
        self._ready = time.time()

    def _take_phase(self, line: Phase) -> None:
        grown = self._grown(line) if self.counted else {}
        self.recorder.add(self._columns.row_of(msgspec.structs.asdict(line), grown))
        self.phases += 1
        if self.advance is not None:
            self.advance(min(1.0, (time.monotonic() - self.started) / self.seconds))

    def _grown(self, line: Phase) -> dict[str, float]:
        """What the counters grew by in the phase; NaN if they were read too late, in the phase after it."""
        grown = self.reader.read()
        if not grown:
            return grown
        if self.phases == 0:
            self._smeared = self._ready > line.start_ns * 1e-9
        delay = time.time() - (line.start_ns + line.length_ns) * 1e-9
        late = delay > max(GAP, LATE * line.length_ns * 1e-9)
        self.late += late
        unknown = late or self._smeared
        self._smeared = late
        return dict.fromkeys(grown, float("nan")) if unknown else grown

    def _say(self) -> None:
        """Put what is known of the run until now into overtime.json."""
        lasted = max(time.monotonic() - self.started, 1e-9)
        own = {"recorder": (time.process_time() - self.processor) / lasted}
        earlier = [note for note in self.recorder.said.get("notes", []) if note not in self.reader.notes]
        self.recorder.say(load=self.load | own, notes=[*earlier, *self.reader.notes])
        self.recorder.said["runs"][-1]["late_readings"] = self.late

    def _end(self, reason: str, *, failed: bool) -> None:
        """Write how the run ended. A disk that is full must not hide why it failed."""
        self._say()
        try:
            self.recorder.end(reason)
        except OutputError:
            if not failed:
                raise


def _reason_of(error: BaseException) -> str:
    """How a run ended, in a few words."""
    if isinstance(error, KeyboardInterrupt):
        return str(Interrupted.by(error))
    if isinstance(error, IdlewaveError):
        return f"failed: {printable(str(error))[:500]}"
    return f"failed: {type(error).__name__}"
