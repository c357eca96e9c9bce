"""A network whose rate the kernel switches while it is recorded: changes are found at the times of the switches."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from idlewave import mpi
from idlewave.measure import measure_overtime
from idlewave.overtime.changes import levels
from idlewave.overtime.series import series_of
from tracer_support import mpich
from veth_pair import VethPair, veth_pair

pytestmark = [pytest.mark.mpi, pytest.mark.long]
RATES = (80, 10, 40)
"""Mbit/s, one after the other, each for `EACH` seconds: so few that other work on the cores hardly matters."""
EACH = 6.0
PHASE = 0.04


def switch(pair: VethPair, recording: Path, switched: list[int]) -> None:
    """Switch the rate on schedule from the first phase on, and add to `switched` when: Unix time in ns."""
    patience = time.monotonic() + 60
    while not (recording / "tail.jsonl").exists() and time.monotonic() < patience:
        time.sleep(0.01)
    for rate in RATES[1:]:
        time.sleep(EACH)
        pair.set_rate(rate)
        switched.append(time.time_ns())


@contextmanager
def switched_pair(recording: Path, switched: list[int]) -> Iterator[VethPair]:
    """A pair of devices, whose rate is switched beside the block."""
    with veth_pair() as pair:
        pair.set_rate(RATES[0])
        switching = threading.Thread(target=switch, args=(pair, recording, switched))
        switching.start()
        try:
            yield pair
        finally:
            switching.join()


def test_changes_are_found_when_the_kernel_switched_the_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, recording, switched = mpich(), tmp_path / "recording", list[int]()
    program = mpi.build(found, "overtime")
    with ExitStack() as stack:
        try:
            pair = stack.enter_context(switched_pair(recording, switched))
        except (OSError, subprocess.CalledProcessError) as reason:
            pytest.skip(f"no pair of devices can be made here: {reason}")
        monkeypatch.setattr(mpi, "build", lambda *_: pair.launcher(program, tmp_path))
        for name, value in pair.environment().items():
            monkeypatch.setenv(name, value)
        table = measure_overtime(recording, found, seconds=3 * EACH, phase=PHASE, sizes=(8, 1024, 8)).table
    phases = table[table["test"] == "bandwidth"]
    found_levels = levels(series_of(phases))
    assert found_levels["by_change"].tolist() == [False, True, True]
    starts = phases["start_ns"].to_numpy()
    first = starts.searchsorted(found_levels["start_ns"].to_numpy()[1:])  # phases of the series from its begin on
    assert (abs(first - starts.searchsorted(switched)) <= 1).all(), "not within one phase of the series"
    reached = found_levels["level"].to_numpy() * 8e-6
    assert reached[1] == pytest.approx(RATES[1], rel=0.2)
    assert reached[2] == pytest.approx(RATES[2], rel=0.2)
