"""A periodic source is reported only if the recorded detours support it, whatever else the machine did."""

from __future__ import annotations

import pytest
from competing_tasks import Injected, competing_core
from idlewave.measure.noise.peak_support import possible_peaks, supported_peaks
from idlewave.measure.noise.spectrum import Peak, detour_spectrum, named_peaks
from long_cases import most_long
from noise_recordings import detours


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


def test_a_line_that_stands_for_more_time_than_its_detours_take_is_doubtful():
    core = detours(3, [(97.3, 2e-5)], [(100, 1e-5)], seed=3)
    true = named_peaks(detour_spectrum([core]))[0]
    tenfold = Peak(true.frequency, true.uncertainty, 10 * true.share, 10 * true.length_ps, 50.0, 1e-9, (1,))
    assert [peak.doubt for peak in supported_peaks([tenfold], [core])] == [
        "the detours at its times take 0.0019 of the time, its line stands for 0.019"
    ]


@pytest.mark.parametrize("load", most_long([0.2, 0.6], 1))
def test_beside_a_competing_task_a_source_is_found_within_a_thousandth_and_nothing_else_is(load):
    assert found(competing_core("ticks", load, seed=4)) == []
    beside = found(competing_core("ticks", load, Injected(23.7, 1.7e-3), seed=4))
    assert [peak.frequency for peak in beside] == [pytest.approx(23.7, rel=1e-3)]
    assert beside[0].length_ps == pytest.approx(1.72e9, rel=0.02)  # with the switching bias
    assert beside[0].least_ps < 1.72e9 < beside[0].most_ps
    assert beside[0].mixed > 0.05


def test_of_quanta_a_source_that_takes_more_than_was_lost_is_left_out_and_foreign_load_is_a_doubt():
    peaks = [Peak(97.3, 1e-4, share, 1e6, 50.0, 1e-9, (1,)) for share in (0.02, 0.2)]
    assert possible_peaks(peaks, 0.05, 0.0) == peaks[:1]
    assert "used up to 30 % of a core" in possible_peaks(peaks, 0.05, 0.3)[0].doubt
