"""Runs of a made probe of overtime into a folder, as `measure_overtime` makes them of the real one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fake_overtime import Fake, phase
from idlewave.measure.counters import CounterReader, CounterSource
from idlewave.measure.overtime.measuring import OvertimeRun
from idlewave.measure.overtime.recorder import Recorder
from idlewave.measure.overtime.settings import Settings

GIVEN: dict[str, Any] = {"ranks": 2, "phase": 1.0, "idle": 1.0, "sizes": (8, 1 << 20, 8), "peers": 1, "seed": 1}


def settings(**changed: Any) -> Settings:
    return Settings.checked(GIVEN | changed, (), None)


def record(folder: Path, fake: Fake, sources: Sequence[CounterSource] = (), **changed: Any) -> OvertimeRun:
    with Recorder(folder, settings(**changed)) as recorder:
        run = OvertimeRun(recorder, CounterReader(list(sources)), 60.0)
        run.record(fake.command, None)
    return run


def write_phases(folder: Path, phases: int) -> None:
    """The recording of `Fake(phases)`, without a probe."""
    with Recorder(folder, settings()) as recorder:
        for number in range(phases):
            recorder.add(phase(number))
        recorder.end("time")


def write_overtime(folder: Path) -> None:
    """A small recording with a part, a tail and a counter, without a probe."""
    with Recorder(folder, settings()) as recorder:
        for number in range(8):
            recorder.add({**phase(number), "counter.net.eth0.rx_bytes": float(number)})
            if number == 4:
                recorder._finish_part()
        recorder.end("time")
