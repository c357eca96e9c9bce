"""What the detour benchmark promises of its recordings, and the Python around it of its summaries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from idlewave.errors import MeasurementError, UsageError
from idlewave.measure import measure_noise, probe_process
from idlewave.measure.noise import noise_run as probing
from idlewave.measure.noise.detour import DECADES, measurement_of, summarise
from idlewave.measure.noise.noise_recording import read_recording
from idlewave.mpi import package_data
from long_cases import most_long
from noise_recordings import detour_summary

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


FAKE = """#!{python}
import json, pathlib, signal, sys, time
arguments = sys.argv[1:]
folder = pathlib.Path(arguments[arguments.index("--output") + 1])
{body}
print("progress 0.5", flush=True)
said = dict(probe="detour", host="h", rank=0, ranks=1, counter="rdtsc", clock_source="tsc", interrupted=False)
core = dict(cpu=0, file="detour-cpu0.i64", columns=["start_ps", "length_ps"], rows=1, begin_ps=0, duration_ns=1e9)
core |= dict(resolution_ns=10, threshold_ns=90, dropped=0, dropped_ns=0, interrupts=dict(), involuntary_switches=0)
core |= dict(own_cpu_s=1, cpu_busy_s=1, steal_s=0, throttled=dict(nr_throttled=3, throttled_s=0.5))
said["cores"] = [core]
(folder / "detour-cpu0.i64").write_bytes((5).to_bytes(8, "little") + (7).to_bytes(8, "little"))
(folder / "detour.json").write_text(json.dumps(said))
(folder / "arguments.json").write_text(json.dumps(arguments))
print(json.dumps(said))
"""


@pytest.fixture
def fake_probe(tmp_path, monkeypatch):
    """Puts a program of our own in the probe's place; `body` is what it does first."""

    def put(body=""):
        program = tmp_path / "bin" / "idlewave-detour"
        program.parent.mkdir(exist_ok=True)
        program.write_text(FAKE.format(python=sys.executable, body=body))
        program.chmod(0o755)
        monkeypatch.setattr(probing, "package_data", lambda: tmp_path)

    return put


def test_the_probe_is_asked_for_what_was_wanted_and_its_folder_is_kept(fake_probe, tmp_path):
    fake_probe()
    core = min(os.sched_getaffinity(0))
    noise = measure_noise(2.5, [core], folder=tmp_path / "kept", records=9, together=False, trace_events=True)
    said = json.loads((tmp_path / "kept" / "arguments.json").read_text())
    assert said[said.index("--cpus") + 1] == str(core)
    assert said[said.index("--seconds") + 1] == "2.5"
    assert said[said.index("--records") + 1] == "9"
    assert {"--one-by-one", "--trace-events"} < set(said)
    assert noise.detours.to_dict("records") == [{"core": 0, "start_ps": 5, "length_ps": 7}]
    assert "slowed down 3 times" in noise.notes[0]


def test_progress_is_what_the_probe_says(fake_probe, tmp_path):
    fake_probe()
    parts = []
    (tmp_path / "out").mkdir()
    probing.record("detour", [], [0], 1.0, tmp_path / "out", advance=parts.append)
    assert parts == [0.5]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit('no permission')", r"the probe of detour failed \(exit status 1\): no permission"),
        ("sys.exit(0)", "without its summary"),
        ("time.sleep(60)", "did not end within"),
    ],
)
def test_a_probe_that_fails_is_said_in_its_own_words(fake_probe, tmp_path, monkeypatch, body, words):
    fake_probe(body)
    monkeypatch.setattr(probing, "PATIENCE_S", 1.0)
    with pytest.raises(MeasurementError, match=words):
        probing.record("detour", [], [0], 0.1, tmp_path / "out")


KEEPS = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # it may come before it is waited for
(folder / "ready").touch()
signal.sigwait([signal.SIGTERM])
print("x" * 200_000)
"""

MEASURE = """
import pathlib, signal, sys
from idlewave import cli
from idlewave.measure.noise import noise_run as probing
data = pathlib.Path(sys.argv.pop(1))
probing.package_data = lambda: data
signal.signal(signal.SIGINT, signal.default_int_handler)
cli.main()
"""


@pytest.mark.parametrize("number", most_long([signal.SIGINT, signal.SIGTERM], 1))
@pytest.mark.parametrize("kept", [True, False])
def test_a_signal_ends_the_probe_and_what_it_recorded_is_kept_and_said_where(fake_probe, tmp_path, number, kept):
    fake_probe(KEEPS)
    (tmp_path / "tmp").mkdir()
    output = ["-o", str(tmp_path / "kept")] if kept else []
    core = str(min(os.sched_getaffinity(0)))
    command = [sys.executable, "-c", MEASURE, str(tmp_path), "measure", "noise", "--core", core, *output]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    places = "kept/ready" if kept else "tmp/idlewave-*/ready"
    while not list(tmp_path.glob(places)):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    words = running.communicate(timeout=60)[1]
    assert running.returncode == 128 + number
    place = next(tmp_path.glob(places)).parent
    assert f"kept: {place}; to show it: idlewave noise show --method detour {place}\n" in words
    assert len(read_recording(place).cores[0].table) == 1


def test_a_probe_that_does_not_end_when_told_to_is_killed(fake_probe, tmp_path, monkeypatch):
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('progress 0.5', flush=True); time.sleep(60)"
    fake_probe(f"import os; pathlib.Path('{tmp_path}/pid').write_text(str(os.getpid())); {body}")
    monkeypatch.setattr(probe_process, "ENDING", 0.5)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probing.record("detour", [], [0], 1.0, tmp_path / "out", advance=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_an_earlier_run_said_is_not_left_in_a_folder_that_is_used_again(fake_probe, tmp_path):
    fake_probe()
    probing.record("detour", [], [0], 1.0, tmp_path / "out")
    assert (tmp_path / "out" / "detour.json").is_file()
    fake_probe("sys.exit('no permission')")
    with pytest.raises(MeasurementError, match="no permission"):
        probing.record("detour", [], [0], 1.0, tmp_path / "out")
    assert not (tmp_path / "out" / "detour.json").exists()


def test_a_probe_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(probing, "package_data", lambda: tmp_path)
    with pytest.raises(MeasurementError, match="cannot be run"):
        probing.record("detour", [], [0], 0.1, tmp_path / "out")


def test_an_interrupted_recording_keeps_what_it_has(tmp_path):
    core = str(min(os.sched_getaffinity(0)))
    command = [str(PROBE), "--cpus", core, "--seconds", "60", "--output", str(tmp_path)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 0
    found = read_recording(tmp_path)
    assert found.said["interrupted"] is True
    assert len(found.cores[0].table) > 0
    assert any("interrupted after" in note for note in measurement_of(found, {}).notes)


def test_the_cores_are_laid_end_to_end_in_one_trace():
    detours = pd.DataFrame(
        {"core": [2, 2, 5], "start_ps": [0, 999_000_000_000, 7], "length_ps": [10, 1_000_000_000, 20]}
    )
    noise = summarise(detours, [detour_summary(2, 1.0), detour_summary(5, 2.0)], {})
    trace, period = noise.trace()
    assert period == 3_000_000_000_000
    assert trace["start_ps"].tolist() == [0, 999_000_000_000, 1_000_000_000_007]
    ends = (trace["start_ps"] + trace["length_ps"]).to_numpy()
    assert (ends[:-1] <= trace["start_ps"].to_numpy()[1:]).all()
    assert ends[-1] <= period


def test_foreign_load_and_steal_are_said():
    detours = pd.DataFrame({"core": [0], "start_ps": [0], "length_ps": [10]}, dtype=np.int64)
    disturbed = detour_summary(0, 1.0, cpu_busy_s=1.0, own_cpu_s=0.9, steal_s=0.25)
    notes = summarise(detours, [disturbed], {}).notes
    assert any("10\u202f%" in note for note in notes)
    assert any("250\u202fms" in note for note in notes)
    assert summarise(detours, [detour_summary(0, 1.0)], {}).notes == ()
