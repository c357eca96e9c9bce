"""Parameters fitted to patterns: a machine that does what the simulator says is found again, and speeds are found."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from idlewave.errors import MeasurementError, UsageError
from idlewave.formatting import plain
from idlewave.machine import Level, Machine, Parameters, Segment
from idlewave.measure.network.fitting.fitted_piece import FittedPiece
from idlewave.measure.network.fitting.machine_speeds import (
    NONE,
    REFERENCES,
    SMOOTHED,
    Speed,
    find_speeds,
    smoothed,
    usual_or,
)
from idlewave.measure.network.fitting.observations import Array
from idlewave.measure.network.fitting.parameter_intervals import parameter_intervals
from idlewave.measure.network.fitting.pattern_assessment import (
    PatternFit,
    assess_patterns,
    error_summary,
    pattern_table,
)
from idlewave.measure.network.fitting.pattern_fit import PieceFits
from idlewave.measure.network.fitting.pattern_pieces import pattern_pieces
from idlewave.measure.network.fitting.pattern_times import AFTER, COLD, PATTERNS
from idlewave.measure.network.fitting.piece_fit import NAMES
from idlewave.measure.network.job.patterns import PatternMeasurement, read_patterns
from pattern_recordings import COLUMNS, SAMPLES, items, items_after, rows_of, write

SMALL = Parameters(L=400_000, o_s=60_000, o_r=150_000, g=90_000, G=80.0, O_s=70.0, O_r=90.0, c=0)
ONE_COPY = Parameters(L=300_000, o_s=100_000, o_r=900_000, g=50_000, G=60.0, O_s=0.0, O_r=65.0, c=2_500_000)
SIZES = (1, 64, 512, 1024, 2047, 2048, 4096, 16384, 65536)
TWO_PROTOCOLS = Machine("two protocols", Level(SMALL, (Segment(2048, ONE_COPY),)))


def measured(folder: Path, machines: list[tuple[Machine, int]], seed: int = 1) -> PatternMeasurement:
    """A measurement with an epoch on each machine, and its pilot in ns."""
    random = np.random.default_rng(seed)
    for epoch, (machine, pilot_ns) in enumerate(machines, 1):
        write(folder / f"epoch-{epoch}", rows_of(items(SIZES, late_ns=5_000), machine, pilot_ns, random))
    return read_patterns(folder)


@pytest.fixture(scope="module")
def two_protocols(tmp_path_factory: pytest.TempPathFactory) -> PatternFit:
    """What two epochs of TWO_PROTOCOLS tell."""
    samples = measured(tmp_path_factory.mktemp("two"), [(TWO_PROTOCOLS, 1200)] * 2).samples
    return assess_patterns(samples, changes=[2048])


def test_the_simulation_with_the_fitted_parameters_is_near_to_all_patterns(two_protocols: PatternFit) -> None:
    found = two_protocols
    warm = found.table[found.table["pattern"] != COLD]
    assert warm["error"].abs().median() < 0.01
    assert (warm["error"].abs() < 0.05).mean() > 0.95
    assert [r.first for r in found.ranges] == [0, 2048]


def test_what_the_patterns_show_of_the_parameters_is_found(two_protocols: PatternFit) -> None:
    """Not each parameter shows by itself; these sums do: a way, the CPU's time of both ends, what blocks a send."""
    for r, truth in zip(two_protocols.ranges, (SMALL, ONE_COPY), strict=True):
        p = r.parameters
        assert p.L + p.o_s + p.o_r == pytest.approx(truth.L + truth.o_s + truth.o_r, rel=0.05)
        assert p.o_s + p.o_r == pytest.approx(truth.o_s + truth.o_r, rel=0.05)
        assert max(p.O_r, p.G) == pytest.approx(max(truth.O_r, truth.G), rel=0.1)
        assert p.O_s + p.O_r == pytest.approx(truth.O_s + truth.O_r, rel=0.15)
    small, large = (r.parameters for r in two_protocols.ranges)
    assert small.c == pytest.approx(SMALL.c, abs=20_000)
    assert large.o_s + large.c == pytest.approx(ONE_COPY.o_s + ONE_COPY.c, rel=0.1)


def test_sizes_inside_a_piece_are_held_out_of_the_fit_and_their_error_is_said(tmp_path: Path) -> None:
    rows = rows_of(items([2**i for i in range(8)]), Machine("m", Level(SMALL)), 1200, np.random.default_rng(7))
    write(tmp_path, rows)
    samples = read_patterns(tmp_path).samples
    fits = PieceFits(pattern_table(samples))
    assert fits.starts == [0]
    assert set(fits.rows["size"]) == {1, 4, 16, 64, 128}
    assert set(fits.held_out["size"]) == {2, 8, 32}
    held_out = [note for note in assess_patterns(samples).notes if "held out" in note]
    said = held_out[0].replace("\u202f", " ")
    assert said.startswith("On 3 sizes that were held out of the fit, the median error is 0.")
    assert said.endswith("100 % of the rows are within 10 %.")


def test_wide_windows_count_twice_in_what_parameters_cost(tmp_path: Path) -> None:
    rows = rows_of(items([64, 512]), Machine("m", Level(SMALL)), 1200, np.random.default_rng(7))
    write(tmp_path, rows)
    fitted = PieceFits(pattern_table(read_patterns(tmp_path).samples)).begin([], 0, 2**62, None).result()
    assert fitted is not None
    counts = fitted.rows.groupby("window").size() / fitted.rows.drop_duplicates().groupby("window").size()
    assert counts.to_dict() == {1: 1, 4: 1, 16: 1, 64: 2}
    costs = []
    for window in (16, 64):
        longer = np.where((fitted.rows["pattern"] == "stream") & (fitted.rows["window"] == window), 2.0, 1.0)
        exact = fitted.measured * np.exp(fitted.residuals)
        costs.append(fitted.piece.cost(fitted.found.values, exact * longer))
    assert costs[1] == pytest.approx(2 * costs[0], rel=1e-6)


def test_windows_that_no_size_has_both_of_and_wide_windows_alone_give_a_fit_all_the_same(tmp_path: Path) -> None:
    samples = measured(tmp_path, [(Machine("m", Level(SMALL)), 1200)]).samples
    streams = samples[samples["pattern"] == "stream"]
    parts = [
        streams[(streams["window"] == 4) & (streams["size"] == 64)],
        streams[(streams["window"] == 16) & (streams["size"] == 512)],
    ]
    for few in (pd.concat(parts), streams[streams["window"] == 64]):
        found = assess_patterns(few)
        assert found.table["error"].abs().max() < 0.1


def test_the_parameters_cost_least_also_behind_those_that_the_patterns_do_not_show(tmp_path: Path) -> None:
    """Without a parameter the best values of the others are others."""
    samples = measured(tmp_path, [(Machine("m", Level(SMALL)), 1200)]).samples
    found = PieceFits(pattern_table(samples)).begin([], 0, 2**62, None).result()
    assert found is not None
    assert not all(found.free)
    ps = found.rows["median_ps"].to_numpy()
    assert found.piece.descend(ps, found.found.values, found.free).cost >= 0.97 * found.found.cost


def test_a_descent_from_another_limit_of_streams_finds_the_one_that_the_machine_has(tmp_path: Path) -> None:
    """Where the NIC limits streams, a fit with the ends as the limit is no better, and one from there finds the NIC."""
    nic = replace(SMALL, g=400_000, G=200.0, c=0)
    samples = measured(tmp_path, [(Machine("m", Level(nic)), 1200)]).samples
    fits = PieceFits(pattern_table(samples))
    by_nic = fits.begin([], 0, 2**62, None).result()
    assert by_nic is not None
    assert pytest.approx(200.0, rel=0.02) == by_nic.parameters.G
    by_ends = fits.with_other_limit(by_nic, 2**62)
    assert (by_ends.parameters.g, by_ends.parameters.G) == (0, 0)
    assert by_ends.criterion > by_nic.criterion + by_nic.threshold
    assert by_nic.or_better(by_ends) is by_nic
    again = by_ends.or_better(fits.with_other_limit(by_ends, 2**62))
    assert pytest.approx(200.0, rel=0.02) == again.parameters.G
    assert again.others == ()


def test_a_fit_is_excluded_if_it_costs_more_in_every_epoch(tmp_path: Path) -> None:
    """The machine changes between runs as between epochs: what one of these does not exclude may be the next run's."""
    nic = replace(SMALL, g=400_000, G=200.0, c=0)
    samples = measured(tmp_path, [(Machine("m", Level(nic)), 1200)]).samples
    fits = PieceFits(pattern_table(samples))
    by_nic = fits.begin([], 0, 2**62, None).result()
    assert by_nic is not None
    by_ends = fits.with_other_limit(by_nic, 2**62)
    as_nic, as_ends = (p.measured * np.exp(p.residuals) for p in (by_nic, by_ends))

    def others(*epochs: Array) -> tuple[FittedPiece, ...]:
        by_epoch = np.array(epochs)
        return replace(by_nic, by_epoch=by_epoch).or_better(replace(by_ends, by_epoch=by_epoch)).others

    assert others(as_nic, as_nic) == ()
    assert [p.found for p in others(as_nic, as_ends)] == [by_ends.found]
    thresholds = [replace(by_nic, by_epoch=np.array([as_nic, end])).threshold for end in (as_nic, as_ends)]
    assert by_ends.criterion - by_nic.criterion > max(thresholds)  # the times of both epochs together exclude it


def test_intervals_reach_beyond_a_fit_to_other_sizes_that_is_not_excluded(tmp_path: Path) -> None:
    """Another run may have these pieces, and parameters that are as far off as their rows leave them."""
    samples = measured(tmp_path, [(Machine("m", Level(SMALL)), 1200)] * 2).samples
    epochs = [pattern_table(part) for _, part in samples.groupby("epoch")]
    fits = PieceFits(pattern_table(samples), epochs=epochs)
    whole, few = (fits.begin([], 0, end, None).result() for end in (2**62, 4096))
    assert whole is not None
    assert few is not None
    alone = parameter_intervals(whole)
    far = 2 * alone["L"][1]
    elsewhere = few.found.values.copy()
    elsewhere[NAMES.index("L")] = far
    both = parameter_intervals(whole.or_as(replace(few, found=replace(few.found, values=elsewhere))))
    assert all(both[name][0] <= low and high <= both[name][1] for name, (low, high) in alone.items())
    assert both["L"][1] > 1.01 * far


def test_errors_that_are_alike_at_neighbouring_sizes_widen_intervals_more_than_scattered(tmp_path: Path) -> None:
    """Curves that are off by 4 % as a whole are few pieces of evidence; as many drawn errors of 4 % are many."""
    samples = measured(tmp_path, [(Machine("m", Level(SMALL)), 1200)] * 2).samples
    random = np.random.default_rng(5)
    drawn = {}
    for name, keys in (("alike", ["pattern", "window"]), ("scattered", ["pattern", "window", "size"])):
        group = samples.groupby(keys).ngroup()
        factors = np.exp(random.choice([-0.04, 0.04], group.max() + 1))
        off = samples.assign(elapsed_ns=samples["elapsed_ns"] * factors[group])
        epochs = [pattern_table(part) for _, part in off.groupby("epoch")]
        found = PieceFits(pattern_table(off), epochs=epochs).begin([], 0, 2**62, None).result()
        assert found is not None
        intervals = parameter_intervals(found)
        drawn[name] = intervals["o_s"][1] - intervals["o_s"][0]
    assert drawn["alike"] > 1.3 * drawn["scattered"]


def test_where_one_epoch_had_the_speed_intervals_are_as_wide_as_the_speeds_differ(tmp_path: Path) -> None:
    """How far another epoch at this speed would be off is not known."""
    slow = replace(SMALL, L=2 * SMALL.L, o_s=2 * SMALL.o_s, o_r=2 * SMALL.o_r)
    widths = {}
    for name, other in (("one speed", (SMALL, 1200)), ("two", (slow, 2400))):
        machines = [(Machine("m", Level(p)), pilot) for p, pilot in ((SMALL, 1200), other)]
        found = assess_patterns(measured(tmp_path / name, machines).samples, speed=0)
        assert all(r.intervals for r in found.ranges)
        assert any("was met in one of 2 epochs" in plain(note) for note in found.notes) == (name == "two")
        low, high = found.ranges[0].intervals["o_r"]
        widths[name] = high - low
    assert widths["two"] > 1.5 * widths["one speed"]


def test_a_fit_that_the_times_do_not_exclude_is_within_the_intervals(tmp_path: Path) -> None:
    """Blocking calls alone do not show whether the NIC or the receiver takes the time of a byte."""
    nic = replace(SMALL, O_s=0.0, O_r=0.0, G=100.0)
    samples = measured(tmp_path, [(Machine("m", Level(nic)), 1200)] * 2).samples
    blocking = samples[samples["pattern"].isin(("ping-pong", "late receivers")) & (samples["window"] == 1)]
    first = assess_patterns(blocking).ranges[0]
    for name in ("G", "O_r"):
        low, high = first.intervals[name]
        assert low == 0
        assert high >= 100


def test_a_rendezvous_is_fitted_as_one_where_sends_were_seen_to_wait(tmp_path: Path) -> None:
    machine = Machine("rendezvous", Level(SMALL, eager_limit=2047))
    samples = measured(tmp_path, [(machine, 1200)] * 2).samples
    found = assess_patterns(samples, changes=[2048], seen_limit=2047)
    assert found.S == 2047
    assert found.level.eager_limit == 2047
    assert found.table.loc[found.table["pattern"] != COLD, "error"].abs().median() < 0.01


def test_a_rendezvous_quicker_than_its_three_messages_is_fitted_as_eager_and_that_is_said(tmp_path: Path) -> None:
    quick = Parameters(L=0, o_s=50_000, o_r=50_000, g=0, G=60.0)
    samples = measured(tmp_path, [(Machine("quick", Level(SMALL, (Segment(2048, quick),))), 1200)] * 2).samples
    found = assess_patterns(samples, changes=[2048], seen_limit=2047)
    assert found.S is None
    assert any("take less time than a rendezvous" in note for note in found.notes)


def test_intervals_cover_what_another_epoch_gives(tmp_path: Path) -> None:
    """Epochs of machines that differ by a tenth: the interval of what shows, the way of a small message, is as wide."""
    ways = (0.9, 1.0, 1.1)
    machines = [
        (Machine("m", Level(Parameters(L=round(w * 400_000), o_s=60_000, o_r=150_000, g=90_000))), 1200) for w in ways
    ]
    found = assess_patterns(measured(tmp_path, machines).samples)
    low, high = found.ranges[0].intervals["L"]
    assert low < 360_000
    assert high > 440_000
    assert found.epochs == 3
    assert assess_patterns(measured(tmp_path / "one", machines[:1]).samples).ranges[0].intervals == {}


def test_a_cost_that_limits_nothing_may_be_as_large_as_what_hides_it(tmp_path: Path) -> None:
    """A stream goes as fast as its receiver, whatever g is below o_r: no derivative shows that."""
    machine = Machine("m", Level(Parameters(L=400_000, o_s=60_000, o_r=150_000, g=90_000)))
    found = assess_patterns(measured(tmp_path, [(machine, 1200)] * 2).samples)
    low, high = found.ranges[0].intervals["g"]
    assert low <= 90_000
    assert 130_000 < high < 200_000


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


def test_pieces_begin_where_a_protocol_changes_and_where_the_curves_bend() -> None:
    sizes = [2**i for i in range(16)]
    rows = []
    for size in sizes:
        bend = 0.2 * max(size - 1024, 0)
        rows += [
            ("ping-pong", 1, size, 1000.0 + 0.1 * size + bend),
            ("stream", 4, size, 3000.0 + 0.4 * size + 4 * bend),
        ]
        rows += [("stream", 16, size, 12000.0 + 1.6 * size + 16 * bend)]
    table = pd.DataFrame(rows, columns=["pattern", "window", "size", "median_ps"])
    assert pattern_pieces(table, []) in ([0, 1024], [0, 2048])
    assert 64 in pattern_pieces(table, [64])


def test_disturbed_samples_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    rows = np.array(rows_of(items((1, 64)), Machine("m", Level(SMALL)), 1200, random))
    disturbed = rows.copy()
    disturbed[:, COLUMNS.index("elapsed_ns")] *= 50
    disturbed[:, COLUMNS.index("disturbed")] = 1
    write(tmp_path, np.concatenate([rows, disturbed[: len(disturbed) // 3]]))
    found = assess_patterns(read_patterns(tmp_path).samples)
    assert found.table.loc[found.table["pattern"] != COLD, "error"].abs().median() < 0.02
    assert any("interrupted, and are left out" in note for note in found.notes)


def test_a_limit_beyond_what_was_measured_is_kept_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    samples = measured(tmp_path, [(Machine("m", Level(SMALL)), 1200)] * 2).samples
    found = assess_patterns(samples, seen_limit=2**20)
    assert found.S == 2**20
    assert not any("rendezvous" in note for note in found.notes)


def test_receives_that_take_the_cpu_are_found_where_they_do(tmp_path: Path) -> None:
    posting = Parameters(L=400_000, o_s=60_000, o_r=50_000, g=30_000, o_p=80_000)
    found = assess_patterns(measured(tmp_path, [(Machine("m", Level(posting)), 1200)] * 2).samples)
    assert found.ranges[0].parameters.o_p == pytest.approx(80_000, rel=0.2)
    assert found.table.loc[found.table["pattern"] != COLD, "error"].abs().median() < 0.01


def test_a_recording_without_usable_samples_is_refused_with_the_reason(tmp_path: Path) -> None:
    rows = np.array(rows_of(items((1, 64)), Machine("m", Level(SMALL)), 1200, np.random.default_rng(5)))
    cold = rows[rows[:, COLUMNS.index("pattern")] == PATTERNS.index(COLD)]
    write(tmp_path / "cold", cold)
    with pytest.raises(MeasurementError, match="no pattern with warm buffers was measured"):
        assess_patterns(read_patterns(tmp_path / "cold").samples)
    rows[:, COLUMNS.index("disturbed")] = 1
    write(tmp_path / "disturbed", rows)
    with pytest.raises(MeasurementError, match="every sample of a pattern was interrupted"):
        assess_patterns(read_patterns(tmp_path / "disturbed").samples)
    with pytest.raises(UsageError, match="expected a speed from 0 to 0, found 1"):
        assess_patterns(measured(tmp_path / "one", [(TWO_PROTOCOLS, 1200)]).samples, speed=1)


def test_the_errors_of_cold_buffers_alone_are_said_to_be_none() -> None:
    table = pd.DataFrame({"pattern": [COLD], "window": [1], "size": [1], "error": [-0.5]})
    assert error_summary(table) == "No pattern with warm buffers was measured."


@pytest.mark.long
def test_intervals_cover_the_parameters_of_the_next_ten_runs(tmp_path: Path) -> None:
    """Eleven runs of a machine whose parameters differ by some per cent between the starts of its ranks."""
    random = np.random.default_rng(6)
    runs = []
    for run in range(11):
        machines = []
        for _ in range(3):
            values = {n: v * np.exp(random.normal(0, 0.04)) for n, v in asdict(SMALL).items()}
            named = {n: v if n in ("G", "O_s", "O_r") else round(v) for n, v in values.items()}
            machines.append((Machine("m", Level(Parameters(**named))), 1200))
        folder = tmp_path / str(run)
        for epoch, (machine, pilot_ns) in enumerate(machines, 1):
            rows = rows_of(items((1, 64, 512, 2048, 8192), late_ns=5_000), machine, pilot_ns, random, scatter=0.03)
            write(folder / f"epoch-{epoch}", rows)
        runs.append(assess_patterns(read_patterns(folder).samples).ranges[0])
    covered = [
        low <= getattr(other.parameters, name) <= high
        for run in runs
        for other in runs
        if other is not run
        for name, (low, high) in run.intervals.items()
    ]
    assert np.mean(covered) >= 0.9
