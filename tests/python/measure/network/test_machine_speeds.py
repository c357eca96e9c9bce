"""The speeds of a machine while patterns were measured, and whose parameters are fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from idlewave.formatting import plain
from idlewave.machine import Level, Machine, Parameters
from idlewave.measure.network.fitting.machine_speeds import (
    NONE,
    REFERENCES,
    SMOOTHED,
    Speed,
    find_speeds,
    smoothed,
    usual_or,
)
from idlewave.measure.network.fitting.pattern_assessment import (
    assess_patterns,
)
from idlewave.measure.network.fitting.pattern_times import AFTER
from idlewave.measure.network.job.patterns import read_patterns
from pattern_recordings import (
    SAMPLES,
    SIZES,
    items,
    items_after,
    measured,
    rows_of,
    write,
)


def test_a_machine_of_two_speeds_is_reported_and_each_can_be_fitted(tmp_path: Path) -> None:
    fast = Machine("fast", Level(Parameters(L=50_000, o_s=30_000, o_r=40_000, g=30_000)))
    slow = Machine("slow", Level(Parameters(L=200_000, o_s=50_000, o_r=90_000, g=80_000)))
    samples = measured(tmp_path, [(fast, 240), (slow, 680), (slow, 680)]).samples
    usual = assess_patterns(samples)
    assert usual.speeds["share"].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert usual.speeds["pilot_ns"].tolist() == pytest.approx([240, 680], rel=0.02)
    assert usual.speed == 1
    assert any("had 2 speeds" in note and "340 ns" in note for note in usual.notes)
    ways = [sum((p.L, p.o_s, p.o_r)) for p in (assess_patterns(samples, speed=k).ranges[0].parameters for k in (0, 1))]
    assert ways == pytest.approx([120_000, 340_000], rel=0.03)


def pilots(before: list[int], after: list[int]) -> pd.DataFrame:
    return pd.DataFrame({"pilot_before_ns": before, "pilot_after_ns": after})


def test_a_sample_during_which_the_speed_changed_has_none() -> None:
    random = np.random.default_rng(2)
    fast, slow = (np.round(random.normal(mean, mean / 50, 200)).astype(int).tolist() for mean in (200, 700))
    found = find_speeds(pilots([*fast, *slow, 200, 5000], [*fast, *slow, 700, 5000]))
    assert len(found.each) == 2
    assert found.of_sample.tolist() == [0] * 200 + [1] * 200 + [NONE] * 2


def beside(pilot_ns: int, reference_ns: tuple[int, int], count: int) -> pd.DataFrame:
    """Samples with the same pilots, and with these reference computations before and after them."""
    times = {"reference_before_ns": reference_ns[0], "reference_after_ns": reference_ns[1]}
    return pilots([pilot_ns] * count, [pilot_ns] * count).assign(**times)


def test_shared_cores_are_a_speed_though_a_ping_pong_hardly_shows_it() -> None:
    own, shared, became_shared = (
        beside(340, (670, 690), 60),
        beside(350, (1100, 1150), 130),
        beside(345, (670, 1100), 5),
    )
    found = find_speeds(pd.concat([own, shared, became_shared], ignore_index=True))
    assert found.of_sample.tolist() == [0] * 60 + [1] * 130 + [NONE] * 5
    assert [speed.reference.median_ns for speed in found.each] == [680, 1125]
    assert found.table["share"].tolist() == pytest.approx([60 / 190, 130 / 190])
    assert find_speeds(pd.concat([own, shared]).drop(columns="reference_before_ns")).of_sample.tolist() == [0] * 190


@pytest.mark.parametrize(("rows_on_unshared", "usual"), [(6, 0), (5, 1)])
def test_the_usual_speed_is_of_unshared_cores_where_enough_rows_have_a_sample_on_them(
    rows_on_unshared: int, usual: int
) -> None:
    shared = beside(340, (1100, 1100), 150).assign(size=[i % 10 for i in range(150)])
    unshared = beside(340, (670, 670), 10).assign(size=[i % rows_on_unshared for i in range(10)])
    found = find_speeds(pd.concat([unshared, shared], ignore_index=True))
    assert (found.unshared, found.usual) == (1, usual)
    assert found.rows == (pytest.approx(rows_on_unshared / 10), 1)
    assert [usual_or(found, chosen) for chosen in (None, 0, 1)] == [usual, 0, 1]


def test_shared_cores_can_have_several_speeds_of_a_ping_pong_each() -> None:
    parts = [beside(800, (1100, 1100), 40), beside(340, (670, 670), 50), beside(800, (680, 670), 50)]
    found = find_speeds(pd.concat(parts, ignore_index=True))
    assert [(speed.pilot_ns, speed.reference.median_ns) for speed in found.each] == [
        (pytest.approx(340), 670),
        (pytest.approx(800), 670),
        (pytest.approx(800), 1100),
    ]
    assert found.unshared == 2
    assert found.of_sample.tolist() == [2] * 40 + [0] * 50 + [1] * 50


@pytest.mark.parametrize("times", [(670, 700), (700, 670)])
def test_a_reference_computation_that_takes_as_long_as_ever_shows_one_speed(times: tuple[int, int]) -> None:
    found = find_speeds(beside(340, times, 30))
    assert (len(found.each), found.unshared, found.changed) == (1, 1, 0)


def test_samples_beside_which_sharing_always_changed_have_one_speed() -> None:
    found = find_speeds(beside(340, (670, 1100), 30))
    assert (found.each, found.of_sample.tolist()) == ((Speed(pytest.approx(340)),), [0] * 30)


def test_of_epochs_of_which_one_has_no_reference_computation_none_counts() -> None:
    with_it, without = beside(340, (670, 670), 30), beside(340, (1100, 1100), 30).drop(columns="reference_after_ns")
    found = find_speeds(pd.concat([with_it, without], ignore_index=True))
    assert [speed.reference for speed in found.each] == [None]


def test_a_speed_is_recognised_by_whether_cores_were_shared_however_much() -> None:
    samples = pd.concat([beside(340, (times, times), 30) for times in (670, 1100, 1500)], ignore_index=True)
    unshared, shared = find_speeds(samples).each
    assert unshared.has(samples, 1.1).tolist() == [True] * 30 + [False] * 60
    assert shared.has(samples, 1.1).tolist() == [False] * 30 + [True] * 60
    assert not unshared.has(samples.assign(pilot_after_ns=400), 1.1).any()


def test_rows_without_a_sample_at_the_speed_of_the_parameters_are_said(tmp_path: Path) -> None:
    machine = Machine("own", Level(Parameters(L=100_000, o_s=30_000, o_r=40_000, g=30_000)))
    write(tmp_path, rows_of(items(SIZES, late_ns=5_000), machine, 340, np.random.default_rng(1), reference_ns=670))
    samples = read_patterns(tmp_path).samples
    samples.loc[samples["window"] == 16, list(REFERENCES)] = 1100
    notes = [plain(note) for note in assess_patterns(samples).notes]
    share = 3 / 15
    assert any(f"{round(100 * share)} % of the patterns and sizes have no sample" in note for note in notes)


def test_exchanges_after_computations_without_a_sample_at_the_speed_have_those_of_all_speeds(tmp_path: Path) -> None:
    machine = Machine("own", Level(Parameters(L=100_000, o_s=30_000, o_r=40_000, g=30_000)))
    measured_items = [*items(SIZES), *items_after((1, 4096))]
    write(tmp_path, rows_of(measured_items, machine, 340, np.random.default_rng(1), reference_ns=670))
    samples = read_patterns(tmp_path).samples
    after = samples["pattern"] == AFTER
    samples.loc[after & (samples["delay_ns"] >= 1_000_000), list(REFERENCES)] = 1100
    samples.loc[after & (samples["delay_ns"] == 10_000) & (samples.index % 2 == 0), list(REFERENCES)] = 1100
    at_no_speed = samples[after & (samples["delay_ns"] == 50_000)].assign(reference_after_ns=1100)
    elsewhere = samples[after & (samples["delay_ns"] == 3_000_000)].assign(epoch=2)
    found = assess_patterns(pd.concat([samples, at_no_speed, elsewhere]))
    assert (found.speed, found.epochs) == (0, 1)
    counts = found.table[found.table["pattern"] == AFTER].groupby("delay_ns")["samples"].sum()
    alone = [counts[length] for length in (50_000, 250_000, 1_000_000, 3_000_000, 10_000_000)]
    assert alone == [2 * SAMPLES * times for times in (1, 1, 1, 2, 1)]
    assert 0 < counts[10_000] < 2 * SAMPLES  # where one has samples at the speed, others do not count
    assert "6 exchanges after a computation had no sample at speed 0: all their samples count." in found.notes


def test_samples_beside_which_the_speed_changed_are_said_to_be_left_out(tmp_path: Path) -> None:
    machine = Machine("own", Level(Parameters(L=100_000, o_s=30_000, o_r=40_000, g=30_000)))
    write(tmp_path, rows_of(items(SIZES, late_ns=5_000), machine, 340, np.random.default_rng(1), reference_ns=670))
    samples = read_patterns(tmp_path).samples
    assert not any("the speed changed" in note for note in assess_patterns(samples).notes)
    samples.loc[samples.index % 5 == 0, "reference_after_ns"] = 1100
    assert any("20 % of the samples of patterns are left out" in plain(note) for note in assess_patterns(samples).notes)


@pytest.mark.long
def test_the_parameters_are_those_of_unshared_cores(tmp_path: Path) -> None:
    own = Machine("own", Level(Parameters(L=100_000, o_s=30_000, o_r=40_000, g=30_000)))
    shared = Machine("shared", Level(Parameters(L=100_000, o_s=50_000, o_r=60_000, g=55_000)))
    random = np.random.default_rng(1)
    for epoch, (machine, reference_ns) in enumerate([(shared, 1100), (own, 670), (shared, 1100)], 1):
        rows = rows_of(items(SIZES, late_ns=5_000), machine, 340, random, reference_ns=reference_ns)
        write(tmp_path / f"epoch-{epoch}", rows)
    samples = read_patterns(tmp_path).samples
    found = assess_patterns(samples)
    assert (found.speed, found.speeds["share"].tolist()) == (0, pytest.approx([1 / 3, 2 / 3]))
    ways = [
        sum((p.L, p.o_s, p.o_r))
        for p in (found.ranges[0].parameters, assess_patterns(samples, speed=1).ranges[0].parameters)
    ]
    assert ways == pytest.approx([170_000, 210_000], rel=0.03)
    (note,) = (plain(note) for note in found.notes if "had 2 speeds" in note)
    assert "speed 0 with 170 ns a message, cores unshared (670 ns) (33 % of the samples)" in note
    assert "speed 1 with 170 ns a message, cores shared or slower (1.1 µs) (67 % of the samples)" in note
    assert "The parameters are those of speed 0" in note
    assert not any("something else shared" in note for note in found.notes)
    assert any("At speed 1 something else shared" in note for note in assess_patterns(samples, speed=1).notes)


def test_a_machine_of_one_speed_has_one_whatever_its_scatter() -> None:
    random = np.random.default_rng(3)
    for scatter in (0.0, 0.01, 0.1):
        values = np.round(1000 * np.exp(random.normal(0, scatter, 500))).astype(int).tolist()
        assert len(find_speeds(pilots(values, values)).each) == 1


def test_a_histogram_is_smoothed_as_scipy_does_it() -> None:
    random = np.random.default_rng(4)
    for bins in (10, 11, 300):
        counts = random.integers(0, 100, bins).astype(np.float64)
        assert smoothed(counts).tolist() == scipy.ndimage.gaussian_filter1d(counts, SMOOTHED).tolist()
