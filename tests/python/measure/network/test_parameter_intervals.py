"""Intervals of the parameters fitted to patterns: they hold what another run may find."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from idlewave.formatting import plain
from idlewave.machine import Level, Machine, Parameters
from idlewave.measure.network.fitting.fitted_piece import FittedPiece
from idlewave.measure.network.fitting.observations import Array
from idlewave.measure.network.fitting.parameter_intervals import parameter_intervals
from idlewave.measure.network.fitting.pattern_assessment import (
    assess_patterns,
    pattern_table,
)
from idlewave.measure.network.fitting.pattern_fit import PieceFits
from idlewave.measure.network.fitting.piece_fit import NAMES
from idlewave.measure.network.job.patterns import read_patterns
from pattern_recordings import (
    SMALL,
    items,
    measured,
    rows_of,
    write,
)


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
        low, high = parameter_intervals(found)["L"]
        drawn[name] = high - low
    assert drawn["alike"] > 1.5 * drawn["scattered"]


@pytest.mark.long
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
