"""The clocks of a job: planted offsets and drifts are found within the error that is reported."""

from __future__ import annotations

import json
import math
import signal
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from clock_recordings import recorded, synthetic
from idlewave import mpi
from idlewave.cli.measure_clocks_command import clocks as command
from idlewave.errors import InputError, MeasurementError, UsageError
from idlewave.measure.network.job.clocks import fit_line, fit_lines, measure_clocks, read_clocks
from tracer_support import mpich, open_mpi

PLANTED = {1: (1_000_000_000, 20.0), 2: (-3_000_000, -5.0), 3: (77, 0.1)}
"""How far a rank's clock is ahead when the probe begins, ns, and how much faster it runs, ppm."""


def skewed(folder: Path) -> Path:
    file = folder / "skew"
    lines = [f"{rank} {ahead} {ppm}" for rank, (ahead, ppm) in PLANTED.items()]
    file.write_text("\n".join(["# rank, ahead, drift", *lines]) + "\n")
    return file


def truth(rank: int, begin_ns: int, at_ns: int) -> tuple[float, float]:
    """Offset (ns) and drift (ppm) to rank 0 when the planted clock of a rank shows `at_ns`."""
    ahead, ppm = PLANTED[rank]
    rate = ppm * 1e-6
    since = (at_ns - begin_ns - ahead) / (1 + rate)
    return -ahead - rate * since, 1e6 * (1 / (1 + rate) - 1)


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.parametrize(("find", "ranks"), [(open_mpi, 4), (mpich, 2)])
def test_planted_clocks_are_found_within_the_bounds_that_are_reported(tmp_path: Path, find, ranks: int) -> None:
    found = measure_clocks(ranks, find(), seconds=2, bursts=20, skew=skewed(tmp_path), folder=tmp_path / "out")
    assert sorted(found.lines) == list(range(1, ranks))
    for rank, line in found.lines.items():
        offset, drift = truth(rank, found.probe["begin_ns"], line.at_ns)
        assert line.offset_low <= offset <= line.offset_high
        assert line.drift_low - 1e-3 <= drift <= line.drift_high + 1e-3
        assert 3 <= line.kept <= line.bursts <= 20
    assert found.probe["skewed"]


@pytest.mark.alone
@pytest.mark.mpi
def test_what_is_left_of_a_corrected_time_is_below_the_reported_error(tmp_path: Path) -> None:
    found = measure_clocks(3, open_mpi(), seconds=1, bursts=10, skew=skewed(tmp_path))
    for rank, line in found.lines.items():
        bursts = found.bursts[found.bursts["rank"] == rank]
        for at in (bursts["at_ns"].min(), bursts["at_ns"].max()):
            true, _ = truth(rank, found.probe["begin_ns"], int(at))
            left = abs(float(line.offset_at(np.array([at]))[0]) - true)
            assert left <= line.worst_ns + bursts["error_ns"].max()


@pytest.mark.alone
@pytest.mark.mpi
def test_ranks_of_one_host_show_the_methods_own_error(tmp_path: Path) -> None:
    found = measure_clocks(2, open_mpi(), seconds=0.5, bursts=5, folder=tmp_path)
    assert "rank 0's own clock" in found.notes[0]
    assert abs(found.lines[1].offset_ns) < 1e6
    assert found.lines[1].offset_low <= 0 <= found.lines[1].offset_high


@pytest.mark.mpi
def test_one_rank_a_host_is_enough_where_a_host_has_one_clock(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="no rank's clock"):
        measure_clocks(2, open_mpi(), seconds=0.2, bursts=3, one_a_host=True, folder=tmp_path)


@pytest.mark.mpi
def test_an_interrupt_keeps_the_bursts(tmp_path: Path) -> None:
    use = open_mpi()
    # Open MPI's launcher gives its ranks a second from SIGTERM on.
    program = mpi.build(use, "clocks")
    process = subprocess.Popen(
        [use.mpiexec, "-n", "2", program, "--output", tmp_path, "--seconds", "60", "--bursts", "600"],
        stdout=subprocess.PIPE, text=True, env=use.environment(),
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(4):
        assert process.stdout.readline().startswith("progress")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    found = read_clocks(tmp_path)
    assert found.lines[1].bursts >= 4
    assert any("interrupted" in note for note in found.notes)


@pytest.mark.mpi
def test_a_line_of_the_skew_is_refused_with_its_number(tmp_path: Path) -> None:
    file = tmp_path / "skew"
    file.write_text("1 5 0.5\n1 fast\n")
    with pytest.raises(MeasurementError, match=r"skew:2: expected RANK AHEAD_NS DRIFT_PPM, found '1 fast'"):
        measure_clocks(2, open_mpi(), seconds=0.2, skew=file)


@pytest.mark.parametrize("seed", range(20))
def test_a_line_is_found_through_disturbed_bursts(seed: int) -> None:
    at, offset, error, true_offset, true_drift = synthetic(seed)
    line = fit_line(at, offset, error)
    middle = true_offset + true_drift * 1e-6 * (line.at_ns - 10**15 - 5 * 10**9)
    assert line.offset_low <= middle <= line.offset_high
    assert line.drift_low <= true_drift <= line.drift_high
    assert abs(line.offset_ns - middle) < 5 * line.offset_se
    assert abs(line.drift_ppm - true_drift) < 5 * line.drift_se
    assert line.kept < line.bursts


def test_a_path_that_is_slower_in_one_direction_is_within_the_bounds_though_not_within_the_interval() -> None:
    at, offset, error, true_offset, true_drift = synthetic(1, slow_way=900.0)
    line = fit_line(at, offset, error)
    middle = true_offset + true_drift * 1e-6 * (line.at_ns - 10**15 - 5 * 10**9)
    assert abs(line.offset_ns - middle) > 5 * line.offset_se
    assert line.offset_low <= middle <= line.offset_high


def test_the_offsets_of_all_ranks_are_at_one_instant_however_far_apart_their_clocks_and_bursts_are() -> None:
    begun, count = 10**15, 40
    drifts, ahead = {1: 20e-6, 2: -30e-6, 3: 0.0}, {1: 10**9, 2: -(10**13), 3: 5}
    rank = np.repeat([1, 2, 3], count)
    rank0 = begun + np.tile(np.arange(count) * 250_000_000, 3) + rank * 10_000_000
    rank0 = rank0[chosen := (rank != 3) | (rank0 < begun + 4 * 10**9)]  # rank 3 was visited in the first half only
    rank = rank[chosen]
    own = [t + ahead[r] + round(drifts[r] * (t - begun)) for r, t in zip(rank.tolist(), rank0.tolist(), strict=True)]
    bursts = pd.DataFrame({"rank": rank, "offset_ns": rank0 - np.array(own), "error_ns": 100, "at_ns": own})
    half_way = (int(rank0.min()) + int(rank0.max())) / 2
    for r, line in fit_lines(bursts).items():
        assert line.at_ns + line.offset_ns == pytest.approx(half_way, rel=0, abs=5_000)
        assert line.offset_ns == pytest.approx(-ahead[r] - drifts[r] * (half_way - begun), rel=0, abs=2)


def test_a_clock_that_is_set_meanwhile_has_no_line_within_its_bounds() -> None:
    at, offset, error, _, _ = synthetic(2)
    offset[30:] += 1_000_000
    line = fit_line(at, offset, error)
    assert math.isnan(line.drift_low)


def test_a_recording_that_was_cut_off_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    recorded(tmp_path, interrupted=True)
    file = tmp_path / "clocks-bursts.i64"
    file.write_bytes(file.read_bytes()[:-20])
    found = read_clocks(tmp_path)
    assert found.lines[1].bursts == 59
    assert any("interrupted" in note for note in found.notes)


def test_three_bursts_of_which_two_are_narrow_do_not_make_an_exact_line() -> None:
    at = np.array([0, 10**9, 2 * 10**9])
    line = fit_line(at, np.array([0, 40, 900]), np.array([100, 100, 5000]))
    assert line.kept == 3
    assert line.offset_se > 10
    assert line.drift_se > 0.01


def test_offsets_in_whole_nanoseconds_are_not_known_to_less_than_their_rounding() -> None:
    at = np.arange(5) * 10**9
    line = fit_line(at, np.array([7, 7, 7, 7, 7]), np.full(5, 100))
    assert line.offset_se >= math.sqrt(1 / 12 / 5)
    assert line.drift_se > 0


def rewrite(folder: Path, column: int, value: int) -> None:
    file = folder / "clocks-bursts.i64"
    rows = np.fromfile(file, "<i8").reshape(-1, 8)
    rows[:, column] = value
    rows.tofile(file)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (4, 10**15, "expected bursts at different times, found two of rank 1"),
        (0, 2, "expected bursts of the ranks 1 to 1, found one of rank 2"),
        (0, -1, "found one of rank -1"),
    ],
)
def test_bursts_that_cannot_be_are_refused_with_their_place(tmp_path: Path, column: int, value: int, said: str) -> None:
    recorded(tmp_path)
    rewrite(tmp_path, column, value)
    with pytest.raises(InputError, match=said) as raised:
        read_clocks(tmp_path)
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tables": {"bursts": {"file": "clocks-bursts.i64", "columns": []}}}, "columns: expected a list of 1 to 64"),
        ({"tables": {"bursts": {"file": "clocks-bursts.i64", "columns": ["rank"]}}}, "lacks the columns offset_ns"),
        ({"tables": {"bursts": {"file": "clocks-bursts.i64", "columns": "rank"}}}, "columns: expected a list"),
        ({"ranks": [{"host": "a"}, {}]}, r"ranks\[1\].host: expected a text, found nothing"),
        ({"ranks": ["a", "b"]}, r"ranks\[0\]: expected a JSON object"),
    ],
)
def test_a_summary_that_does_not_describe_its_table_is_refused(tmp_path: Path, changes, said: str) -> None:
    recorded(tmp_path, **changes)
    with pytest.raises(InputError, match=said):
        read_clocks(tmp_path)


def test_where_clocks_were_measured_is_read_from_beside_the_recording(tmp_path: Path) -> None:
    recorded(tmp_path)
    assert read_clocks(tmp_path).environment is None
    (tmp_path / "environment.json").write_text('{"host": "there"}')
    assert read_clocks(tmp_path).environment == {"host": "there"}
    (tmp_path / "environment.json").write_text("[]")
    with pytest.raises(InputError, match=r"environment\.json: expected a JSON object"):
        read_clocks(tmp_path)


def test_what_is_no_recording_is_refused_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"clocks\.json: cannot be read"):
        read_clocks(tmp_path)
    (tmp_path / "clocks.json").write_text("[")
    with pytest.raises(InputError, match=r"clocks\.json: expected JSON"):
        read_clocks(tmp_path)
    recorded(tmp_path, probe="pairs")
    with pytest.raises(InputError, match="expected what the probe of clocks writes"):
        read_clocks(tmp_path)
    recorded(tmp_path, tables={})
    with pytest.raises(InputError, match=r"clocks\.json: tables.bursts: expected a JSON object, found nothing"):
        read_clocks(tmp_path)


def test_one_rank_has_no_other_clock() -> None:
    with pytest.raises(UsageError, match="at least 2 ranks, found 1"):
        measure_clocks(1, open_mpi())


def test_the_command_shows_a_recording_as_table_json_and_plot(tmp_path: Path) -> None:
    recorded(tmp_path)
    picture = tmp_path / "clocks.png"
    done = CliRunner().invoke(command, ["--from", str(tmp_path), "--json", "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["clocks"][0]["rank"] == 1
    assert said["clocks"][0]["drift_low_ppm"] <= said["clocks"][0]["drift_ppm"] <= said["clocks"][0]["drift_high_ppm"]
    line = read_clocks(tmp_path).lines[1]
    assert (said["clocks"][0]["at_ns"], said["clocks"][0]["offset_ns"]) == (line.at_ns, line.offset_ns)
    assert picture.stat().st_size > 5000
    shown = CliRunner().invoke(command, ["--from", str(tmp_path)])
    assert shown.exit_code == 0
    assert "drift" in shown.output
    assert "at_ns" in shown.output
