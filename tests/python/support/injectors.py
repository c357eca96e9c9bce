"""What the tests of injected noise share: an injector that runs meanwhile, and which detours hold what it injected."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from probe_support import Recorded, command, environment

CORE = max(os.sched_getaffinity(0))
CLOCKS_NS = 1000  # to which a recording and what was injected agree about the time
NOTHING_US = 2  # an injection this short is all bias


def skip_without_priority() -> None:
    """A skip if this process may not have a real-time priority, without which nothing is injected."""
    trial = ("--cpu", CORE, "--period-us", 1000, "--length-us", 1, "--seconds", 0.001)
    done = subprocess.run(command("inject", None, *trial), capture_output=True, text=True)
    if "SCHED_FIFO" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


@dataclass
class Injector:
    pid: int
    summary: dict[str, Any] | None = None
    detours: np.ndarray | None = None  # a row each: begin (CLOCK_MONOTONIC_RAW) and length, ns


@contextmanager
def injecting(*options: object):
    """Injects as long as the context lasts; its summary and a table of what it did are there afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "detours.csv")
        words = command("inject", None, "--cpu", CORE, "--seconds", 60, "--detours", table, *options)
        running = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment())
        injector = Injector(running.pid)
        try:
            time.sleep(0.1)
            yield injector
        finally:
            running.send_signal(signal.SIGINT)
            output, _ = running.communicate(timeout=60)
        injector.summary = json.loads(output)
        injector.detours = np.loadtxt(table, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)


@dataclass(frozen=True)
class Injections:
    """What was injected during a recording, in ns from the recording's begin, and the recorded pieces of time that it
    was found in. What else was recorded is the machine's own: a busy hypervisor's is as long as what is injected here,
    and as frequent.
    """

    begins: np.ndarray
    lengths: np.ndarray
    places: np.ndarray  # of each, the piece that it lies in; -1: in none


def injections(found: Recorded, injector: Injector, pieces: np.ndarray) -> Injections:
    """Of those that are wholly within the recording; `pieces` has a row each: start and length, ps."""
    core = found.cores[0]
    assert injector.detours is not None
    begins, lengths = injector.detours.T.astype(float)
    begins = begins - found.summary["start_raw_ns"] - core["begin_ps"] / 1000
    within = (begins > CLOCKS_NS) & (begins + lengths < core["duration_ns"] - CLOCKS_NS)
    begins, lengths = begins[within], lengths[within]
    starts, ends = pieces[:, 0] / 1000, pieces.sum(axis=1) / 1000
    places = np.searchsorted(starts, begins + CLOCKS_NS, side="right") - 1
    inside = (places >= 0) & (begins + lengths <= ends[places] + CLOCKS_NS)
    return Injections(begins, lengths, np.where(inside, places, -1))
