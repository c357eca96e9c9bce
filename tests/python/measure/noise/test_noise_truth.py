"""Noise that is known is found: injected on the probe's own core, with its period, lengths, number and name.

The injector (SCHED_FIFO 60) interrupts a probe of lower real-time priority (50), so that other work on the machine
disturbs neither. A detour is longer than what was injected by the switching bias: the wake-up's interrupt, and the
switches there and back. It is measured, on the same core, by injecting next to nothing.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from injectors import CORE, NOTHING_US, Injections, Injector, injecting, injections, skip_without_priority
from probe_support import Recorded, command, environment, recorded, run

pytestmark = pytest.mark.alone

PROBE = ("--cpus", CORE, "--priority", 50)
NOBODY = 65534


@pytest.fixture(scope="module", autouse=True)
def _real_time_priority_is_allowed() -> None:
    skip_without_priority()


def excesses_ns(found: Recorded, injectors: tuple[Injector, Injector]) -> tuple[np.ndarray, np.ndarray]:
    """Of each injector, how much longer the detours are than the one injection that they hold."""
    table = found.table()[:, :2]
    known = [injections(found, injector, table) for injector in injectors]
    held = np.bincount(np.concatenate([one.places[one.places >= 0] for one in known]), minlength=len(table))

    def excess(one: Injections) -> np.ndarray:
        assert len(one.places) > 100
        assert (one.places >= 0).mean() > 0.99
        alone = (one.places >= 0) & (held[one.places] == 1)
        assert alone.mean() > 0.5
        return table[one.places[alone], 1] / 1000 - one.lengths[alone]

    return excess(known[0]), excess(known[1])


def recordings(tmp_path, period_us: int, length_us: float, seconds: float, *options: object):
    """Of up to four attempts: the recording of what is injected, the injector, and by which part of the length the
    detours are off without the bias. That is measured beside, by another injector of next to nothing: a minute later
    the machine may switch twice as fast.
    """
    nothing = ("--period-us", round(1.618 * period_us), "--length-us", NOTHING_US)
    for attempt in range(4):
        with (
            injecting(*nothing) as bias,
            injecting("--period-us", period_us, "--length-us", length_us, *options) as injector,
        ):
            found = run("detour", tmp_path / str(attempt), "--seconds", seconds, *PROBE)
        with_bias, bias_alone = map(np.median, excesses_ns(found, (injector, bias)))
        assert bias_alone > 0
        yield found, injector, abs(with_bias - bias_alone) / (length_us * 1000)


def test_the_period_and_the_length_of_periodic_noise_are_found(tmp_path):
    period_us, length_us, seconds = 1000, 100, 2
    off = []
    for found, injector, difference in recordings(tmp_path, period_us, length_us, seconds):
        table = found.table()
        places = injections(found, injector, table).places
        assert len(places) > 0.8 * seconds * 1e6 / period_us
        assert np.median(np.diff(table[places[places >= 0], 0])) == pytest.approx(period_us * 1e6, rel=1e-3)
        off.append(difference)
        if off[-1] < 0.05:
            return
    pytest.fail(f"lengths are off by {off}")


@pytest.mark.long
def test_the_rate_and_the_lengths_of_random_noise_are_found(tmp_path):
    gap_us, length_us, seconds = 1500, 200, 3
    off = []
    for found, injector, difference in recordings(tmp_path, gap_us, length_us, seconds, "--random", "--seed", 7):
        known = injections(found, injector, found.table())
        inside = known.places >= 0
        truth = injector.summary
        # About 1750 detours: three standard deviations of their number are 7 %.
        assert inside.sum() / seconds == pytest.approx(truth["injected"] / truth["duration_s"], rel=0.1)
        begins = found.table()[known.places[inside], 0] / 1000
        gaps = np.diff(begins) - known.lengths[inside][:-1]
        assert np.median(gaps) == pytest.approx(np.log(2) * gap_us * 1e3, rel=0.15)  # of an exponential distribution
        off.append(difference)
        if off[-1] < 0.05:
            return
    pytest.fail(f"lengths are off by {off}")


def test_a_full_buffer_is_said_and_what_was_injected_beyond_it_is_counted_and_timed(tmp_path):
    with injecting("--period-us", 1000, "--length-us", 100):
        found = run("detour", tmp_path, "--seconds", 1, "--records", 20, *PROBE)
    core = found.cores[0]
    assert core["rows"] == 20
    assert core["dropped"] > 700
    assert core["dropped_ns"] > 700 * 100_000


def spectrum(work: np.ndarray, quantum_ns: float) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies in Hz, and the power of the work's changes (Hann window)."""
    changes = (work - work.mean()) * np.hanning(len(work))
    return np.fft.rfftfreq(len(work), quantum_ns * 1e-9), np.abs(np.fft.rfft(changes)) ** 2


def test_ftq_shows_the_frequency_of_periodic_noise_and_its_multiples(tmp_path):
    with injecting("--period-us", 10_000, "--length-us", 200):
        found = run("ftq", tmp_path, "--quantum-us", 100, "--seconds", 2, *PROBE)
    work = np.minimum(found.table()[:, 0], 2 * np.median(found.table()[:, 0]))
    frequency, power = spectrum(work.astype(float), found.summary["quantum_ns"])
    around = {f: power[np.abs(frequency - f) < 2].max() for f in range(100, 1500, 50)}
    multiples = [p for f, p in around.items() if f % 100 == 0]
    between = [p for f, p in around.items() if f % 100]
    assert min(multiples) > 3 * np.median(between)
    top = frequency[np.argmax(np.where(frequency > 60, power, 0))]
    assert top % 100 == pytest.approx(0, abs=1) or top % 100 == pytest.approx(100, abs=1)


def ftq_around_detours(folder) -> tuple[list[float], list[float]]:
    """Of 1 ms injected again and again: how much FTQ says was lost each time, ms; and the shares of work that were done
    in the quanta next to those in which the detour lies.

    1 ms empties nine or ten quanta of 100 us (with the bias perhaps eleven), and takes the rest of its time from one on
    either side.
    """
    with injecting("--period-us", 20_000, "--length-us", 1000):
        found = run("ftq", folder, "--quantum-us", 100, "--seconds", 2, *PROBE)
    work = found.table()[:, 0]
    share = work / np.median(work)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], (work == 0).astype(int), [0]))))
    runs = [(a, b) for a, b in edges.reshape(-1, 2) if 9 <= b - a <= 11 and a >= 2 and b + 2 <= len(work)]
    assert len(runs) > 60  # of a hundred
    lost = [(b - a + 2 - share[a - 1] - share[b]) * 0.1 for a, b in runs]
    return lost, [share[k] for a, b in runs for k in (a - 2, b + 1)]


def test_ftq_takes_a_detour_from_the_quanta_that_it_lies_in_and_from_no_other(tmp_path):
    seen = []
    for attempt in range(4):  # a busy hypervisor takes longer than a quantum to switch
        lost, outside = ftq_around_detours(tmp_path / str(attempt))
        seen.append((float(np.median(lost)), float(np.median(outside))))
        if 1 <= seen[-1][0] < 1.15 and seen[-1][1] > 0.9:
            return
    pytest.fail(f"expected 1 to 1.15 ms lost and more than 0.9 of the work in the quanta beside, found {seen}")


def test_fwq_shows_the_share_of_slow_pieces_that_was_injected(tmp_path):
    with injecting("--period-us", 10_000, "--length-us", 200) as injector:
        found = run("fwq", tmp_path, "--work-us", 100, "--seconds", 2, *PROBE)
    pieces = found.table()[:, :2]
    known = injections(found, injector, pieces)
    slow = pieces[:, 1] - np.median(pieces[:, 1]) > 150e6
    held = np.isin(np.arange(len(pieces)), known.places)
    assert len(known.begins) > 150
    assert (known.places >= 0).mean() > 0.9  # else between two pieces, by as little as the clocks are apart
    assert slow[held].mean() > 0.99
    assert slow[~held].mean() < 0.05


def test_the_kernels_counts_tell_a_switch_from_what_is_none(tmp_path):
    with injecting("--period-us", 1000, "--length-us", 100) as injector:
        found = run("detour", tmp_path, "--seconds", 1, "--counts", *PROBE)
    table = found.table()
    held = np.unique(injections(found, injector, table[:, :2]).places)
    switches = table[held[held >= 0], 2]
    assert len(switches) > 800
    assert (switches >= 1).mean() > 0.95
    short = table[table[:, 1] < 1e6]
    if len(short) > 20:  # too short for a switch
        assert (short[:, 2] >= 1).mean() < 0.05


def kernel_events(found):
    """What is said of the first core's events, if the kernel's tracer was used; or a skip that says why."""
    told = found.cores[0]["events"]
    if told["file"] is None or told["source"] != "tracefs":
        pytest.skip(told["why"])
    return told


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """A recording with events of a core with injected noise, the injector's process, and the events."""
    folder = tmp_path_factory.mktemp("traced")
    with injecting("--period-us", 1000, "--length-us", 100) as injector:
        found = run("detour", folder, "--seconds", 1, "--trace-events", "--mount-tracefs", *PROBE)
    with (folder / kernel_events(found)["file"]).open() as lines:
        return found, injector, list(csv.DictReader(lines))


def test_the_kernels_events_name_the_task_that_made_a_detour_and_lie_within_it(traced):
    found, injector, events = traced
    name = f"idlewave-inject:{injector.pid}"
    tasks = np.array([(float(e["begin_ns"]), float(e["end_ns"])) for e in events if e["name"] == name])
    assert len(tasks) > 700
    assert {e["kind"] for e in events if e["name"] == name} == {"task"}
    detours = found.table()[:, :2]
    begins, ends = detours[:, 0] / 1000, detours.sum(axis=1) / 1000
    place = np.searchsorted(begins, tasks[:, 0], side="right") - 1
    tolerance = 10 * found.cores[0]["resolution_ns"]  # the same axis, to about the loop's resolution
    inside = (place >= 0) & (tasks[:, 1] <= ends[place] + tolerance)
    assert inside.mean() > 0.95
    held = np.unique(injections(found, injector, detours).places)
    assert len(held) > 700
    assert np.isin(held[held >= 0], place[inside]).mean() > 0.95


def test_the_kernels_events_are_in_order_and_inside_the_recording(traced):
    found, _, events = traced
    begins = [float(e["begin_ns"]) for e in events]
    assert begins == sorted(begins)
    assert all(0 <= float(e["begin_ns"]) <= float(e["end_ns"]) <= found.cores[0]["duration_ns"] for e in events)
    assert {e["kind"] for e in events} >= {"task", "vector"} or {e["kind"] for e in events} >= {"task", "irq"}


def test_where_the_kernel_has_osnoise_it_tells_how_long_a_task_ran_itself(traced):
    found, injector, events = traced
    told = found.cores[0]["events"]
    if told["osnoise"] != "recorded":
        pytest.skip(told["osnoise"])
    net = [float(e["net_ns"] or "nan") for e in events if e["name"] == f"idlewave-inject:{injector.pid}"]
    assert np.isfinite(net).mean() > 0.95
    assert np.nanmedian(net) == pytest.approx(100_000, rel=0.2)  # and the switches


@pytest.mark.usefixtures("traced")
def test_no_tracer_is_left_behind():
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines() if " tracefs " in line]
    for place in mounts:
        left = {int(folder.name.split("-")[1].split(".")[0]) for folder in Path(place, "instances").glob("idlewave-*")}
        assert not [pid for pid in left if not Path(f"/proc/{pid}").exists()]


def test_two_recordings_at_once_have_all_their_events_though_one_ends_first(tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("two recordings need a core each")
    folders = (tmp_path / "brief", tmp_path / "long")
    options = ("--trace-events", "--mount-tracefs", "--priority", 50, "--cpus")
    brief = command("detour", folders[0], *options, cores[-2], "--seconds", 0.5)
    long = command("detour", folders[1], *options, CORE, "--seconds", 1.5)
    with injecting("--period-us", 1000, "--length-us", 100) as injector:
        running = [subprocess.Popen(w, stdout=subprocess.PIPE, text=True, env=environment()) for w in (brief, long)]
        said = [one.communicate(timeout=60)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0]
    told = [kernel_events(recorded(*one)) for one in zip(folders, said, strict=True)]
    assert told[0]["rows"] > 0
    with (folders[1] / told[1]["file"]).open() as lines:
        ends = [float(e["end_ns"]) for e in csv.DictReader(lines) if e["name"] == f"idlewave-inject:{injector.pid}"]
    assert sum(end > 1e9 for end in ends) > 300  # of five hundred after the other was through


def test_an_ordinary_user_learns_when_the_probe_was_switched_out():
    if os.geteuid() != 0:
        pytest.skip("only root can become an ordinary user")
    with tempfile.TemporaryDirectory() as folder, injecting("--period-us", 5000, "--length-us", 500):
        Path(folder).chmod(0o777)
        words = command("detour", Path(folder), "--cpus", CORE, "--seconds", 1, "--trace-events")
        if not _may_run_as_nobody(words[0]):
            pytest.skip("an ordinary user may not run the probe where it is installed")
        done = subprocess.run(words, capture_output=True, text=True, user=NOBODY, group=NOBODY, extra_groups=[])
        assert done.returncode == 0, done.stderr
        found = recorded(Path(folder), done.stdout)
        told = found.cores[0]["events"]
        if told["file"] is None:
            pytest.skip(told["why"])
        assert told["source"] == "perf_event_open"
        with Path(folder, told["file"]).open() as lines:
            events = list(csv.DictReader(lines))
        assert {e["kind"] for e in events} == {"task"}
        assert told["rows"] + told["dropped"] == pytest.approx(found.cores[0]["involuntary_switches"], abs=3)
        starts, lengths = found.table().T / 1000
        long = np.array([(float(e["begin_ns"]), float(e["end_ns"])) for e in events])
        long = long[long[:, 1] - long[:, 0] > 400_000]
        place = np.searchsorted(starts, long[:, 0], side="right") - 1
        assert len(long) > 100
        # Whole nanoseconds of another clock: inside to within a microsecond.
        assert (long[:, 1] <= starts[place] + lengths[place] + 1000).mean() > 0.95


def _may_run_as_nobody(probe: str) -> bool:
    try:
        done = subprocess.run([probe, "--help"], capture_output=True, user=NOBODY, group=NOBODY, extra_groups=[])
    except PermissionError:
        return False
    return done.returncode == 0


def injected_for_half_a_second(folder: Path):
    """The summary of an injection, and the begins and lengths in its table of detours, ns."""
    folder.mkdir()
    files = ("--output", folder / "i.json", "--detours", folder / "detours.csv")
    words = ("--cpu", CORE, "--period-us", 2000, "--length-us", 50, "--seconds", 0.5, *files)
    done = subprocess.run(command("inject", None, *words), capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout)
    assert json.loads((folder / "i.json").read_text()) == summary
    return summary, *np.loadtxt(folder / "detours.csv", delimiter=",", skiprows=1, dtype=np.int64).T


def test_what_was_injected_is_in_the_summary_and_as_asked_for(tmp_path):
    off = []
    for attempt in range(4):  # a hypervisor may make most of them longer, or late
        truth, begins, lengths = injected_for_half_a_second(tmp_path / str(attempt))
        assert not truth["interrupted"]
        assert truth["injected"] == len(lengths)
        assert truth["injected"] + truth["missed"] == pytest.approx(250, abs=1)
        assert lengths.min() == pytest.approx(50_000, rel=0.01)
        assert truth["longest_ns"] == pytest.approx(lengths.max(), abs=1)
        assert truth["mean_length_ns"] == pytest.approx(lengths.mean(), abs=1)
        assert truth["median_length_ns"] == pytest.approx(np.sort(lengths)[len(lengths) // 2], abs=1)
        assert truth["median_gap_ns"] == pytest.approx(np.median(np.diff(begins)), rel=0.01)
        off.append((truth["median_length_ns"] / 50_000 - 1, truth["median_gap_ns"] / 2e6 - 1))
        if np.abs(off[-1]).max() < 0.01:
            return
    pytest.fail(f"lengths and gaps are off by {off}")
