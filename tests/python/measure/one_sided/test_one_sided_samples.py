"""Samples of one-sided communication become times with intervals, rates of floods, and shares that hide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from idlewave import mpi
from idlewave.errors import InputError, MeasurementError, UsageError
from idlewave.measure.one_sided import measure_one_sided, read_one_sided
from idlewave.measure.one_sided.libraries import BACK_ENDS, choose
from idlewave.measure.one_sided.samples import COLUMNS, FLOOD, INTERRUPTED, OVERLAP, PUT, SHARED
from one_sided_recordings import NETWORK, SAMPLES, SIZES, USUAL, epochs_recorded, recorded, rows_of, write


def test_a_row_has_the_median_of_one_repetition_and_its_interval(tmp_path: Path) -> None:
    write(tmp_path, rows_of(USUAL, scatter=0.1), [*USUAL])
    table = read_one_sided(tmp_path).table
    puts = table[table["operation"] == PUT]
    assert puts["size"].tolist() == list(SIZES)
    assert (puts["samples"] == SAMPLES).all()
    assert puts["median_ps"].to_numpy() == pytest.approx([NETWORK.put(max(s - 1, 0)) for s in SIZES], rel=0.15)
    assert (puts["low_ps"] < puts["median_ps"]).all()
    assert (puts["median_ps"] < puts["high_ps"]).all()


def test_what_differs_between_epochs_widens_the_intervals(tmp_path: Path) -> None:
    for epoch in (1, 2, 3):
        rows = rows_of({"rma": [(0, NETWORK)]})
        for row in rows:
            row[6] = row[6] * (10 + epoch) // 10
        write(tmp_path / f"epoch-{epoch}", rows, ["rma"])
    found = read_one_sided(tmp_path)
    assert found.samples["epoch"].unique().tolist() == [1, 2, 3]
    put = found.table[(found.table["operation"] == PUT) & (found.table["size"] == 1024)].iloc[0]
    half = 4.302653 * np.std([1.1, 1.2, 1.3], ddof=1) * np.sqrt(2 / 3) * NETWORK.put(1023)
    assert put["median_ps"] == pytest.approx(1.2 * NETWORK.put(1023), rel=1e-6)
    assert put["high_ps"] - put["median_ps"] == pytest.approx(half, rel=1e-4)


def test_a_flood_has_a_bandwidth_and_a_rate_of_messages(tmp_path: Path) -> None:
    recorded(tmp_path)
    floods = read_one_sided(tmp_path).floods
    own = floods[(floods["back_end"] == "rma") & (floods["size"] == 1024)].iloc[0]
    seconds = (63 * NETWORK.gap(1023) + NETWORK.put(1023)) * 1e-12
    assert own["messages_per_s"] == pytest.approx(64 / seconds)
    assert own["bandwidth"] == pytest.approx(64 * 1024 / seconds)
    assert floods["size"].tolist() == [*SIZES, *SIZES]  # in order, whatever the windows


def test_the_bytes_of_all_links_count(tmp_path: Path) -> None:
    rows = rows_of({"rma": [(0, NETWORK)]})
    more = [[*row[:2], 2, *row[3:]] for row in rows if row[1] == 11]  # floods
    write(tmp_path, [*rows, *more], ["rma"], shared_cpus=True)
    found = read_one_sided(tmp_path)
    own = found.floods[found.floods["size"] == 64].set_index("links")
    assert own["bandwidth"].loc[2] == pytest.approx(2 * own["bandwidth"].loc[1])
    assert SHARED in found.notes


@pytest.mark.parametrize("hidden", [0.0, 0.25, 1.0])
def test_the_share_of_a_computation_that_hides_is_that_by_which_both_together_are_shorter(
    hidden: float, tmp_path: Path
) -> None:
    write(tmp_path, rows_of(USUAL, hidden=hidden), [*USUAL])
    shares = read_one_sided(tmp_path).overlaps
    assert set(shares["back_end"]) == {"mpi", "rma"}
    assert shares["hidden"].to_numpy() == pytest.approx(hidden, abs=1e-5)


def test_only_an_overlap_has_a_share_that_hides(tmp_path: Path) -> None:
    recorded(tmp_path)
    table = read_one_sided(tmp_path).table
    assert set(table.loc[table["hidden"].notna(), "operation"]) == {OVERLAP, "overlap of a get"}


def test_disturbed_samples_do_not_count_where_there_are_others(tmp_path: Path) -> None:
    rows = rows_of({"rma": [(0, NETWORK)]})
    for row in rows[::SAMPLES]:
        row[6], row[10] = row[6] * 100, 1
    write(tmp_path, rows, ["rma"])
    table = read_one_sided(tmp_path).table
    assert (table["samples"] == SAMPLES - 1).all()
    assert table.loc[table["operation"] == FLOOD, "high_ps"].iloc[0] < 100 * NETWORK.put(0)
    for row in rows:
        row[10] = 1
    write(tmp_path, rows, ["rma"])
    assert (read_one_sided(tmp_path).table["samples"] == SAMPLES).all()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("back_end", 9), "back_end of sample 3: expected 0 to 1, found 9"),
        (("operation", 15), "operation of sample 3: expected 0 to 14, found 15"),
        (("elapsed_ns", 0), "elapsed_ns of sample 3: expected 1 to"),
        (("links", 0), "links of sample 3: expected 1 to"),
        (("alone_ns", -1), "alone_ns of sample 3: expected 0 to"),
    ],
)
def test_a_sample_that_cannot_be_is_refused_by_its_number(
    tmp_path: Path, change: tuple[str, int], expected: str
) -> None:
    rows = rows_of(USUAL)
    column, value = change
    rows[3][COLUMNS.index(column)] = value
    write(tmp_path, rows, [*USUAL])
    with pytest.raises(InputError, match=expected):
        read_one_sided(tmp_path)


def test_a_recording_of_nothing_or_of_something_unknown_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [], ["rma"])
    with pytest.raises(MeasurementError, match="nothing was measured"):
        read_one_sided(tmp_path)
    write(tmp_path, rows_of(USUAL), ["mpi", "portals"])
    with pytest.raises(InputError, match=r"expected the back_ends mpi, rma, .*gasnet, found portals"):
        read_one_sided(tmp_path)


def test_an_interrupted_measurement_says_so(tmp_path: Path) -> None:
    epochs_recorded(tmp_path, USUAL, epochs=2)
    recorded(tmp_path / "epoch-3", interrupted=True)
    assert INTERRUPTED in read_one_sided(tmp_path).notes


HERE = mpi.Mpi(Path("/nowhere/mpiexec"), Path("/nowhere/mpicc"), Path("/nowhere/mpicxx"), mpi.OPEN_MPI, "0")


@pytest.mark.parametrize(
    ("wanted", "gasnet", "said"),
    [
        (["mpi", "shmen"], None, "no back end is called 'shmen': did you mean 'shmem'"),
        (["shmem"], None, "back end shmem is not there: the Open MPI of /nowhere/mpicxx has no OpenSHMEM"),
        (["gasnet"], None, "name it with --gasnet or IDLEWAVE_GASNET"),
        (["gasnet"], "/nowhere", "'/nowhere' has no GASNet-EX .*ibv, ofi, ucx or mpi"),
    ],
)
def test_a_back_end_that_is_wanted_and_not_there_is_refused_with_the_reason(
    wanted: list[str], gasnet: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDLEWAVE_GASNET", raising=False)
    with pytest.raises(UsageError, match=said):
        choose(HERE, wanted, gasnet)


def test_one_that_is_not_wanted_by_name_is_left_out_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "build_one_sided", lambda *_: Path("probe"))
    chosen = choose(HERE, None, "/nowhere")
    assert chosen.names == ("mpi", "rma")
    assert [note.split(" is left out")[0] for note in chosen.notes] == [
        f"The back end {name}" for name in BACK_ENDS[2:]
    ]


def test_two_hosts_have_a_rank_each() -> None:
    with pytest.raises(UsageError, match="expected 2 ranks, found 3"):
        measure_one_sided(HERE, hosts=["a", "b"], ranks=3)
