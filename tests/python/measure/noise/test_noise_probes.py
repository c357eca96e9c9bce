"""What the noise probes promise of their command lines, their files and their summaries."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from probe_support import PROBES, command, environment, recorded, refusal, run

CORES = sorted(os.sched_getaffinity(0))
RECORDING = ("detour", "ftq", "fwq")
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this process may use one core only")


@pytest.fixture(scope="module", params=RECORDING)
def recording(request, tmp_path_factory):
    return run(request.param, tmp_path_factory.mktemp(request.param), "--seconds", 0.2)


def test_every_core_that_the_process_may_use_is_recorded_and_no_other(recording):
    assert [core["cpu"] for core in recording.cores] == CORES


def test_the_summary_is_the_last_line_printed_and_a_file(recording):
    written = (recording.folder / f"{recording.summary['probe']}.json").read_text()
    assert json.loads(written) == recording.summary


def test_tables_are_whole_and_have_the_rows_and_columns_that_the_summary_names(recording):
    for place, core in enumerate(recording.cores):
        size = (recording.folder / core["file"]).stat().st_size
        assert size == 8 * core["rows"] * len(core["columns"])
        assert recording.table(place).shape == (core["rows"], len(core["columns"]))
        assert core["rows"] > 0


def test_the_cores_recordings_overlap_on_the_common_axis_as_they_were_started_together(recording):
    begins = [core["begin_ps"] for core in recording.cores]
    ends = [core["begin_ps"] + core["duration_ns"] * 1000 for core in recording.cores]
    assert min(begins) == 0
    assert max(begins) < min(ends)


def test_what_the_kernel_counted_is_in_the_summary(recording):
    for core in recording.cores:
        assert core["own_cpu_s"] > 0
        assert core["cpu_busy_s"] >= 0
        assert core["steal_s"] >= 0
        assert core["voluntary_switches"] >= 0
        assert core["involuntary_switches"] >= 0
        assert core["core_wait_s"] is None or 0 <= core["core_wait_s"] <= core["duration_ns"] / 1e9
        assert all(entry["count"] > 0 and "meaning" in entry for entry in core["interrupts"].values())
        assert set(core["throttled"]) == {
            "nr_throttled",
            "throttled_s",
            "core_throttle_count",
            "package_throttle_count",
        }


@pytest.mark.skipif(not Path("/proc/interrupts").exists(), reason="no /proc/interrupts")
def test_the_timers_interrupts_are_counted(tmp_path):
    # A core that runs one thread alone may do without ticks, but not all cores for as long as this.
    found = run("detour", tmp_path, "--seconds", 1.5)
    assert sum(entry["count"] for core in found.cores for entry in core["interrupts"].values()) > 0


def test_one_by_one_the_cores_are_recorded_one_after_the_other(tmp_path):
    found = run("detour", tmp_path, "--seconds", 0.05, "--one-by-one")
    spans = [(core["begin_ps"], core["begin_ps"] + core["duration_ns"] * 1000) for core in found.cores]
    assert [core["cpu"] for core in found.cores] == CORES
    assert all(later[0] >= earlier[1] for earlier, later in itertools.pairwise(spans))


@two_cores
def test_a_seed_draws_the_order_in_which_cores_are_recorded_one_by_one(tmp_path):
    def order(seed):
        found = run("detour", tmp_path, "--seconds", 0.01, "--one-by-one", "--seed", seed)
        return tuple(core["cpu"] for core in sorted(found.cores, key=lambda core: core["begin_ps"]))

    orders = [order(seed) for seed in range(8)]
    assert len(set(orders)) > 1
    assert order(3) == orders[3]


@two_cores
def test_cores_are_chosen_by_a_list_of_numbers_and_ranges(tmp_path):
    assert [core["cpu"] for core in run("detour", tmp_path, "--seconds", 0.05, "--cpus", CORES[-1]).cores] == CORES[-1:]
    both = f"{CORES[1]},{CORES[0]}-{CORES[0]}"
    assert [core["cpu"] for core in run("detour", tmp_path, "--seconds", 0.05, "--cpus", both).cores] == CORES[:2]


@pytest.mark.parametrize("probe", RECORDING)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--seconds"),
        (("--seconds", "0"), "'0'"),
        (("--seconds", "nan"), "'nan'"),
        (("--seconds", "1s"), "'1s'"),
        (("--seconds", "1", "--records", "0"), "--records"),
        (("--seconds", "1", "--records", "2.5"), "whole number"),
        (("--seconds", "1", "--cpus", "3-1"), "'3-1'"),
        (("--seconds", "1", "--cpus", "0,"), "'0,'"),
        (("--seconds", "1", "--cpus", "-1"), "'-1'"),
        (("--seconds", "1", "--cpus", "99999999999999999999"), "--cpus"),
        (("--seconds", "1", "--cpus", "8191"), "CPU 8191 may not be used"),
        (("--seconds", "1", "--priority", "100"), "--priority"),
        (("--seconds", "1", "--nonsense"), "--nonsense"),
        (("--seconds", "1", "-xy"), ": -x: no such option"),
        (("--seconds", "1", "rest"), "'rest'"),
        (("--seconds",), "expected a value"),
    ],
)
def test_what_an_option_may_not_be_is_refused_by_its_name(tmp_path, probe, options, said):
    words = [*command(probe, tmp_path), *options] if options else command(probe, tmp_path)
    status, complaint = refusal(*words)
    assert status == 2
    assert said in complaint
    assert complaint.startswith(f"idlewave-{probe}: ")


def test_the_folder_of_the_output_must_be_given_and_possible(tmp_path):
    assert refusal(*command("detour", None, "--seconds", 1))[0] == 2
    (tmp_path / "file").write_text("")
    status, complaint = refusal(*command("detour", tmp_path / "file" / "folder", "--seconds", 1))
    assert status == 1
    assert str(tmp_path / "file" / "folder") in complaint


def test_buffers_that_memory_cannot_hold_are_refused_with_the_number_that_it_can(tmp_path):
    status, complaint = refusal(*command("detour", tmp_path, "--seconds", 1, "--records", 10**9, "--counts"))
    if "do not fit" not in complaint:
        pytest.skip("this machine has the memory")
    assert status == 2
    assert "expected at most" in complaint


@pytest.mark.parametrize("probe", [*RECORDING, "inject"])
def test_help_names_every_option_and_is_no_error(probe):
    done = subprocess.run([PROBES / f"idlewave-{probe}", "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "--seconds S" in done.stdout
    assert "--priority N" in done.stdout


# ---- detour


def test_detours_are_ordered_separate_and_inside_their_recording(tmp_path):
    found = run("detour", tmp_path, "--seconds", 0.3)
    for place, core in enumerate(found.cores):
        starts, lengths = found.table(place).T
        assert (starts >= 0).all()
        assert (starts[1:] >= starts[:-1] + lengths[:-1]).all()
        assert starts[-1] + lengths[-1] <= core["duration_ns"] * 1000
        assert lengths.min() >= (core["threshold_ns"] - core["resolution_ns"]) * 1000 - 1000 * found.summary["tick_ns"]


def test_the_loop_costs_hardly_more_than_a_reading_of_the_counter(tmp_path):
    # At least a tick: a coarse counter shows nothing finer. Other work may disturb one attempt.
    ratios = []
    for _ in range(5):
        found = run("detour", tmp_path, "--seconds", 0.01)
        tick = found.summary["tick_ns"]
        ratios += [core["resolution_ns"] / max(core["counter_cost_ns"], tick) for core in found.cores]
    assert min(ratios) <= 1.1


def test_counting_does_not_change_the_resolution_of_the_loop(tmp_path):
    ratios = []
    for _ in range(5):
        found = run("detour", tmp_path, "--seconds", 0.01, "--counts")
        tick = found.summary["tick_ns"]
        ratios += [core["resolution_ns"] / max(core["counter_cost_ns"], tick) for core in found.cores]
    assert min(ratios) <= 1.1


def test_counts_across_detours_add_up_to_no_more_than_the_threads_own(tmp_path):
    found = run("detour", tmp_path, "--seconds", 1, "--counts")
    for place, core in enumerate(found.cores):
        assert core["columns"] == ["start_ps", "length_ps", "switches", "migrations", "faults"]
        table = found.table(place)
        assert (table[:, 2:] >= 0).all()
        total = core["voluntary_switches"] + core["involuntary_switches"]
        # What is switched while counts are read, or between the last detour and the recording's end, belongs to none.
        assert 0.99 * total - 3 <= table[:, 2].sum() <= total + 3
        assert table[:, 3].sum() == 0  # a pinned thread does not migrate
        assert core["counts"]["source"] in ("perf_event_open", "getrusage")
        assert 0 <= core["counts"]["blind_ns"] < core["duration_ns"]


def test_a_full_buffer_ends_nothing_and_what_falls_out_is_counted_and_timed(tmp_path):
    found = run("detour", tmp_path, "--seconds", 1, "--records", 3)
    for place, core in enumerate(found.cores):
        assert core["rows"] == len(found.table(place)) == 3
        assert core["dropped"] > 0
        assert core["dropped"] * (core["threshold_ns"] - core["resolution_ns"] - 1) <= core["dropped_ns"]
        assert core["dropped_ns"] < core["duration_ns"]
        assert core["duration_ns"] > 0.9e9


def test_events_are_recorded_or_it_is_said_why_not(tmp_path):
    for core in run("detour", tmp_path, "--seconds", 0.2, "--trace-events").cores:
        if core["events"]["file"] is None:
            assert core["events"]["why"]
        else:
            lines = (tmp_path / core["events"]["file"]).read_text().splitlines()
            assert lines[0] == "begin_ns,end_ns,kind,name,net_ns"
            assert len(lines) == core["events"]["rows"] + 1
    for core in run("detour", tmp_path, "--seconds", 0.05).cores:
        assert core["events"] == {"file": None, "why": "not asked for (--trace-events)"}


# ---- FTQ and FWQ


def test_quanta_are_as_many_as_fit_into_the_time_and_none_has_more_work_than_it_has_room_for(tmp_path):
    found = run("ftq", tmp_path, "--quantum-us", 50, "--seconds", 0.5)
    assert found.summary["quantum_ns"] == pytest.approx(50_000, rel=1e-4)
    for place, core in enumerate(found.cores):
        work = found.table(place)[:, 0]
        assert len(work) == 10_000
        assert core["dropped"] == 0
        assert core["duration_ns"] == pytest.approx(10_000 * found.summary["quantum_ns"], rel=1e-12)
        assert (work >= 0).all()
        assert work.max() <= 1.5 * found.summary["quantum_ns"] / core["unit_ns"]
        assert work.max() > 500  # a quantum of 100 us then has a thousand units of resolution


def test_quanta_for_which_there_is_no_room_are_counted(tmp_path):
    for core in run("ftq", tmp_path, "--quantum-us", 10, "--seconds", 0.1, "--records", 1000).cores:
        assert (core["rows"], core["dropped"]) == (1000, 9000)
        assert core["dropped_ns"] == pytest.approx(9000 * 10_000, rel=1e-3)


def test_a_quantum_may_be_a_microsecond(tmp_path):
    found = run("ftq", tmp_path, "--quantum-us", 1, "--seconds", 0.05)
    assert found.summary["quantum_ns"] == pytest.approx(1000, rel=1e-3)
    assert all(core["rows"] == 50_000 for core in found.cores)


def test_a_recording_has_time_for_a_quantum_at_least(tmp_path):
    status, complaint = refusal(*command("ftq", tmp_path, "--seconds", 0.2, "--quantum-us", 300_000))
    assert status == 2
    assert "--seconds" in complaint
    assert [core["rows"] for core in run("ftq", tmp_path, "--seconds", 0.2, "--quantum-us", 200_000).cores] == [
        1 for _ in CORES
    ]


@pytest.mark.parametrize("quantum", ["0.5", "2e6", "x"])
def test_a_quantum_that_is_too_short_or_too_long_is_refused(tmp_path, quantum):
    assert refusal(*command("ftq", tmp_path, "--seconds", 1, "--quantum-us", quantum))[0] == 2


def test_pieces_of_fixed_work_follow_each_other_without_a_gap(tmp_path):
    found = run("fwq", tmp_path, "--work-us", 20, "--seconds", 0.3)
    assert found.summary["work"] > 0
    for place, core in enumerate(found.cores):
        starts, durations = found.table(place).T
        assert starts[0] == 0
        assert np.abs(starts[1:] - (starts[:-1] + durations[:-1])).max() <= 1  # rounding to whole ps
        assert starts[-1] + durations[-1] == pytest.approx(core["duration_ns"] * 1000, abs=2)


def test_twice_the_work_takes_twice_the_time(tmp_path):
    # On a machine that changes its speed, one attempt of three must show it.
    ratios = []
    for _ in range(3):
        shortest = [run("fwq", tmp_path, "--work-us", us, "--seconds", 0.2).table(0)[:, 1].min() for us in (50, 100)]
        ratios.append(shortest[1] / shortest[0])
    assert min(abs(ratio - 2) for ratio in ratios) < 0.1


# ---- ending early


@pytest.mark.parametrize("probe", RECORDING)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_recording_and_what_was_recorded_is_kept(tmp_path, probe, number):
    running = subprocess.Popen(
        command(probe, tmp_path, "--seconds", 60, "--records", 100_000),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "progress 0\n"
    time.sleep(1.5)  # the measurement begins later where others use the cores
    running.send_signal(number)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    found = recorded(tmp_path, output)
    assert found.summary["interrupted"] is True
    for place, core in enumerate(found.cores):
        assert 0 < core["duration_ns"] < 60e9
        assert len(found.table(place)) == core["rows"] > 0


@two_cores
def test_a_signal_in_a_later_core_keeps_the_earlier_ones(tmp_path):
    running = subprocess.Popen(
        command("detour", tmp_path, "--seconds", 1.5, "--one-by-one"),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert running.stdout is not None
    progress = 0.0
    while progress <= 0.55:
        progress = float(running.stdout.readline().split()[1])
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    found = recorded(tmp_path, output)
    assert [core["cpu"] for core in found.cores] == CORES[:2]
    assert found.cores[0]["duration_ns"] >= 1.49e9


def test_a_signal_before_the_recording_is_an_error_that_says_so(tmp_path):
    folder = tmp_path / "made by the probe"
    running = subprocess.Popen(
        command("detour", folder, "--seconds", 3),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    while running.poll() is None and not folder.is_dir():
        time.sleep(0.0005)
    running.send_signal(signal.SIGTERM)
    output, complaint = running.communicate(timeout=60)
    if running.returncode == 0:  # it had begun, so what it has is kept
        assert recorded(folder, output).summary["interrupted"] is True
    else:
        assert "interrupted before the measurement began" in complaint
        assert not (folder / "detour.json").exists()


# ---- several processes


@pytest.mark.parametrize(
    "variables",
    [
        {"SLURM_PROCID": 3, "SLURM_NTASKS": 4, "SLURM_LOCALID": 1},
        {"OMPI_COMM_WORLD_RANK": 3, "OMPI_COMM_WORLD_SIZE": 4, "OMPI_COMM_WORLD_LOCAL_RANK": 1},
        {"PMI_RANK": 3, "PMI_SIZE": 4, "MPI_LOCALRANKID": 1},
    ],
)
def test_each_process_of_a_launcher_has_a_folder_of_its_own(tmp_path, variables):
    found = run("detour", tmp_path, "--seconds", 0.02, **variables)
    assert (found.summary["rank"], found.summary["ranks"]) == (3, 4)
    assert found.folder == tmp_path / f"{found.summary['host']}-3"
    assert (found.folder / "detour.json").exists()
    assert (found.folder / found.cores[0]["file"]).exists()


def test_a_process_that_is_alone_writes_into_the_folder_itself(tmp_path):
    run("detour", tmp_path, "--seconds", 0.02, SLURM_PROCID=0, SLURM_NTASKS=1)
    assert (tmp_path / "detour.json").exists()


@pytest.mark.parametrize(
    "variables", [{"SLURM_PROCID": "x", "SLURM_NTASKS": 2}, {"SLURM_PROCID": 2, "SLURM_NTASKS": 2}]
)
def test_a_launchers_variable_that_makes_no_sense_is_named(tmp_path, variables):
    status, complaint = refusal(*command("detour", tmp_path, "--seconds", 0.1), **variables)
    assert status == 1
    assert "SLURM_PROCID" in complaint


def test_processes_of_one_job_that_would_measure_the_same_core_are_told(tmp_path):
    job = {"SLURM_NTASKS": 2, "SLURM_JOB_ID": f"test{os.getpid()}", "SLURM_STEP_ID": 0}
    first = subprocess.Popen(
        command("detour", tmp_path, "--seconds", 30, "--cpus", CORES[0]),
        env=environment(SLURM_PROCID=0, **job),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout is not None
    assert first.stdout.readline() == "progress 0\n"
    words = command("detour", tmp_path, "--seconds", 0.1, "--cpus", CORES[0])
    status, complaint = refusal(*words, SLURM_PROCID=1, **job)
    assert status == 1
    assert f"CPU {CORES[0]} " in complaint
    assert "--ntasks-per-node=1" in complaint
    if len(CORES) > 1:  # a core of its own is fine
        run("detour", tmp_path, "--seconds", 0.1, "--cpus", CORES[1], SLURM_PROCID=1, **job)
    # And so is another job's process: only the foreign load then tells.
    run("detour", tmp_path, "--seconds", 0.1, "--cpus", CORES[0], SLURM_PROCID=1, **(job | {"SLURM_STEP_ID": 1}))
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)


# ---- the injector's command line (what it injects: test_noise_truth.py)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--cpu"),
        (("--cpu", 0), "--period-us"),
        (("--cpu", 0, "--period-us", 1000), "--length-us"),
        (("--cpu", 0, "--period-us", 1000, "--length-us", 10), "--seconds"),
        (("--cpu", 0, "--period-us", 1000, "--length-us", 1000, "--seconds", 1), "less than the period"),
        (("--cpu", 0, "--period-us", 1, "--length-us", 10, "--seconds", 1), "--period-us"),
    ],
)
def test_an_injection_must_be_described_wholly_and_possible(options, said):
    status, complaint = refusal(*command("inject", None, *options))
    assert status == 2
    assert said in complaint


@pytest.mark.alone
def test_the_time_that_another_task_had_the_core_is_most_of_the_detours_beside_one(tmp_path):
    core = CORES[-1]
    counted = Path("/proc/thread-self/schedstat")
    if not counted.is_file() or counted.read_text(encoding="ascii").split()[2] == "0":
        pytest.skip("this system does not report for how long a thread waited for a core")
    busy = subprocess.Popen(["taskset", "-c", str(core), "sh", "-c", "while :; do :; done"])
    try:
        found = run("detour", tmp_path, "--cpus", core, "--seconds", 1, "--counts")
    finally:
        busy.kill()
        busy.wait()
    waited = found.cores[0]["core_wait_s"]
    lengths, switches = found.table(0)[:, 1] / 1e12, found.table(0)[:, 2]
    with_switch = lengths[switches > 0].sum()
    assert waited > 0.1, "the other task had half of the core, or less if there were more"
    # The switches themselves, some µs each, are detours and no waits; one wait may begin before the recording.
    assert waited == pytest.approx(with_switch, rel=0.05, abs=0.03)
