"""Periodic sources are found at their frequency and with their cost; noise without them gives none."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from idlewave.errors import InputError
from idlewave.host_environment import periodic_work
from idlewave.measure.noise.ftq import analyse_ftq, ftq_table, work_modes
from idlewave.measure.noise.fwq import analyse_fwq
from idlewave.measure.noise.known_periods import name_peaks, tick_rate, timer_rate
from idlewave.measure.noise.noise_recording import Detours, read_recording
from idlewave.measure.noise.spectrum import (
    FALSE_ALARM,
    Peak,
    binned_loss,
    detour_spectrum,
    lost_until,
    named_peaks,
    power_spectrum,
)
from noise_recordings import detours, quanta, write_detours, write_ftq, write_fwq

MS = 10**9


def test_the_time_lost_until_any_moment_is_exact():
    starts, lengths = np.array([10, 100, 200]), np.array([5, 50, 10])
    times = np.array([0, 10, 12, 15, 50, 100, 149, 150, 205, 1000])
    lost = [sum(max(0, min(t - s, n)) for s, n in zip(starts, lengths, strict=True)) for t in times]
    assert lost_until(times, starts, lengths).tolist() == lost
    assert lost_until(times, starts[:0], lengths[:0]).tolist() == [0.0] * len(times)


def test_bins_keep_the_time_that_detours_take():
    core = detours(1, [(97.3, 2e-5)], [(500, 3e-5)])
    loss = binned_loss(core, 1e-3)
    assert len(loss) == 1000
    assert loss.sum() * 1e9 == pytest.approx(core.lengths.sum())
    assert loss.max() <= 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("frequency", "length"), [(250.0, 5e-6), (97.3, 2e-5), (1000.0, 3e-6), (10.0, 3e-4)])
def test_a_source_is_found_at_its_frequency_with_its_cost_and_nothing_else_is(frequency, length, seed):
    core = detours(3, [(frequency, length)], [(100, 1e-5)], seed=seed)
    peaks = named_peaks(detour_spectrum([core]))
    assert len(peaks) == 1
    assert peaks[0].frequency == pytest.approx(frequency, rel=1e-4)
    assert abs(peaks[0].frequency - frequency) < max(6 * peaks[0].uncertainty, 1e-6 * frequency)
    assert peaks[0].length_ps == pytest.approx(length * 1e12, rel=0.15)
    assert peaks[0].share == pytest.approx(frequency * length, rel=0.15)
    assert peaks[0].false_alarm < FALSE_ALARM


@pytest.mark.parametrize("part", [0.02, 0.1, 0.3, 0.5])
def test_long_events_have_their_cost_though_many_of_their_lines_are_low(part):
    core = detours(3, [(10.0, part / 10.0)], [(100, 1e-5)], seed=3)
    found = [p for p in named_peaks(detour_spectrum([core])) if p.frequency == pytest.approx(10.0, rel=1e-3)]
    assert [p.share for p in found] == [pytest.approx(part, rel=0.05)]


def test_two_sources_are_told_apart_though_one_is_a_multiple_of_the_other():
    cores = [detours(3, [(250, 5e-6), (10, 1e-4)], [(50, 1e-5)], core=core) for core in range(2)]
    found = sorted(peak.frequency for peak in named_peaks(detour_spectrum(cores)))
    assert found == pytest.approx([10, 250], rel=1e-4)


def test_two_sources_are_not_taken_for_one_of_which_both_are_multiples():
    core = detours(3, [(250, 5e-6), (100, 2e-5)], [(100, 2e-5)])
    found = sorted(peak.frequency for peak in named_peaks(detour_spectrum([core])))
    assert found == pytest.approx([100, 250], rel=1e-4)


def test_two_sources_of_unrelated_frequencies_are_found():
    core = detours(3, [(97.3, 2e-5), (10, 2e-4)], [(100, 2e-5)])
    peaks = {round(peak.frequency, 1): peak for peak in named_peaks(detour_spectrum([core]))}
    assert set(peaks) == {10.0, 97.3}
    assert peaks[97.3].length_ps == pytest.approx(20_000_000, rel=0.15)
    assert peaks[10.0].length_ps == pytest.approx(200_000_000, rel=0.15)


def test_short_periodic_detours_show_once_the_long_ones_are_left_out():
    core = detours(3, [(250, 5e-6)], [(20, 4e-3)])
    peaks = named_peaks(detour_spectrum([core], shorter_than_ps=10**8))
    assert peaks[0].frequency == pytest.approx(250, rel=1e-4)


@pytest.mark.long
def test_random_noise_shows_no_peak_more_often_than_the_false_alarm_rate_allows():
    alarms = sum(
        bool(named_peaks(detour_spectrum([detours(0.5, (), [(1000, 2e-5), (20, 3e-4)], seed=seed)])))
        for seed in range(150)
    )
    assert alarms <= 8  # 1 % of 150 is 1.5; more than 8 has a chance of 1e-4 at twice the rate


def test_the_spectrum_of_several_cores_finds_the_same():
    cores = [detours(4, [(100, 1e-5)], [(300, 1e-5)], core=core) for core in range(3)]
    assert named_peaks(detour_spectrum(cores))[0].frequency == pytest.approx(100, rel=1e-3)


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match="at least 64 samples, found 10"):
        power_spectrum([np.zeros(10)], 1e-3)


def test_a_recording_without_detours_has_no_peaks():
    assert named_peaks(detour_spectrum([detours(1)])) == []


@pytest.mark.parametrize("length", [1e-4, 1e-3])
@pytest.mark.parametrize("count", [5, 6, 7, 9])
def test_fewer_than_eight_events_are_not_called_periodic(count, length):
    period = 0.43 if count < 8 else 0.33
    starts = np.round((np.arange(count) + 0.5) * period * 1e12).astype(np.int64)
    core = Detours("here", 0, starts, np.full(count, round(length * 1e12)), 3 * 10**12)
    found = [peak.frequency for peak in named_peaks(detour_spectrum([core]))]
    assert found == ([pytest.approx(1 / period, rel=1e-3)] if count >= 8 else [])


def test_seven_periods_are_not_named_though_other_detours_are_there():
    core = detours(3, [(1 / 0.43, 1e-3)], [(3, 1e-6)], seed=4)
    assert len(core.starts) > 8
    assert named_peaks(detour_spectrum([core])) == []


def peak(frequency, uncertainty=1e-6):
    return Peak(frequency, uncertainty, 0.01, 1e6, 100.0, 1e-9, (1, 2))


WORK = {"writeback_s": 5.0, "lockup_watchdog_s": 4.0, "ksm_s": None, "collectors": ["node_exporter", "unheard-of"]}
LINUX = {"system": "Linux-6.1", "governor": None, "cpu_limit": "150000 100000", "periodic_work": WORK}


def name(frequency, environment=LINUX, tick_hz=250, timer_hz=None):
    return name_peaks([peak(frequency)], environment, tick_hz, timer_hz)[0].source


def test_the_tick_has_its_name_by_the_configuration_or_by_the_interrupts_counted():
    assert name(250.0) == "timer tick (CONFIG_HZ=250)"
    assert "CONFIG_HZ=250" in name(250.0, tick_hz=None, timer_hz=267.0)
    assert name(250.0, tick_hz=None) == "unknown"
    assert name(267.3, tick_hz=1000, timer_hz=267.0).startswith("timer interrupts")


def test_a_source_has_a_name_only_where_the_machine_has_the_cause():
    assert name(1 / 4) == "lockup watchdog (2/5 of watchdog_thresh)"
    assert name(1 / 5) == "writeback (dirty_writeback_centisecs), or load average (5 s)"
    assert name(10.0) == "control group's CPU limit (150000 of 100000 us)"
    assert name(1 / 15) == "node_exporter (by default every 15 s)"
    assert name(50.0) == "unknown"  # ksmd does not run
    assert name(50.0, {"periodic_work": WORK | {"ksm_s": 0.02}}) == "ksmd (sleep_millisecs)"
    assert name(100.0) == "unknown"
    assert name(100.0, LINUX | {"governor": "performance"}) == "unknown"
    assert "governor (schedutil" in name(100.0, LINUX | {"governor": "schedutil"})
    for frequency in (123.4, 100.0, 10.0, 0.25, 0.2, 1 / 15):
        assert name(frequency, {}, tick_hz=None) == "unknown"


def test_the_work_of_a_machine_is_read_with_its_own_periods(tmp_path):
    files = {
        "proc/sys/vm/dirty_writeback_centisecs": "1500",
        "proc/sys/vm/stat_interval": "120",
        "proc/sys/kernel/watchdog": "1",
        "proc/sys/kernel/watchdog_thresh": "20",
        "proc/sys/kernel/sched_rt_runtime_us": "-1",
        "proc/sys/kernel/sched_rt_period_us": "1000000",
        "sys/kernel/mm/ksm/run": "0",
        "sys/kernel/mm/ksm/sleep_millisecs": "20",
        "sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]",
        "sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs": "10000",
        "proc/17/comm": "telegraf",
        "proc/18/comm": "bash",
    }
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text + "\n")
    found = periodic_work(tmp_path)
    assert {name: value for name, value in found.items() if value} == {
        "writeback_s": 15.0,
        "vmstat_s": 120.0,
        "lockup_watchdog_s": 8.0,
        "collectors": ["telegraf"],
    }


def test_the_tick_is_read_from_the_kernels_configuration(tmp_path):
    proc, boot = tmp_path / "proc", tmp_path / "boot"
    (proc / "sys/kernel").mkdir(parents=True)
    boot.mkdir()
    assert tick_rate(proc, boot) is None
    (proc / "sys/kernel/osrelease").write_text("6.1-test\n")
    (boot / "config-6.1-test").write_text("CONFIG_HZ_300=y\nCONFIG_HZ=300\n")
    assert tick_rate(proc, boot) == 300
    (proc / "config.gz").write_bytes(gzip.compress(b"# a\nCONFIG_HZ=100\n"))
    assert tick_rate(proc, boot) == 100
    (proc / "config.gz").write_bytes(b"not gzip")
    assert tick_rate(proc, boot) == 300


def test_the_rate_of_timer_interrupts_is_taken_from_their_counts():
    assert timer_rate({"RES": (5, "Rescheduling"), "LOC": (500, "Local timer interrupts")}, 2.0) == 250
    assert timer_rate({"27": (30, "GICv3 30 Level arch_timer, timer interrupt")}, 3.0) == 10
    assert timer_rate({"RES": (5, "Rescheduling")}, 2.0) is None


def test_ftq_finds_frequencies_and_costs(tmp_path):
    core = detours(3, [(250, 5e-6)], [(100, 2e-5)])
    ftq = analyse_ftq(read_recording(write_ftq(tmp_path, [quanta(core, 1e-4, 1)], 1e-4)))
    peaks = named_peaks(ftq.spectrum())
    assert peaks[0].frequency == pytest.approx(250, rel=1e-4)
    assert peaks[0].length_ps == pytest.approx(5e6, rel=0.15)
    assert ftq.overhead == pytest.approx(core.overhead, abs=1e-4)


def test_lines_that_the_grid_folds_back_are_not_taken_for_sources(tmp_path):
    core = detours(3, [(97.3, 2e-5)], [(50, 1e-5)])
    ftq = analyse_ftq(read_recording(write_ftq(tmp_path, [quanta(core, 1e-3, 1)], 1e-3)))
    assert [round(p.frequency, 1) for p in named_peaks(ftq.spectrum())] == [97.3]


@pytest.mark.parametrize("load", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_ftq_overhead_is_unbiased_under_load_where_the_maximum_is_not(tmp_path, load, seed):
    draw = np.random.default_rng(seed)
    loss = np.where(draw.random(20_000) < load, draw.random(20_000), 0.0) + draw.normal(0, 0.003, 20_000)
    loss[draw.integers(0, 20_000, 5)] = -0.13  # quanta that got more than their time
    ftq = analyse_ftq(read_recording(write_ftq(tmp_path, [loss], 1e-4)))
    assert ftq.overhead == pytest.approx(load / 2, abs=0.006)
    assert -ftq.cores[0].loss.min() == pytest.approx(0.13, abs=0.01)  # by the maximum all would lose so much more


def test_the_work_of_a_full_quantum_is_the_upper_mode_of_several():
    draw = np.random.default_rng(1)
    work = np.concatenate([draw.normal(5000, 10, 6000), draw.normal(10_000, 20, 3000), draw.normal(10_900, 5, 20)])
    assert work_modes(work) == pytest.approx((5000, 10_000), rel=2e-3)
    assert work_modes(np.full(100, 777.0)) == pytest.approx((777,))


def test_a_core_that_is_nearly_always_taken_still_has_its_full_quantum(tmp_path):
    draw = np.random.default_rng(1)
    loss = np.where(draw.random(20_000) < 0.98, 1.0, draw.normal(0, 0.002, 20_000))
    ftq = analyse_ftq(read_recording(write_ftq(tmp_path, [loss], 1e-4)))
    assert ftq.cores[0].full == pytest.approx(10_000, rel=2e-3)
    assert ftq.overhead == pytest.approx(0.98, abs=0.005)


def test_cores_at_two_speeds_are_noted(tmp_path):
    loss = np.where(np.arange(10_000) < 4000, 0.3, 0.0)
    ftq = analyse_ftq(read_recording(write_ftq(tmp_path, [loss], 1e-4)))
    assert "did 70\u202f% of the work" in ftq.notes[0]


def test_quanta_that_were_missed_are_lost_wholly(tmp_path):
    loss = np.zeros(1000)
    loss[100:130] = 1
    table = ftq_table(analyse_ftq(read_recording(write_ftq(tmp_path, [loss], 1e-3))))
    assert table["lost_wholly"].tolist() == [30]
    assert table["overhead"].tolist() == pytest.approx([0.03])


def test_fwq_says_how_much_slower_than_the_fastest(tmp_path):
    durations = np.full(10_000, 100 * 10**6)
    durations[:100] = 150 * 10**6
    durations[0] = 300 * 10**6
    core = analyse_fwq(read_recording(write_fwq(tmp_path, [durations])))[0]
    quantiles = core.quantiles()
    assert quantiles["p50"] == 1
    assert quantiles["p90"] == 1
    assert quantiles["p999"] == pytest.approx(1.5)
    assert quantiles["max"] == pytest.approx(3)
    lost = durations.sum() - 10_000 * 100 * 10**6
    assert core.overhead == pytest.approx(lost / durations.sum())


def test_a_recording_of_another_probe_is_no_work(tmp_path):
    folder = write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    with pytest.raises(InputError, match="expected a recording of fwq, found one of detour"):
        analyse_fwq(read_recording(folder))
