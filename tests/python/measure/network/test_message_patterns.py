"""Patterns of messages are measured as programs have them; a machine is held against them by the simulator's rules."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_runs import run_command
from idlewave.errors import InputError, MeasurementError, UsageError
from idlewave.machine import Level, Machine, Parameters
from idlewave.measure.network.fitting.pattern_times import PATTERNS, pattern_time
from idlewave.measure.network.job.patterns import measure_patterns, read_patterns
from pattern_recordings import COLUMNS, ITEMS, SAMPLES, recorded, time_ns
from tracer_support import mpich, open_mpi

US = 10**6
L, O_S, O_R, GAP, G, BYTE = 5 * US, 2 * US, 2 * US, 3 * US, 1000, 100
MACHINE = Machine("known", Level(Parameters(L=L, o_s=O_S, o_r=O_R, g=GAP, G=G, O=BYTE)))


def one_way(size: int) -> int:
    """From the call of a send to the end of the receive; as O is below G, the CPUs copy what is on the way."""
    return O_S + L + (size - 1) * G + O_R


@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_a_ping_pong_takes_two_ways(size: int) -> None:
    assert pattern_time(MACHINE, "ping-pong", 1, size) == 2 * one_way(size)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("window", [1, 4, 64])
def test_a_stream_takes_the_gaps_between_its_messages_one_way_and_the_answer(window: int, size: int) -> None:
    between = max(GAP + (size - 1) * G, O_S + (size - 1) * BYTE)
    assert pattern_time(MACHINE, "stream", window, size) == (window - 1) * between + one_way(size) + one_way(1)


def test_both_directions_take_the_cpu_for_sends_and_receives() -> None:
    # Of one message each way: both send, and both receive when it comes; nothing overlaps with the CPU's other work.
    assert pattern_time(MACHINE, "both ways", 1, 1) == one_way(1)


def test_the_time_of_a_pattern_has_no_noise_in_it() -> None:
    noisy = Machine.named("odin").with_noise("2.5%@1kHz:poisson")
    assert pattern_time(noisy, "stream", 4, 8) == pattern_time(noisy.with_noise(None), "stream", 4, 8)


def test_an_unknown_pattern_is_refused() -> None:
    with pytest.raises(UsageError, match="one of the patterns ping-pong, stream, both ways, found ring"):
        pattern_time(MACHINE, "ring", 1, 1)


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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ((0, "pattern", 3), "pattern of sample 0: expected 0 to 2, found 3"),
        ((2, "window", 0), "window of sample 2: expected 1 to 4096, found 0"),
        ((1, "elapsed_ns", 0), "elapsed_ns of sample 1: expected 1 to"),
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


def test_a_recording_without_samples_or_with_an_unknown_pattern_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path, patterns=["ping-pong", "stream", "ring"])
    with pytest.raises(InputError, match="expected the patterns ping-pong, stream, both ways, found ring"):
        read_patterns(tmp_path)
    recorded(tmp_path)
    (tmp_path / "patterns.i64").write_bytes(b"")
    with pytest.raises(MeasurementError, match="no pattern was measured"):
        read_patterns(tmp_path)


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_each_pattern_window_and_size_is_measured_in_an_order_that_is_drawn(find, tmp_path: Path) -> None:
    found = measure_patterns(find(), seconds=0.3, max_size=4096, folder=tmp_path)
    counts = found.samples.groupby(["pattern", "window", "size"]).size()
    assert set(counts.index.get_level_values("pattern")) == set(PATTERNS)
    assert set(counts.index.get_level_values("window")) == {1, 4, 16, 64}
    assert set(counts.index.get_level_values("size")) == {1, 4, 16, 64, 256, 1024, 2048, 4096}
    assert counts.max() - counts.min() <= 1
    assert found.samples["at_ns"].is_monotonic_increasing
    first, second = (found.samples.iloc[i * len(counts) : (i + 1) * len(counts)] for i in range(2))
    assert first[["pattern", "window", "size"]].to_numpy().tolist() != (
        second[["pattern", "window", "size"]].to_numpy().tolist()
    )
    assert (tmp_path / "patterns.parquet").exists()
    large = found.table.set_index(["pattern", "window", "size"])["median_ps"]
    assert large["stream", 64, 4096] > large["stream", 16, 4096] > large["stream", 1, 4096]


def test_the_command_says_how_far_a_machine_is_off(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    recorded(tmp_path / "raw")
    done = run_command(["measure", "patterns", "--from", "raw", "-m", "odin", "--plot", "p.png"], tmp_path)
    assert done.status == 0, done.complained
    assert "the simulation is within 5% on" in done.printed
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    said = json.loads(run_command(["measure", "patterns", "--from", "raw", "-m", "odin", "--json"], tmp_path).printed)
    assert [row["pattern"] for row in said["patterns"]] == [PATTERNS[pattern] for pattern, _, _ in ITEMS]
    plain = json.loads(run_command(["measure", "patterns", "--from", "raw", "--json"], tmp_path).printed)
    assert "error" not in plain["patterns"][0]
