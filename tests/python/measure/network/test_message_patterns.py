"""Patterns of messages are measured as programs have them; a machine is held against them by the simulator's rules."""

from __future__ import annotations

import json
import os
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from command_runs import run_command
from idlewave.errors import InputError, MeasurementError, UsageError
from idlewave.machine import Level, Machine, Parameters
from idlewave.measure.network.fitting.pattern_assessment import error_summary
from idlewave.measure.network.fitting.pattern_times import (
    AFTER,
    PATTERNS,
    PEERS,
    PatternItem,
    PatternPrograms,
    _schedule,
    pattern_time,
)
from idlewave.measure.network.job.patterns import SHARED, measure_patterns, read_patterns
from idlewave.simulation import simulate
from long_cases import most_long
from pattern_recordings import COLUMNS, COMPUTED_NS, ITEMS, SAMPLES, recorded, time_ns, write
from tracer_support import mpich, open_mpi

US = 10**6
L, O_S, O_R, GAP, G, BYTE = 5 * US, 2 * US, 2 * US, 3 * US, 1000, 100
KNOWN = Parameters(L=L, o_s=O_S, o_r=O_R, g=GAP, G=G, O_s=BYTE, O_r=BYTE)
MACHINE = Machine("known", Level(KNOWN))
COMPLETION = 4 * US
COMPLETING = Machine("completing", Level(Parameters(L=L, o_s=O_S, o_r=O_R, g=GAP, c=COMPLETION)))


def one_way(size: int) -> int:
    """From the call of a send to the end of the receive; as O is below G, the CPUs copy what is on the way."""
    return O_S + L + (size - 1) * G + O_R


def time_of(pattern: str, window: int, size: int, machine: Machine = MACHINE, delay_ns: int = 0) -> float:
    return pattern_time(machine, PatternItem(pattern, window, size, delay_ns))


@pytest.mark.parametrize("pattern", ["ping-pong", "posted in advance", "cold buffers"])
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_a_ping_pong_takes_two_ways_however_early_its_receives_are_posted(pattern: str, size: int) -> None:
    assert time_of(pattern, 1, size) == 2 * one_way(size)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("window", [1, 4, 64])
def test_a_stream_takes_the_gaps_between_its_messages_one_way_and_the_answer(window: int, size: int) -> None:
    between = max(GAP + (size - 1) * G, O_S + (size - 1) * BYTE)
    assert time_of("stream", window, size) == (window - 1) * between + one_way(size) + one_way(1)


def test_blocking_sends_wait_for_their_completion_and_those_of_a_stream_wait_once() -> None:
    # A send has the CPU for o_s = 2 µs and ends 4 µs later; the gap of 3 µs is hidden behind that, or not.
    assert time_of("blocking stream", 4, 1, COMPLETING) == 3 * (O_S + COMPLETION) + 2 * one_way(1)
    assert time_of("stream", 4, 1, COMPLETING) == 3 * GAP + 2 * one_way(1)


def test_both_directions_take_the_cpu_for_sends_and_receives() -> None:
    # Of one message each way: both send, and both receive when it comes; nothing overlaps with the CPU's other work.
    assert time_of("both ways", 1, 1) == one_way(1)


def test_a_late_receiver_receives_when_it_has_computed() -> None:
    # The server's round: answer, computation, reception; the message has come by then.
    assert time_of("late receivers", 1, 1, delay_ns=100_000) == 100 * US + O_R + O_S


def test_many_patterns_are_simulated_at_once_and_do_not_disturb_each_other() -> None:
    items = [PatternItem("stream", 4, 8), PatternItem("ping-pong", 1, 1000), PatternItem("both ways", 16, 1)]
    items += [PatternItem("stream", window, 8) for window in (16, 64)]  # begin as the first one does
    assert PatternPrograms(items).times(MACHINE).tolist() == [pattern_time(MACHINE, item) for item in items]


def test_the_time_of_a_pattern_has_no_noise_in_it() -> None:
    noisy = Machine.named("odin").with_noise("2.5%@1kHz:poisson")
    assert time_of("stream", 4, 8, noisy) == time_of("stream", 4, 8, noisy.with_noise(None))


@pytest.mark.parametrize("size", [1, 1000])
def test_several_peers_cost_each_rank_the_cpu_of_all_its_messages(size: int) -> None:
    assert time_of("several peers", 1, size) == time_of("both ways", 1, size) == one_way(size)
    cpu_alone = Machine("cpu", Level(Parameters(L=0, o_s=O_S, o_r=O_R, g=0)))
    assert time_of("several peers", 4, size, cpu_alone) == 4 * (O_S + O_R)
    assert time_of("several peers", 4, size) == time_of("both ways", 4, size)


def test_the_time_of_a_repetition_is_that_of_a_long_loop() -> None:
    """A short first repetition leaves the ranks as a long one does, also where receives take the CPU."""
    posting = Machine("posting", Level(Parameters(L=L, o_s=O_S, o_r=O_R, g=GAP, G=10, o_p=US, c=COMPLETION)))
    items = [
        PatternItem(name, window, 64) for name in ("stream", "both ways", "blocking stream") for window in (16, 64)
    ]
    for item, time in zip(items, PatternPrograms(items).times(posting), strict=True):
        loops = [_schedule([item], [[item.window] * times])[0] for times in (4, 5)]
        four, five = (int(simulate(schedule, posting).finish[0]) for schedule in loops)
        assert time == five - four


def test_an_unknown_pattern_is_refused() -> None:
    with pytest.raises(UsageError, match=r"one of the patterns ping-pong, stream, .*, found ring"):
        time_of("ring", 1, 1)


def test_a_recording_gives_the_median_of_a_repetition_and_the_error_of_a_machine(tmp_path: Path) -> None:
    recorded(tmp_path)
    table = read_patterns(tmp_path).compared(MACHINE)
    assert [tuple(row) for row in table[["pattern", "window", "size"]].to_numpy()] == [
        (PATTERNS[pattern], window, size) for pattern, window, size in ITEMS
    ]
    assert table["median_ps"].tolist() == [1000 * time_ns(*item) for item in ITEMS]
    assert (table["samples"] == SAMPLES).all()
    assert (table["low_ps"] < table["median_ps"]).all()
    assert (table["median_ps"] < table["high_ps"]).all()
    assert table["error"].iloc[0] == pytest.approx(2 * one_way(1) / (1000 * time_ns(*ITEMS[0])) - 1)


def test_the_recordings_of_several_epochs_are_one_measurement(tmp_path: Path) -> None:
    for epoch in (1, 2, 10):
        recorded(tmp_path / f"epoch-{epoch}", interrupted=epoch == 10)
    found = read_patterns(tmp_path)
    assert found.samples["epoch"].value_counts().to_dict() == dict.fromkeys((1, 2, 3), SAMPLES * len(ITEMS))
    assert (found.table["samples"] == 3 * SAMPLES).all()
    assert any("interrupted" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ((0, "pattern", 9), "pattern of sample 0: expected 0 to 8, found 9"),
        ((2, "window", 0), "window of sample 2: expected 1 to 4096, found 0"),
        ((1, "elapsed_ns", 0), "elapsed_ns of sample 1: expected 1 to"),
        ((1, "pilot_after_ns", -1), "pilot_after_ns of sample 1: expected 0 to"),
    ],
)
def test_a_sample_that_cannot_be_is_refused_by_its_number(
    tmp_path: Path, change: tuple[int, str, int], expected: str
) -> None:
    recorded(tmp_path)
    rows = np.fromfile(tmp_path / "patterns.i64", dtype="<i8").reshape(-1, len(COLUMNS))
    row, column, value = change
    rows[row, COLUMNS.index(column)] = value
    rows.tofile(tmp_path / "patterns.i64")
    with pytest.raises(InputError, match=expected):
        read_patterns(tmp_path)


def test_a_reference_computation_that_cannot_be_is_refused_by_its_sample(tmp_path: Path) -> None:
    write(tmp_path, [(0, 1, 1, 4, 0, 100, 0, 0, 200, 200, 670, reference_ns) for reference_ns in (670, -1)])
    with pytest.raises(InputError, match="reference_after_ns of sample 1: expected 0 to"):
        read_patterns(tmp_path)


def test_a_recording_without_samples_or_with_an_unknown_pattern_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path, patterns=["ping-pong", "stream", "blocking stream", "ring"])
    with pytest.raises(InputError, match=r"expected the patterns ping-pong, stream, .*, found ring"):
        read_patterns(tmp_path)
    recorded(tmp_path)
    (tmp_path / "patterns.i64").write_bytes(b"")
    with pytest.raises(MeasurementError, match="no pattern was measured"):
        read_patterns(tmp_path)


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.parametrize("find", most_long([open_mpi, mpich], 1))
def test_each_pattern_window_and_size_is_measured_in_an_order_that_is_drawn(find, tmp_path: Path) -> None:
    found = measure_patterns(find(), seconds=3, epochs=2, ranks=2, max_size=2048, changes=[257], folder=tmp_path)
    assert found.samples["epoch"].unique().tolist() == [1, 2]
    own = found.samples[found.samples["epoch"] == 1]
    counts = own.groupby(["pattern", "window", "size", "delay_ns"]).size()
    assert set(counts.index.get_level_values("pattern")) == set(PATTERNS) - {PEERS}
    assert set(counts.index.get_level_values("window")) == {1, 4, 16, 64}
    assert set(counts.index.get_level_values("size")) == {1, 4, 16, 64, 128, 256, 257, 512, 1024, 2048}
    assert own["at_ns"].is_monotonic_increasing
    items = list(zip(own["pattern"], own["window"], own["size"], own["delay_ns"], strict=True))
    taken = [(item, len(list(samples))) for item, samples in groupby(items)]  # again at once, if a core was shared
    assert max(tries for _, tries in taken) <= 2 * 6  # an item can end a round and begin the next one
    order = [item for item, _ in taken]
    first, second = order[: len(counts)], order[len(counts) :]
    assert sorted(first) == sorted(counts.index)
    quick = [item for item in counts.index if item[0] not in (AFTER, "late receivers")]
    assert second
    assert set(second[: len(quick) - 1]) <= set(quick)  # every second round has no others
    assert first[:20] != second[:20]
    beside = ["pilot_before_ns", "pilot_after_ns", "reference_before_ns", "reference_after_ns"]
    assert (found.samples[beside] > 0).all(axis=None)
    assert (found.samples.loc[found.samples["pattern"] == "late receivers", "delay_ns"] >= 2000).all()
    after = found.samples[found.samples["pattern"] == AFTER].groupby("delay_ns")["elapsed_ns"]
    assert tuple(after.groups) == COMPUTED_NS
    assert after.median().iloc[-1] < after.median().index[-1]  # the computation is not in it
    if not found.probe["shared_cpus"]:
        assert after.min().iloc[0] < after.min().iloc[-1]  # cold caches
    assert (tmp_path / "patterns.parquet").exists()
    large = found.samples[found.samples["size"] == 2048]
    times = (large["elapsed_ns"] / large["repetitions"]).groupby([large["pattern"], large["window"]]).median()
    assert times["stream", 64] > times["stream", 16] > times["stream", 1]


@pytest.mark.alone
@pytest.mark.mpi
def test_windows_and_peers_have_at_most_8_mib_on_the_way(tmp_path: Path) -> None:
    found = measure_patterns(open_mpi(), seconds=0.1, epochs=1, ranks=3, max_size=4 << 20, folder=tmp_path)
    several = found.samples[found.samples["window"] > 1]
    largest = several.groupby(["pattern", "window"])["size"].max()
    assert largest["stream"].to_dict() == {4: 2 << 20, 16: 512 << 10, 64: 128 << 10}
    assert largest[PEERS].to_dict() == {2: 4 << 20}
    assert (several["window"] * several["size"]).max() == 8 << 20


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_each_of_more_ranks_exchanges_with_several_others_at_once(find, tmp_path: Path) -> None:
    found = measure_patterns(find(), seconds=0.1, epochs=1, ranks=4, max_size=16, folder=tmp_path)
    own = found.samples[found.samples["pattern"] == PEERS]
    assert set(zip(own["window"], own["size"], strict=True)) == {
        (peers, size) for peers in (1, 2) for size in (1, 4, 16)
    }
    assert found.shares_cpus == (len(os.sched_getaffinity(0)) < 4)
    assert found.shares_cpus == any("shared CPUs" in note for note in found.notes)
    assert np.isfinite(found.compared(MACHINE)["error"]).all()


def test_the_errors_on_several_peers_are_said_apart(tmp_path: Path) -> None:
    rows = [(PATTERNS.index(PEERS), 2, 1, 4, 0, 4 * 10_000 + i, i, 0, 200, 200) for i in range(SAMPLES)]
    recorded(tmp_path)
    kept = np.fromfile(tmp_path / "patterns.i64", dtype="<i8").reshape(-1, len(COLUMNS))
    write(tmp_path, [*kept.tolist(), *rows], shared_cpus=True)
    found = read_patterns(tmp_path)
    assert SHARED in found.notes
    assert "Of several peers at once" in error_summary(found.compared(MACHINE))
    write(tmp_path, [*kept.tolist(), *rows])
    assert SHARED not in read_patterns(tmp_path).notes


def test_two_hosts_have_a_rank_each() -> None:
    with pytest.raises(UsageError, match="expected 2 ranks, found 3"):
        measure_patterns(hosts=["a", "b"], ranks=3)


def test_the_command_says_how_far_a_machine_is_off(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    recorded(tmp_path / "raw")
    done = run_command(["measure", "patterns", "--from", "raw", "-m", "odin", "--plot", "p.png"], tmp_path)
    assert done.status == 0, done.complained
    assert "The simulation is within 5.0 % on" in done.printed
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    said = json.loads(run_command(["measure", "patterns", "--from", "raw", "-m", "odin", "--json"], tmp_path).printed)
    assert [row["pattern"] for row in said["patterns"]] == [PATTERNS[pattern] for pattern, _, _ in ITEMS]
    plain = json.loads(run_command(["measure", "patterns", "--from", "raw", "--json"], tmp_path).printed)
    assert "error" not in plain["patterns"][0]
