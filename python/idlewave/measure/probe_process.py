"""A running probe: its folder, its progress, its message when it fails, and its end whatever happens."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..child_processes import Child
from ..errors import MeasurementError, OutputError
from ..output import make_folder, write_json
from ..termination_signals import called_after, ended_by_signals

if TYPE_CHECKING:
    from rich.progress import Progress

ENDING = 60.0
"""Seconds that a probe has to write its recording after a signal to end: probes of many cores have much to write."""

Advance = Callable[[float], None]


def begin_folder(folder: Path, environment: dict[str, Any], earlier: Sequence[str]) -> None:
    """Make `folder` if need be, remove the files of an earlier run, and write environment.json.

    Otherwise a run that is killed would be read with the summary of another run.
    """
    make_folder(folder)
    try:
        for name in earlier:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(folder, error.strerror or str(error)) from error
    write_json(folder / "environment.json", environment)


@contextlib.contextmanager
def shown(progress: Progress | None, description: str) -> Iterator[Advance | None]:
    """The function that advances a task of `progress`, which is complete at the end; None without `progress`."""
    if progress is None:
        yield None
        return
    task = progress.add_task(description, total=1.0)
    yield lambda part: progress.update(task, completed=part)
    progress.update(task, completed=1.0)


def run_probe(
    command: Sequence[str],
    environment: dict[str, str] | None,
    name: str,
    limit: float,
    advance: Advance | None = None,
) -> str:
    """Run `command`, the probe of `name` ("network", "detour"), for at most `limit` seconds.

    `environment`: its variables, None for this process's. `advance` is called with the share that is done, from 0 to 1.
    Returns the rest of the probe's output. Raises MeasurementError with the probe's message if it fails, cannot be run
    or does not end in time. When a signal interrupts this, the probe writes its recording before KeyboardInterrupt is
    raised.
    """
    late = threading.Event()
    said = []
    with tempfile.TemporaryFile("w+", errors="replace") as complaints:
        with ended_by_signals(), _process(command, environment, complaints, limit, late) as running:
            for line in running.output:
                words = line.split()
                if len(words) == 2 and words[0] == "progress":
                    if advance is not None:
                        advance(float(words[1]))
                else:
                    said.append(line)
            status = running.wait()
        complaints.seek(0)
        complaint = complaints.read().strip()[-2000:]
    if status != 0 and late.is_set():
        raise MeasurementError(
            f"the probe of {name} did not end within {limit:.0f} s and was stopped. {complaint}".strip()
        )
    if status != 0:
        raise MeasurementError(f"the probe of {name} failed (exit status {status}): {complaint or 'it said nothing'}")
    return "".join(said)


@contextlib.contextmanager
def _process(
    command: Sequence[str], environment: dict[str, str] | None, complaints: IO[str], limit: float, late: threading.Event
) -> Iterator[Child]:
    """A running probe. It ends with the block, whatever ends the block, and after `limit` seconds, which sets
    `late`."""
    try:
        running = Child.start(
            command,
            grace=ENDING,
            environment=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise MeasurementError(f"the probe {command[0]} cannot be run: {error}") from error

    def give_up() -> None:
        late.set()
        running.kill()

    with running, called_after(min(limit, threading.TIMEOUT_MAX), give_up):
        yield running
