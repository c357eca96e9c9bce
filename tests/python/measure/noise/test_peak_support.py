"""A periodic source is reported only if the recorded detours support it, whatever else the machine did."""

from __future__ import annotations

import numpy as np
import pytest
from idlewave.measure.noise.noise_recording import Detours
from idlewave.measure.noise.peak_support import supported_peaks, train_of
from idlewave.measure.noise.signature import queued
from idlewave.measure.noise.spectrum import Peak, detour_spectrum, named_peaks
from noise_recordings import detours

SECONDS = 10
TICK_S = 0.004


def with_competitor(load, injected=(), *, seed):
    """A core on which another task runs for the share `load` of the time, in whole ticks; and sources (Hz, s)."""
    draw = np.random.default_rng(seed)
    when, lengths = [], []
    t = 0.0
    while load and t < SECONDS:
        turn = TICK_S * draw.integers(1, 5)
        when.append(np.array([t]))
        lengths.append(np.array([turn * (1 + draw.normal(0, 0.001))]))
        t += turn + TICK_S * max(1, round(turn / TICK_S * (1 - load) / load * draw.uniform(0.5, 1.5)))
    for frequency, length in injected:
        at = np.arange(draw.random() / frequency, SECONDS, 1 / frequency)
        when.append(at)
        lengths.append(np.full(len(at), length))
    duration = SECONDS * 10**12
    arrivals = np.clip(np.concatenate([np.array([]), *when]) * 1e12, 0, duration - 1)
    starts, taken = queued(arrivals, np.concatenate([np.array([]), *lengths]) * 1e12, duration)
    return Detours("here", 0, starts, taken, duration)


def found(core):
    return supported_peaks(named_peaks(detour_spectrum([core])), [core])


@pytest.mark.parametrize(("frequency", "length"), [(97.3, 2e-5), (250.0, 5e-6), (10.0, 3e-4)])
def test_a_source_that_is_there_stays_without_doubt(frequency, length):
    core = detours(3, [(frequency, length)], [(100, 1e-5)], seed=3)
    assert [(round(peak.frequency, 1), peak.doubt) for peak in found(core)] == [(frequency, "")]


def test_a_line_without_detours_at_its_phase_is_left_out():
    core = detours(3, (), [(300, 2e-5)], seed=5)
    invented = Peak(3900.0, 1e-4, 0.002, 511_000.0, 50.0, 1e-9, (1,))
    assert supported_peaks([invented], [core]) == []
    assert train_of(invented, core) is None


def test_a_line_that_stands_for_more_time_than_its_detours_take_is_doubtful():
    core = detours(3, [(97.3, 2e-5)], [(100, 1e-5)], seed=3)
    true = named_peaks(detour_spectrum([core]))[0]
    tenfold = Peak(true.frequency, true.uncertainty, 10 * true.share, 10 * true.length_ps, 50.0, 1e-9, (1,))
    assert [peak.doubt for peak in supported_peaks([tenfold], [core])] == [
        "the detours at its times take 0.0019 of the time, its line stands for 0.019"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.2, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_beside_a_competing_task_a_source_is_found_within_a_thousandth_or_not_at_all(load: float, seed: int) -> None:
    assert found(with_competitor(load, seed=seed)) == []
    for peak in found(with_competitor(load, [(23.7, 1.7e-3)], seed=seed)):
        assert peak.frequency == pytest.approx(23.7, rel=1e-3)
