"""A job is watched: alarms with traffic, none without, and rows that are there whatever happens."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from ending_support import idlewave
from idlewave.cli.contention_watch_command import watch as watch_command
from idlewave.contention import sampling
from idlewave.contention.evaluation import learn
from idlewave.contention.forest import Detector, ForestSettings
from idlewave.contention.watch import Samples, Watch, process_runs
from idlewave.errors import InputError, MeasurementError, UsageError
from planted_contention import DRAM, QUIET, contention_table
from small_disks import small_disk_at

LEVEL = 0.05


@pytest.fixture(scope="module")
def detector() -> Detector:
    return learn(contention_table({"stream": DRAM}, pairs=10, iterations=10), ForestSettings(15), alarm_level=LEVEL)[0]


class FakeProbes:
    """Probes of a table that is made up: some intervals without traffic, then some with it."""

    def __init__(self, quiet: int, busy: int, scale: float = 1.0) -> None:
        table = contention_table({"stream": DRAM}, pairs=1, iterations=max(quiet, busy), seed=99)
        rows = [*table[table["traffic"] == "none"].to_dict("records")[:quiet]]
        rows += table[table["traffic"] != "none"].to_dict("records")[:busy]
        self.rows = [{name: scale * row[name] for name in QUIET} for row in rows]
        self.asked: list[tuple[Sequence[str], float, int]] = []
        self.closed = 0
        self.is_ready: Callable[[], bool] = lambda: True
        self.at_end: Callable[[], object] = lambda: None
        self.at_close: Callable[[], object] = lambda: None

    def __call__(self, columns: Sequence[str], *, interval_s: float, cpu: int) -> Samples:
        self.asked.append((columns, interval_s, cpu))
        return FakeSamples(self)


class FakeSamples:
    def __init__(self, probes: FakeProbes) -> None:
        self.probes, self.rows = probes, iter(probes.rows)

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        return self

    def __next__(self) -> Mapping[str, float]:
        row = next(self.rows, None)
        if row is None:
            self.probes.at_end()
            raise StopIteration
        return row

    def ready(self, seconds: float) -> bool:
        if self.probes.is_ready():
            return True
        time.sleep(seconds)
        return False

    def close(self) -> None:
        self.probes.closed += 1
        self.probes.at_close()


def test_traffic_raises_alarms_and_quiet_intervals_few(detector: Detector) -> None:
    probes = FakeProbes(100, 50)
    found = [*Watch(detector).intervals(probes, interval_s=0.5, cpu=7)]
    alarms = np.array([interval.alarm for interval in found])
    assert alarms[:100].mean() < LEVEL + 0.09  # four standard deviations of a hundred
    assert alarms[100:].mean() > 0.8
    assert Watch(detector).chosen_set == "l3"
    assert probes.asked == [(detector.all_columns, 0.5, 7)]
    assert probes.closed == 1
    assert [interval.interval for interval in found] == list(range(150))


def test_a_job_of_another_scale_is_compared_with_its_own_first_intervals(detector: Detector) -> None:
    probes = FakeProbes(80, 30, scale=3.0)
    found = [*Watch(detector, calibrate=40).intervals(probes, interval_s=1.0, cpu=0)]
    assert all(interval.calibrating and not interval.alarm for interval in found[:40])
    assert all(math.isnan(value) for value in found[0].probabilities.values())
    assert np.mean([interval.alarm for interval in found[40:80]]) < 0.2
    assert np.mean([interval.alarm for interval in found[80:]]) > 0.8


def test_of_a_value_that_is_missing_nothing_is_said(detector: Detector) -> None:
    probes = FakeProbes(0, 4)
    probes.rows[1]["probe.latency_dram_s"] = math.nan
    del probes.rows[2]["probe.latency_l1_s"]
    found = [*Watch(detector).intervals(probes, interval_s=1.0, cpu=0)]
    assert [interval.alarm for interval in found] == [True, False, True, True]
    assert found[1].missing == ("probe.latency_dram_s",)
    assert math.isnan(found[1].probabilities["l3"])
    assert found[1].as_row()["probability_l3"] is None
    assert math.isnan(found[2].probabilities["l1"])


def test_the_watch_ends_with_its_job(detector: Detector) -> None:
    probes = FakeProbes(10, 0)
    answers = iter([True, True, False])
    assert len([*Watch(detector).intervals(probes, interval_s=1.0, cpu=0, runs=lambda: next(answers))]) == 3
    assert probes.closed == 1


def test_the_probe_is_closed_if_whoever_watches_fails(detector: Detector) -> None:
    probes = FakeProbes(10, 0)
    intervals = Watch(detector).intervals(probes, interval_s=1.0, cpu=0)
    next(intervals)
    intervals.close()
    assert probes.closed == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"feature_set": "l4"}, "no feature set is called 'l4'"),
        ({"victim": "cg"}, "no victim of this model is called 'cg'"),
        ({"victim": "stream", "calibrate": 3}, "not both"),
    ],
)
def test_a_watch_that_has_no_meaning_is_refused(options: dict[str, object], said: str, detector: Detector) -> None:
    with pytest.raises((InputError, UsageError), match=said):
        Watch(detector, **options)  # type: ignore[arg-type]


def test_a_model_by_counters_watches_no_job() -> None:
    counted = tuple(name for name in QUIET if name.startswith("counter."))
    table = contention_table({"stream": {"counter.l3_misses": 5.0}}, pairs=3, iterations=4, measured=counted)
    detector, _ = learn(table, ForestSettings(3))
    with pytest.raises(InputError, match=r"counter\.l1_misses, a counter of the victim's own core.*--by probe"):
        Watch(detector)


def test_a_process_is_seen_to_end_even_as_a_zombie() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        runs = process_runs(process.pid)
        assert runs()
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not runs()
    assert not runs()
    with pytest.raises(UsageError, match="there is no process"):
        process_runs(process.pid)


@pytest.fixture
def model(detector: Detector, tmp_path: Path) -> Path:
    detector.save(tmp_path / "model.skops")
    return tmp_path / "model.skops"


def run(words: list[str], probes: FakeProbes, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(sampling, "sample_probes", probes)
    return CliRunner().invoke(watch_command, words, standalone_mode=False)


def test_a_command_is_watched_until_it_ends_and_its_exit_status_is_that_of_the_watch(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    probes = FakeProbes(3, 40)
    words = ["-o", str(rows), str(model), "--", sys.executable, "-c", "raise SystemExit(3)"]
    ended = run(words, probes, monkeypatch)
    assert ended.return_value == 3, ended.output
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert 1 <= len(written) <= 43
    assert set(written[0]) == {
        "interval", "at", "calibrating", "probability_l1", "probability_l2", "probability_l3", "alarm"
    }  # fmt: skip
    assert probes.closed == 1


def test_the_intervals_are_printed_and_counted(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run(["--for", "1000s", str(model)], FakeProbes(2, 3), monkeypatch)
    lines = ended.stdout.splitlines()
    assert sum("ALARM (l3)" in line for line in lines) == 3
    assert "interval 0: l1 0." in lines[0]
    assert "3 of 5 intervals raised an alarm; at most 5.0 % of quiet ones like the model's do" in lines[-1]
    said = json.loads(run(["--for", "1000s", "--json", str(model)], FakeProbes(2, 3), monkeypatch).stdout)
    assert (said["intervals"], said["alarms"], said["set"], said["exit_status"]) == (5, 3, "l3", 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected a command behind --, --pid, or --for"),
        (["--pid", "1"], "expected one of them"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    words: list[str], said: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["--", "true"] if words else []
    ended = run([*words, str(model), *command], FakeProbes(1, 0), monkeypatch)
    assert isinstance(ended.exception, UsageError)
    assert said in str(ended.exception)


def test_a_time_without_a_unit_is_refused(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run(["--for", "10", str(model)], FakeProbes(1, 0), monkeypatch)
    assert "expected a time with a unit" in str(ended.exception)


def test_a_command_that_is_not_there_is_told(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run([str(model), "--", "/no/such/program"], FakeProbes(1, 0), monkeypatch)
    assert "/no/such/program: cannot be started: No such file" in str(ended.exception)


ALLOWED = sorted(os.sched_getaffinity(0))
TWO_CORES = pytest.mark.skipif(len(ALLOWED) < 2, reason="the probe and the command share the only core")


def in_python(program: str) -> list[str]:
    return [sys.executable, "-c", f"import os, sys, time\n{program}"]


@TWO_CORES
def test_the_command_is_started_on_the_cores_that_the_probe_leaves(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = in_python("open('cores', 'w').write(str(sorted(os.sched_getaffinity(0))))")
    monkeypatch.chdir(tmp_path)
    probes = FakeProbes(50, 0)
    ended = run([str(model), "--", *program], probes, monkeypatch)
    assert (tmp_path / "cores").read_text() == str(ALLOWED[:-1])
    assert [cpu for _, _, cpu in probes.asked] == [ALLOWED[-1]]
    assert f"the probe samples on core {ALLOWED[-1]}, and the command is started on core" in ended.output
    assert sorted(os.sched_getaffinity(0)) == ALLOWED


@TWO_CORES
def test_a_command_that_comes_to_the_core_of_the_probe_is_said(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As launchers of MPI programs bind their ranks."""
    binds = f"os.sched_setaffinity(0, {{{ALLOWED[-1]}}})\nopen('bound', 'w').close()\n"
    program = in_python(f"{binds}while not os.path.exists('sampled'): time.sleep(0.05)")
    monkeypatch.chdir(tmp_path)
    probes = FakeProbes(5, 0)
    probes.is_ready = (tmp_path / "bound").exists
    probes.at_end = (tmp_path / "sampled").touch
    ended = run(["--json", str(model), "--", "sh", "-c", '"$@"; true', "sh", *program], probes, monkeypatch)
    assert ended.output.count(f"of the command may use core {ALLOWED[-1]}, that of the probe, too") == 1
    assert json.loads(ended.stdout)["shared_core"]


@pytest.fixture
def one_core() -> Iterator[int]:
    os.sched_setaffinity(0, ALLOWED[:1])
    yield ALLOWED[0]
    os.sched_setaffinity(0, ALLOWED)


def test_a_core_that_the_job_shares_with_the_probe_is_said(
    model: Path, one_core: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = run([str(model), "--", "true"], FakeProbes(50, 0), monkeypatch)
    assert f"the probe samples on core {one_core}, and so does the command run" in ended.output
    with subprocess.Popen(["sleep", "60"]) as process:
        ended = run(["--pid", str(process.pid), "--for", "1000s", str(model)], FakeProbes(3, 0), monkeypatch)
        process.kill()
    assert f"core {one_core}, which process {process.pid} may use, too" in ended.output


@TWO_CORES
def test_the_probe_has_a_core_that_no_thread_of_the_process_may_use() -> None:
    program = "import os, threading\n"
    program += f"os.sched_setaffinity(0, {{{ALLOWED[-1]}}})\n"
    program += "threading.Thread(target=input, daemon=True).start()\nprint(flush=True)\nthreading.Event().wait()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        core = sampling.core_beside_process(process.pid)
        process.kill()
    assert core.job == (ALLOWED[-1],)
    assert core.probe in ALLOWED[:-1]
    assert not core.shared


@pytest.mark.parametrize(("status", "expected"), [(0, 1), (3, 3)])
def test_a_full_disk_ends_the_rows_and_neither_the_job_nor_its_watch(
    status: int, expected: int, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    probes = FakeProbes(0, 40)
    probes.at_end = (tmp_path / "sampled").touch
    waits = "while not os.path.exists('sampled'): time.sleep(0.05)\n"
    program = in_python(f"{waits}open('done', 'w').close()\nraise SystemExit({status})")
    with small_disk_at(tmp_path / "small", "4k") as small:
        rows = small / "rows.jsonl"
        ended = run(["-o", str(rows), str(model), "--", *program], probes, monkeypatch)
        kept = rows.read_text()
    assert (tmp_path / "done").exists()
    assert ended.return_value == expected, ended.output
    assert ended.output.count("rows.jsonl: cannot be written") == 1
    assert "no more rows are written, which does not end the job" in ended.output
    assert [json.loads(line)["interval"] for line in kept.splitlines()] == [*range(len(kept.splitlines()))]
    assert 0 < len(kept.splitlines()) < 40
    assert "of 40 intervals raised an alarm" in ended.output


def test_the_probe_has_ended_while_the_command_is_waited_for(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    probes = FakeProbes(50, 0)
    probes.at_close = (tmp_path / "closed").touch
    program = in_python("while not os.path.exists('closed'): time.sleep(0.05)\nraise SystemExit(3)")
    ended = run(["--for", "1ms", str(model), "--", *program], probes, monkeypatch)
    assert ended.return_value == 3
    assert "the watch has ended, and the job goes on: its end is awaited" in ended.output


def test_a_watch_ends_after_its_time_also_within_an_interval(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = FakeProbes(1, 0)
    probes.is_ready = lambda: False
    began = time.monotonic()
    ended = run(["--for", "300ms", "--interval", "1h", str(model)], probes, monkeypatch)
    assert ended.exit_code == 0, ended.output
    assert 0.3 <= time.monotonic() - began < 10
    assert "the watch ended before the first interval did" in ended.output
    assert probes.closed == 1


def test_intervals_count_as_judged_if_the_chosen_set_says_something(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes = FakeProbes(6, 0)
    probes.rows[0]["probe.latency_dram_s"] = math.nan  # while the baseline is measured, too
    probes.rows[3]["probe.latency_l1_s"] = math.nan  # which the chosen set does not need
    probes.rows[4]["probe.latency_dram_s"] = math.nan
    words = ["--for", "1000s", "--json", "--set", "l3", "--calibrate", "2", str(model)]
    said = json.loads(run(words, probes, monkeypatch).stdout)
    assert (said["intervals"], said["calibrating"], said["missing"], said["judged"]) == (6, 2, 3, 3)


def test_a_command_that_ends_before_the_first_interval_is_not_held_up(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes = FakeProbes(1, 0)
    probes.is_ready = lambda: False
    ended = run([str(model), "--", *in_python("raise SystemExit(3)")], probes, monkeypatch)
    assert ended.return_value == 3
    assert "the job ended before the first interval did" in ended.output
    assert probes.closed == 1


class KilledProbe:
    """The probe of memory, which is killed after its first sample."""

    def __init__(self, place: Path) -> None:
        self.place, self.samples = place, 0

    def __call__(self, columns: Sequence[str], *, interval_s: float, cpu: int) -> Samples:
        self.real = REAL_PROBES(columns, interval_s=interval_s, cpu=cpu)
        return self

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        return self

    def __next__(self) -> Mapping[str, float]:
        if self.samples == 1:
            (self.place / "killed").touch()
            for pid in descendants(self.real._child._process.pid):
                if Path(f"/proc/{pid}/comm").read_text().startswith("idlewave-conten"):
                    os.kill(pid, signal.SIGKILL)
        self.samples += 1
        return next(self.real)

    def ready(self, seconds: float) -> bool:
        return self.real.ready(seconds)

    def close(self) -> None:
        self.real.close()


REAL_PROBES = sampling.sample_probes


def descendants(pid: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                yield int(stat.parent.name)
                yield from descendants(int(stat.parent.name))


@pytest.mark.parametrize(("status", "expected"), [(0, 1), (3, 3)])
def test_a_probe_that_is_killed_ends_the_watch_and_not_the_job(
    status: int, expected: int, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    waits = "while not os.path.exists('killed'): time.sleep(0.05)\ntime.sleep(0.5)\n"
    program = in_python(f"{waits}open('done', 'w').close()\nraise SystemExit({status})")
    monkeypatch.setattr(sampling, "sample_probes", KilledProbe(tmp_path))
    words = ["--interval", "10ms", "--json", str(model), "--", *program]
    ended = CliRunner().invoke(watch_command, words, standalone_mode=False)
    assert (tmp_path / "done").exists()
    assert ended.return_value == expected, ended.output
    assert (
        ended.output.count("the watch ends, which does not end the job") == 2
    )  # on the error stream, and in the object
    said = json.loads(ended.stdout)
    assert said["intervals"] >= 1  # more may have been sampled by then
    assert said["exit_status"] == status
    assert "the probe of memory ended" in said["failures"][0]


def test_without_a_command_a_probe_that_ends_is_an_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = FakeProbes(1, 0)

    def end() -> None:
        raise MeasurementError("the probe of memory ended")

    probes.at_end = end
    ended = run(["--for", "1000s", str(model)], probes, monkeypatch)
    assert isinstance(ended.exception, MeasurementError)


@pytest.mark.long
def test_a_reader_of_the_lines_that_goes_away_does_not_end_the_job(model: Path, tmp_path: Path) -> None:
    program = in_python("time.sleep(2)\nopen('done', 'w').close()\nraise SystemExit(3)")
    words = [*idlewave(), "contention", "watch", "--interval", "50ms", str(model), "--", *program]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        complained = process.stderr.read()
    assert process.returncode == 3
    assert (tmp_path / "done").exists()
    assert complained.count("nobody reads it; intervals are printed no more, which does not end the job") == 1
