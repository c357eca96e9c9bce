"""What the detour benchmark promises of its recordings, and the Python around it of its summaries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
from idlewave.errors import UsageError
from idlewave.measure import measure_noise
from idlewave.measure.noise.detour import DECADES, summarise
from idlewave.mpi import package_data

PROBE = package_data() / "bin" / "idlewave-detour"


@pytest.fixture(scope="module")
def noise():
    return measure_noise(seconds_per_core=0.3)


def test_every_core_of_the_affinity_is_recorded_and_no_other(noise):
    assert noise.cores["core"].tolist() == sorted(os.sched_getaffinity(0))


def test_detours_are_ordered_separate_and_inside_their_recording(noise):
    for row in noise.cores.to_dict("records"):
        own = noise.detours[noise.detours["core"] == row["core"]]
        starts, lengths = own["start_ps"].to_numpy(), own["length_ps"].to_numpy()
        assert len(own) == row["detours"] > 0
        assert (starts >= 0).all()
        assert (lengths > 0).all()
        assert (starts[1:] >= starts[:-1] + lengths[:-1]).all()
        assert starts[-1] + lengths[-1] <= row["duration_ps"]


def test_no_detour_is_shorter_than_the_threshold_allows(noise):
    for row in noise.cores.to_dict("records"):
        assert 0 < row["resolution_ps"] < row["threshold_ps"]
        own = noise.detours[noise.detours["core"] == row["core"]]
        assert own["length_ps"].min() >= row["threshold_ps"] - row["resolution_ps"] - 1


def test_hardly_an_iteration_of_the_loop_is_a_detour(noise):
    for row in noise.cores.to_dict("records"):
        assert row["detours"] + row["dropped"] < 0.02 * row["duration_ps"] / row["resolution_ps"]


def test_overhead_is_the_sum_of_the_detours_over_the_time_and_of_its_magnitudes(noise):
    for row in noise.cores.to_dict("records"):
        lengths = noise.detours.loc[noise.detours["core"] == row["core"], "length_ps"]
        assert row["overhead"] == pytest.approx(lengths.sum() / row["duration_ps"])
        assert sum(row[f"overhead_{name}"] for name in DECADES) == pytest.approx(row["overhead"])


def test_the_affinity_of_the_caller_stays_as_it_was():
    before = os.sched_getaffinity(0)
    measure_noise(seconds_per_core=0.01, cores=[min(before)])
    assert os.sched_getaffinity(0) == before


def test_a_core_that_may_not_be_used_is_refused():
    with pytest.raises(UsageError, match=r"\[4095\]"):
        measure_noise(seconds_per_core=0.01, cores=[4095])


def test_a_full_buffer_is_counted_and_said_and_cuts_the_trace():
    core = min(os.sched_getaffinity(0))
    noise = measure_noise(seconds_per_core=0.3, cores=[core], records=3)
    row = noise.cores.iloc[0]
    assert row["detours"] == 3
    assert row["dropped"] > 0
    assert row["overhead_ps"] == noise.detours["length_ps"].sum() + row["dropped_ps"]
    assert any(f"{row['dropped']} later detours" in note for note in noise.notes)
    trace, period = noise.trace()
    assert period == trace["start_ps"].iloc[-1] + trace["length_ps"].iloc[-1]


def test_an_interrupted_recording_keeps_what_it_has(tmp_path):
    file = tmp_path / "detours.csv"
    core = str(min(os.sched_getaffinity(0)))
    command = [str(PROBE), "--cpu", core, "--seconds", "60", "--output", str(file)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    time.sleep(0.6)
    running.send_signal(signal.SIGINT)
    summary = json.loads(running.communicate(timeout=30)[0])
    assert running.returncode == 0
    assert summary["interrupted"] is True
    assert len(pd.read_csv(file)) == summary["detours"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cpu", "0", "--seconds", "soon", "--output", "x"], "--seconds: expected a number"),
        (["--cpu", "0", "--seconds", "1"], "usage:"),
        (["--cpu", "1000", "--seconds", "1", "--output", "{tmp}/x"], "CPU 1000 cannot be used"),
        (["--cpu", "0", "--seconds", "1", "--output", "{tmp}/missing/x"], "cannot be written"),
    ],
)
def test_wrong_use_of_the_probe_is_said(arguments, words, tmp_path):
    arguments = [a.format(tmp=tmp_path) for a in arguments]
    done = subprocess.run([str(PROBE), *arguments], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode != 0
    assert words in done.stderr


def recording(cpu, seconds, **changes):
    summary = {"cpu": cpu, "counter": "rdtsc", "clock_source": "tsc", "interrupts": {}, "interrupted": False}
    summary |= {"resolution_ns": 10.0, "threshold_ns": 90.0, "duration_ns": seconds * 1e9}
    summary |= {"dropped": 0, "dropped_ns": 0.0, "involuntary_switches": 0}
    summary |= {"own_cpu_s": seconds, "cpu_busy_s": seconds, "steal_s": 0.0}
    return summary | changes


def test_the_cores_are_laid_end_to_end_in_one_trace():
    detours = pd.DataFrame(
        {"core": [2, 2, 5], "start_ps": [0, 999_000_000_000, 7], "length_ps": [10, 1_000_000_000, 20]}
    )
    noise = summarise(detours, [recording(2, 1.0), recording(5, 2.0)], {})
    trace, period = noise.trace()
    assert period == 3_000_000_000_000
    assert trace["start_ps"].tolist() == [0, 999_000_000_000, 1_000_000_000_007]
    ends = (trace["start_ps"] + trace["length_ps"]).to_numpy()
    assert (ends[:-1] <= trace["start_ps"].to_numpy()[1:]).all()
    assert ends[-1] <= period


def test_foreign_load_and_steal_are_said():
    detours = pd.DataFrame({"core": [0], "start_ps": [0], "length_ps": [10]}, dtype=np.int64)
    disturbed = recording(0, 1.0, cpu_busy_s=1.0, own_cpu_s=0.9, steal_s=0.25)
    notes = summarise(detours, [disturbed], {}).notes
    assert any("10.0%" in note for note in notes)
    assert any("0.25 s" in note for note in notes)
    assert summarise(detours, [recording(0, 1.0)], {}).notes == ()
