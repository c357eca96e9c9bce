"""Parameters fitted to patterns: a machine that does what the simulator says is found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from idlewave.errors import MeasurementError, UsageError
from idlewave.machine import Level, Machine, Parameters, Segment
from idlewave.measure.network.fitting.pattern_assessment import (
    PatternFit,
    assess_patterns,
    error_summary,
    pattern_table,
)
from idlewave.measure.network.fitting.pattern_fit import PieceFits
from idlewave.measure.network.fitting.pattern_pieces import pattern_pieces
from idlewave.measure.network.fitting.pattern_times import COLD, PATTERNS
from idlewave.measure.network.job.patterns import read_patterns
from pattern_recordings import (
    COLUMNS,
    ONE_COPY,
    SMALL,
    TWO_PROTOCOLS,
    items,
    measured,
    rows_of,
    write,
)


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


def test_a_rendezvous_is_fitted_as_one_where_sends_were_seen_to_wait(tmp_path: Path) -> None:
    machine = Machine("rendezvous", Level(SMALL, eager_limit=2047))
    samples = measured(tmp_path, [(machine, 1200)] * 2).samples
    found = assess_patterns(samples, changes=[2048], seen_limit=2047)
    assert found.S == 2047
    assert found.level.eager_limit == 2047
    assert found.table.loc[found.table["pattern"] != COLD, "error"].abs().median() < 0.01


@pytest.mark.long
def test_a_rendezvous_quicker_than_its_three_messages_is_fitted_as_eager_and_that_is_said(tmp_path: Path) -> None:
    quick = Parameters(L=0, o_s=50_000, o_r=50_000, g=0, G=60.0)
    samples = measured(tmp_path, [(Machine("quick", Level(SMALL, (Segment(2048, quick),))), 1200)] * 2).samples
    found = assess_patterns(samples, changes=[2048], seen_limit=2047)
    assert found.S is None
    assert any("take less time than a rendezvous" in note for note in found.notes)


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


@pytest.mark.long
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
