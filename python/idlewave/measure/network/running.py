"""Running a probe: the folder it records into, its progress, its words when it fails, and its end whatever happens."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from rich.progress import Progress, TaskID

from ...errors import MeasurementError

ENDING = 10.0
"""Seconds that a probe has to keep what it recorded when it is told to end."""


def begin_folder(folder: Path, environment: dict[str, Any], earlier: Sequence[str]) -> None:
    """Make `folder` if need be, without the files that an earlier run left there, and with environment.json.

    Else a run that is killed would be read with what another one said of itself.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in earlier:
            (folder / name).unlink(missing_ok=True)
        (folder / "environment.json").write_text(json.dumps(environment, indent=1))
    except OSError as error:
        raise MeasurementError(f"{folder} cannot be written: {error.strerror}") from error


def run_probe(
    command: Sequence[str],
    environment: dict[str, str] | None,
    name: str,
    limit: float,
    progress: Progress | None = None,
) -> None:
    """Run `command`, the probe of `name` ("network", "pairs"), for at most `limit` seconds.

    `environment`: its variables, None for this process's. `progress` gets one task. Raises MeasurementError with the
    probe's words if it fails.
    """
    task = progress.add_task(name, total=1.0) if progress else None
    with tempfile.TemporaryFile("w+") as complaints:
        with _process(command, environment, complaints, limit) as running:
            assert running.stdout is not None
            for line in running.stdout:
                _advance(progress, task, line)
            status = running.wait()
        complaints.seek(0)
        words = complaints.read().strip()
    if status != 0:
        said = words[-2000:] or "it said nothing"
        raise MeasurementError(f"the probe of {name} failed (exit status {status}): {said}")
    _advance(progress, task, "progress 1")


def _advance(progress: Progress | None, task: TaskID | None, line: str) -> None:
    word, _, fraction = line.partition(" ")
    if word == "progress" and progress is not None and task is not None:
        progress.update(task, completed=float(fraction))


@contextlib.contextmanager
def _process(
    command: Sequence[str], environment: dict[str, str] | None, complaints: IO[str], limit: float
) -> Iterator[subprocess.Popen[str]]:
    """A running probe that ends with the block, whatever ends that, and after `limit` seconds at the latest."""
    running = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        env=environment,
    )
    watch = threading.Timer(limit, running.kill)
    watch.daemon = True
    watch.start()
    try:
        yield running
    finally:
        watch.cancel()
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(ENDING)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
