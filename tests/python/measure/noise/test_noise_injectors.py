"""Random injectors under foreign load: the period within 0.1 % or not found, the length, and no false source.

Of recordings that are made up there are many. A few are real: the probe runs at ordinary priority, the injector at
real-time priority, and a process competes for the core in bursts of random lengths.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from competing_tasks import COMPETITORS, Injected, competing_core, random_injected
from idlewave.measure.noise.known_periods import TICK_RATES
from idlewave.measure.noise.noise_recording import detours_of, read_recording
from injected_truth import Found, found_sources, is_injected, wrong_sources
from injectors import CORE, injecting, injections, skip_without_priority
from probe_support import run

pytestmark = pytest.mark.long

LOADS = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6)
BLOCK = 30
REAL_SECONDS = 5


def made_up(seed: int, with_source: bool):
    draw = np.random.default_rng([seed, 9])
    source = random_injected(draw) if with_source else None
    load = float(draw.choice(LOADS))  # of the time that the source leaves
    load *= 1 if source is None else 1 - source.frequency * (source.length_s + source.bias_s)
    return competing_core(COMPETITORS[seed % 4], load, source, seed=seed, seconds=5), source


@pytest.mark.parametrize("block", range(10))
def test_without_an_injected_source_none_is_found(block):
    """300 recordings of this generator in all; none may have a false source."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        core, _ = made_up(seed, with_source=False)
        assert wrong_sources(core, None) == [], seed


@pytest.mark.parametrize("block", range(5))
def test_an_injected_source_has_its_period_and_its_length_or_is_not_found(block):
    seen = 0
    for seed in range(1000 + block * BLOCK, 1000 + (block + 1) * BLOCK):
        core, source = made_up(seed, with_source=True)
        assert wrong_sources(core, source) == [], (seed, source)
        seen += any(is_injected(found, source) for found in found_sources(core))
    assert seen > BLOCK / 2


COMPETITOR = """
import os, random, sys, time
cpu, load, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
os.sched_setaffinity(0, {cpu})
draw = random.Random(seed)
begin = time.monotonic()
while True:
    end = time.thread_time() + draw.expovariate(1 / 0.004)
    while time.thread_time() < end:
        pass
    time.sleep(max(time.thread_time() / load - (time.monotonic() - begin), 0) * draw.uniform(0.5, 1.5))
"""


@contextmanager
def competing(load: float, seed: int):
    """A process that works on the core for the share `load` of the time, or for as much as the scheduler gives."""
    if load == 0:
        yield
        return
    running = subprocess.Popen([sys.executable, "-c", COMPETITOR, str(CORE), str(load), str(seed)])
    try:
        yield
    finally:
        running.kill()
        running.wait()


def bias_of(period_us: int, length_us: int, folder) -> float:
    """By how many s detours are longer than what was injected, at most nearly always: the longer period and injection,
    the colder the caches are for the switches to the injector and back."""
    with injecting("--period-us", period_us, "--length-us", length_us) as alone:
        found = run("detour", folder, "--seconds", REAL_SECONDS, "--cpus", CORE)
    table = found.table()[:, :2]
    known = injections(found, alone, table)
    held = known.places >= 0
    return float(np.quantile(table[known.places[held], 1] / 1000 - known.lengths[held], 0.9)) * 1e-9


def kept(recording: Path) -> Path:
    """A copy of a recording that a later run of the tests does not remove."""
    return Path(shutil.copytree(recording, tempfile.mkdtemp(prefix="idlewave-recording-"), dirs_exist_ok=True))


def of_the_machine(found: Found) -> bool:
    """Whether a source has a usual rate of ticks: the machine's own, or that of its hypervisor."""
    return any(abs(found.frequency / rate - 1) < 1e-3 for rate in (*TICK_RATES, 500))


@dataclass(frozen=True)
class Real:
    source: Injected
    found: list[Found]


def real(folder, seed: int) -> Real:
    skip_without_priority()
    drawn = random_injected(np.random.default_rng([seed, 17]))
    period_us, length_us = round(1e6 / drawn.frequency), round(drawn.length_s * 1e6)
    before = bias_of(period_us, length_us, folder / "before")
    with competing(LOADS[seed % len(LOADS)], seed), injecting("--period-us", period_us, "--length-us", length_us):
        run("detour", folder / "source", "--seconds", REAL_SECONDS, "--cpus", CORE)
    after = bias_of(period_us, length_us, folder / "after")  # a host may begin to switch more slowly
    source = Injected(1e6 / period_us, length_us * 1e-6, max(before, after))
    core = detours_of(read_recording(folder / "source"))[0]
    return Real(source, [found for found in found_sources(core) if not of_the_machine(found)])


@pytest.mark.alone
@pytest.mark.parametrize("seed", range(12))
def test_an_injector_on_this_machine_has_its_period_and_its_length_or_is_not_found(tmp_path, seed):
    seen = real(tmp_path, seed)
    length_ps, most_bias = seen.source.length_s * 1e12, seen.source.bias_s * 1e12
    for where in ("spectrum", "signature"):
        own = [found for found in seen.found if found.where == where and is_injected(found, seen.source)]
        # Short detours beside the injector's own come with it: the switches there and back.
        held = all(found.least_ps - most_bias <= length_ps <= found.most_ps for found in own[:1])
        assert held, f"{own}; the recording is in {kept(tmp_path)}"


@pytest.mark.alone
@pytest.mark.parametrize("seed", range(12))
def test_on_this_machine_nothing_is_found_without_a_doubt_that_was_not_injected(tmp_path, seed):
    """A competing task may have regular turns, of so many ticks; such a source is said to be inseparable from it."""
    with competing(LOADS[seed % len(LOADS)], seed):
        run("detour", tmp_path, "--seconds", REAL_SECONDS, "--cpus", CORE)
    core = detours_of(read_recording(tmp_path))[0]
    wrong = [found for found in found_sources(core) if not (of_the_machine(found) or found.doubt)]
    assert wrong == [], f"seed {seed}; the recording is in {kept(tmp_path)}"
