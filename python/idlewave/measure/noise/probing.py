"""Runs a noise probe: its progress, its interruption, and the folder that it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...errors import MeasurementError, UsageError
from ...mpi import package_data
from .recording import Recording, read_recording

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 60.0
"""How much longer than its recording a probe may take, to calibrate and to write, before it is given up."""

Advance = Callable[[float], None]


def chosen_cores(cores: Sequence[int] | None) -> list[int]:
    """`cores`, or all that this process may use. Raises UsageError for those that it may not."""
    allowed = sorted(os.sched_getaffinity(0))
    chosen = allowed if cores is None else list(dict.fromkeys(cores))
    refused = sorted(set(chosen) - set(allowed))
    if refused or not chosen:
        raise UsageError(f"cores {refused} may not be used by this process; expected some of {allowed}")
    return chosen


@contextmanager
def shown(progress: Progress | None, description: str) -> Iterator[Advance | None]:
    """What moves a task of `progress`, which is done in the end; None where there is none."""
    if progress is None:
        yield None
        return
    task = progress.add_task(description, total=1.0)
    yield lambda part: progress.update(task, completed=part)
    progress.update(task, completed=1.0)


def run_probe(
    probe: str,
    arguments: Sequence[str],
    cores: Sequence[int],
    seconds: float,
    folder: Path,
    *,
    together: bool = True,
    advance: Advance | None = None,
) -> Recording:
    """Run idlewave-`probe` on `cores` for `seconds` of each, writing into `folder`; read what it wrote.

    `advance` is called with the part that is done, from 0 to 1. Raises MeasurementError with the probe's own words if
    it fails. On an interrupt the probe writes what it has before KeyboardInterrupt goes on. What an earlier run said in
    `folder` is removed first, so that it is not taken for what this one did.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{probe}.json").unlink(missing_ok=True)
    command = [str(package_data() / "bin" / f"idlewave-{probe}"), "--cpus", ",".join(map(str, cores))]
    command += ["--seconds", str(seconds), "--output", str(folder), *([] if together else ["--one-by-one"]), *arguments]
    patience = PATIENCE_S + 2 * seconds * (1 if together else len(cores))
    with tempfile.TemporaryFile("w+") as complaint:
        try:
            running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaint, text=True)
        except OSError as error:
            raise MeasurementError(f"the probe {command[0]} cannot be run: {error}") from error
        said = _follow(running, probe, patience, advance)
        complaint.seek(0)
        words = complaint.read().strip()
    if running.returncode != 0 or said is None:
        reason = words or f"exit status {running.returncode}, no summary"
        raise MeasurementError(f"the probe idlewave-{probe} failed: {reason}")
    return read_recording(_written(folder, probe, said), probe)


def _follow(
    running: subprocess.Popen[str], probe: str, patience: float, advance: Advance | None
) -> dict[str, Any] | None:
    """Read the probe's output to its end; its summary, if it said one."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        running.kill()

    timer = threading.Timer(patience, give_up)
    timer.start()
    try:
        said = _read(running.stdout, advance) if running.stdout else None
        running.wait()
    except KeyboardInterrupt:
        running.send_signal(signal.SIGINT)
        running.communicate()
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise MeasurementError(f"the probe idlewave-{probe} did not end within {patience:.0f} s and was stopped")
    return said


def _read(output: IO[str], advance: Advance | None) -> dict[str, Any] | None:
    """The summary is a JSON object at the end, after lines `progress FRACTION`."""
    rest: list[str] = []
    for line in output:
        words = line.split()
        if len(words) == 2 and words[0] == "progress":
            if advance:
                advance(float(words[1]))
        else:
            rest.append(line)
    try:
        said = json.loads("".join(rest))
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _written(folder: Path, probe: str, said: dict[str, Any]) -> Path:
    """Under a launcher with several processes the probe writes into a subfolder of its own."""
    own = folder / f"{said.get('host')}-{said.get('rank')}"
    return own if int(said.get("ranks") or 1) > 1 and (own / f"{probe}.json").is_file() else folder
