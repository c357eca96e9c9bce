"""Recording noise: the command of a probe, and its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import MeasurementError, UsageError
from ...mpi import package_data
from ..probe_process import Advance, run_probe
from .noise_recording import NoiseRecording, read_recording

PATIENCE_S = 60.0
"""Seconds beyond its recording that a probe has to calibrate and to write; then it is given up."""


def chosen_cores(cores: Sequence[int] | None) -> list[int]:
    """`cores`, or all that this process may use. Raises UsageError for cores that it may not use."""
    allowed = sorted(os.sched_getaffinity(0))
    chosen = allowed if cores is None else list(dict.fromkeys(cores))
    refused = sorted(set(chosen) - set(allowed))
    if refused or not chosen:
        raise UsageError(f"cores {refused} may not be used by this process; expected some of {allowed}")
    return chosen


def record(
    probe: str,
    arguments: Sequence[str],
    cores: Sequence[int],
    seconds: float,
    folder: Path,
    *,
    together: bool = True,
    advance: Advance | None = None,
) -> NoiseRecording:
    """Run idlewave-`probe` on `cores` for `seconds` of each, writing into `folder`, and read its recording.

    `advance` is called with the share that is done, from 0 to 1. Raises MeasurementError with the probe's own message
    if it fails. On an interrupt the probe writes its recording before KeyboardInterrupt is raised. The summary of an
    earlier run in `folder` is removed first, so that it is not taken for that of this run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{probe}.json").unlink(missing_ok=True)
    command = [str(package_data() / "bin" / f"idlewave-{probe}"), "--cpus", ",".join(map(str, cores))]
    command += ["--seconds", str(seconds), "--output", str(folder), *([] if together else ["--one-by-one"]), *arguments]
    limit = PATIENCE_S + 2 * seconds * (1 if together else len(cores))
    said = _summary(run_probe(command, None, probe, limit, advance))
    if said is None:
        raise MeasurementError(f"the probe of {probe} failed: it ended without its summary")
    return read_recording(_written(folder, probe, said), probe)


def _summary(output: str) -> dict[str, Any] | None:
    """The JSON object that a probe prints after its recording."""
    try:
        said = json.loads(output)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _written(folder: Path, probe: str, said: dict[str, Any]) -> Path:
    """The folder of the files: under a launcher with several processes a subfolder of `folder`."""
    own = folder / f"{said.get('host')}-{said.get('rank')}"
    return own if int(said.get("ranks") or 1) > 1 and (own / f"{probe}.json").is_file() else folder
