"""The parameters of puts follow from the times of puts, calls and floods; a put costs by them what it was measured to
cost."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from idlewave.errors import MeasurementError
from idlewave.measure.one_sided import OneSidedFit, fit_one_sided, read_one_sided
from idlewave.measure.one_sided.samples import FLOOD
from long_cases import most_long
from one_sided_recordings import (
    MEMORY,
    MESSAGES,
    NETWORK,
    SIZES,
    USUAL,
    Known,
    Machine,
    epochs_recorded,
    recorded,
    rows_of,
    write,
)

DEAR = Known(o=2_000_000, L=3_000_000, g=2_500_000, G=30.0, O=5.0)


def fit(folder: Path, machine: Machine, back_end: str = "rma") -> OneSidedFit:
    recorded(folder, machine)
    return fit_one_sided(read_one_sided(folder), back_end)


def errors(found: OneSidedFit, series: str) -> list[float]:
    return found.table.loc[found.table["series"] == series, "error"].tolist()


@pytest.mark.parametrize("known", [NETWORK, replace(NETWORK, O=0.0), replace(NETWORK, L=2_000_000, g=1_500_000)])
def test_the_parameters_of_a_network_are_found_exactly(known: Known, tmp_path: Path) -> None:
    (only,) = fit(tmp_path, {"rma": [(0, known)]}).ranges
    assert only.first == 0
    assert (only.o, only.L, only.g) == (known.o, known.L, known.g)
    per_byte = (only.G, only.O)
    assert per_byte == pytest.approx((known.G, known.O), rel=1e-4, abs=1e-3)


def test_those_of_messages_have_the_cpu_at_both_ends(tmp_path: Path) -> None:
    found = fit(tmp_path, USUAL, "mpi")
    (only,) = found.ranges
    assert (only.o, only.L, only.g) == (MESSAGES.o, MESSAGES.L, MESSAGES.g)
    p = found.level.parameters
    assert (p.o_s, p.o_r, p.L, p.g) == (MESSAGES.o, MESSAGES.o, MESSAGES.L, MESSAGES.g)
    assert (p.G, p.O_s, p.O_r) == pytest.approx((MESSAGES.G, MESSAGES.O, MESSAGES.O), rel=1e-4)


@pytest.mark.parametrize("back_end", ["mpi", "rma"])
def test_an_epoch_in_which_nothing_counts_gives_no_interval_and_no_error(back_end: str, tmp_path: Path) -> None:
    epochs_recorded(tmp_path, USUAL)
    found = read_one_sided(tmp_path)
    of_second = (found.samples["epoch"] == found.samples["epoch"].unique()[1]) & (found.samples["operation"] == FLOOD)
    less = replace(found, samples=found.samples[~of_second])
    assert len(less.samples) < len(found.samples)
    (whole,), (without,) = fit_one_sided(found, back_end).ranges, fit_one_sided(less, back_end).ranges
    assert (without.o, without.L) == pytest.approx((whole.o, whole.L), rel=0.1)
    assert set(without.intervals) == set(whole.intervals)
    with pytest.raises(MeasurementError, match=f"{FLOOD}s of {back_end} were not measured"):
        fit_one_sided(replace(found, samples=found.samples[found.samples["operation"] != FLOOD]), back_end)


def test_a_protocol_that_changes_has_a_range_of_its_own(tmp_path: Path) -> None:
    found = fit(tmp_path, {"rma": [(0, NETWORK), (4096, DEAR)]})
    assert [r.first for r in found.ranges] == [0, 4096]
    assert found.ranges[0].L == NETWORK.L
    assert (found.ranges[1].o, found.ranges[1].L, found.ranges[1].g) == (DEAR.o, DEAR.L, DEAR.g)
    assert max(map(abs, errors(found, "transfer"))) < 1e-4


def test_a_put_through_shared_memory_is_the_copy_of_the_cpu_and_hardly_a_way(tmp_path: Path) -> None:
    found = fit(tmp_path, {"rma": [(0, MEMORY)]})
    assert max(map(abs, errors(found, "transfer"))) <= 0.05
    assert all(r.L >= 1 for r in found.ranges)
    assert any("through shared memory" in note for note in found.notes)


@pytest.mark.parametrize("seed", most_long([1, 2, 3], 1))
@pytest.mark.parametrize("known", [NETWORK, MEMORY])
def test_a_put_costs_within_five_percent_what_was_measured_though_samples_scatter(
    known: Known, seed: int, tmp_path: Path
) -> None:
    epochs_recorded(tmp_path, {"rma": [(0, known)]}, scatter=0.05, seed=seed)
    found = fit_one_sided(read_one_sided(tmp_path), "rma")
    transfers = errors(found, "transfer")
    assert len(transfers) == len(SIZES)
    assert max(map(abs, transfers)) <= 0.05
    assert f"within 5.0 % of what was measured at {len(SIZES)} of {len(SIZES)} sizes" in found.notes[0].replace(
        "\N{NARROW NO-BREAK SPACE}", " "
    ).replace("\N{THIN SPACE}", " ")


def test_the_intervals_are_those_of_another_run(tmp_path: Path) -> None:
    for seed in (1, 2):
        epochs_recorded(tmp_path / str(seed), {"rma": [(0, NETWORK)]}, scatter=0.005, seed=seed)
    first, second = (fit_one_sided(read_one_sided(tmp_path / str(seed)), "rma").ranges[0] for seed in (1, 2))
    assert set(first.intervals) == {"o", "O", "L", "g", "G"}
    for name in ("o", "L", "g", "G"):
        low, high = first.intervals[name]
        assert low < getattr(first, name) < high
        assert low <= getattr(second, name) <= high


def test_one_start_of_the_ranks_has_no_intervals(tmp_path: Path) -> None:
    assert fit(tmp_path, USUAL).ranges[0].intervals == {}


def test_where_the_three_times_do_not_go_together_the_put_comes_first_and_the_others_are_said(tmp_path: Path) -> None:
    # A flood that takes ten times as long a put as a put with its completion: no gap is longer than that.
    rows = rows_of({"rma": [(0, NETWORK)]})
    for row in rows:
        if row[1] == 11 and row[3] == 1024:  # flood
            row[6] *= 10
    write(tmp_path, rows, ["rma"])
    found = fit_one_sided(read_one_sided(tmp_path), "rma")
    assert max(map(abs, errors(found, "transfer"))) <= 0.05
    assert min(errors(found, "gap")) < -0.5
    assert any("the time between two of a flood is up to" in note and "at 1" in note for note in found.notes)


def test_a_put_that_a_computing_target_delays_is_said_to_need_its_cpu(tmp_path: Path) -> None:
    write(tmp_path, rows_of({"rma": [(0, NETWORK)]}, waits=True), ["rma"])
    found = fit_one_sided(read_one_sided(tmp_path), "rma")
    assert found.waits
    assert any("its CPU takes part" in note for note in found.notes)
    recorded(tmp_path, USUAL)
    assert not fit_one_sided(read_one_sided(tmp_path), "rma").waits


def test_gets_and_polled_puts_are_compared_and_not_fitted(tmp_path: Path) -> None:
    table = fit(tmp_path, USUAL).table
    assert table.groupby("series")["fitted"].first().to_dict() == {
        "call": True,
        "gap": True,
        "get": False,
        "polled": False,
        "transfer": True,
    }
    assert table["error"].abs().max() < 1e-3


def test_a_back_end_of_which_a_series_is_missing_has_no_parameters(tmp_path: Path) -> None:
    rows = [row for row in rows_of(USUAL) if row[1] != 10]  # calls
    write(tmp_path, rows, [*USUAL])
    with pytest.raises(MeasurementError, match="calls of rma were not measured"):
        fit_one_sided(read_one_sided(tmp_path), "rma")


def test_a_flood_of_one_transfer_says_nothing_of_a_gap(tmp_path: Path) -> None:
    rows = rows_of({"rma": [(0, NETWORK)]})
    for row in rows:
        row[4] = 1
    write(tmp_path, rows, ["rma"])
    found = fit_one_sided(read_one_sided(tmp_path), "rma")
    assert "gap" not in set(found.table["series"])
    assert all(math.isfinite(error) for error in errors(found, "transfer"))
