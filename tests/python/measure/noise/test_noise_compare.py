"""What decides at scale is computed exactly, and the noisy node is found."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from idlewave.measure.noise.compare import (
    compare,
    expected_maximum,
    ks_distance,
    maximum_table,
    spectrum_distance,
    window_losses,
)
from idlewave.measure.noise.nodes import outliers, rank_cores, rank_nodes
from idlewave.measure.table_rows import records
from noise_recordings import detours

MS = 10**9


def test_the_expected_maximum_is_that_of_many_draws():
    draw = np.random.default_rng(1)
    losses = draw.lognormal(2, 1, 500)
    for ranks in (1, 7, 100):
        drawn = draw.choice(losses, (20_000, ranks)).max(axis=1)
        error = drawn.std() / np.sqrt(len(drawn))
        assert expected_maximum(losses, [ranks])[0] == pytest.approx(drawn.mean(), abs=5 * error)


def test_the_expected_maximum_has_its_closed_form_on_equally_likely_numbers():
    numbers = np.arange(1, 1001)
    for ranks in (1, 10, 1000):
        exact = 1000 - sum((k / 1000) ** ranks for k in range(1, 1000))
        assert expected_maximum(numbers, [ranks])[0] == pytest.approx(exact)
    assert expected_maximum(numbers, [10**9])[0] == pytest.approx(1000)
    assert np.isnan(expected_maximum([], [5])[0])


def test_losses_of_windows_add_up_to_all_detours():
    cores = [detours(1, [(97.3, 2e-5)], [(100, 5e-4)], core=core) for core in range(2)]
    for window in (10**8, MS, 10 * MS):
        losses = window_losses(cores, window)
        assert len(losses) == 2 * 10**12 // window
        assert losses.sum() == pytest.approx(sum(core.lengths.sum() for core in cores), abs=len(losses))
        assert losses.max() <= window


def test_more_ranks_than_windows_are_marked():
    table = maximum_table([detours(1, (), [(100, 1e-5)])], ranks=(1, 100, 10_000), windows_ps=(MS, 10**12))
    assert table["window_ps"].unique().tolist() == [MS]
    assert table["windows"].unique().tolist() == [1000]
    assert table["beyond"].tolist() == [False, False, True]
    assert table["expected_ps"].is_monotonic_increasing


def test_equal_noises_are_alike_and_the_shape_decides_at_scale():
    often = [detours(5, (), [(10_000, 1e-6)], seed=1)]
    again = [detours(5, (), [(10_000, 1e-6)], seed=2)]
    seldom = [detours(5, (), [(10, 1e-3)], seed=3)]
    same, other = compare(often, again), compare(often, seldom)
    assert same.ks < 0.02
    assert same.spectrum_distance < 0.15
    assert other.ks > 0.9
    figures = other.figures.set_index("quantity")
    assert figures.loc["overhead", "a"] == pytest.approx(figures.loc["overhead", "b"], rel=0.35)
    at_scale = other.maxima[(other.maxima["window_ps"] == 10 * MS) & (other.maxima["ranks"] == 100)].iloc[0]
    assert at_scale["b_ps"] > 5 * at_scale["a_ps"]


def test_the_distance_of_lengths_is_kolmogorovs():
    assert ks_distance([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert ks_distance([1, 2], [3, 4]) == 1
    assert ks_distance([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5
    assert ks_distance([], [1]) == 1
    assert ks_distance([100, 200], [101, 201], tolerance=0.02) == 0
    assert ks_distance([100, 200], [110, 220], tolerance=0.02) == 0.5


def test_spectra_differ_when_one_is_periodic():
    random = [detours(3, (), [(250, 2e-5)], seed=1)]
    periodic = [detours(3, [(250, 2e-5)], seed=2)]
    assert spectrum_distance(random, random) == 0
    assert spectrum_distance(random, periodic) > 0.15


def test_recordings_that_are_too_short_for_a_spectrum_are_not_called_the_same():
    long, short = [detours(1, [(250, 2e-5)])], [detours(0.009, [(250, 2e-5)])]
    for pair in ((short, short), (long, short), (short, long)):
        assert np.isnan(spectrum_distance(*pair))


def test_a_noisy_node_is_found_and_named():
    cores = [
        detours(1, [(250, 1e-4 if node == 5 else 5e-6)], [(50, 1e-5)], seed=node, core=core, node=f"n{node}")
        for node in range(8)
        for core in range(2)
    ]
    table = rank_nodes(cores)
    marked = table[table["outlier"] != ""]
    assert marked["node"].tolist() == ["n5"]
    assert "overhead" in marked["outlier"].iloc[0]
    assert table["cores"].tolist() == [2] * 8
    assert table["maximum_ps"].is_monotonic_decreasing


def test_the_cores_of_a_node_are_ranked_alike():
    cores = [detours(1, (), [(100, 1e-3 if core == 0 else 1e-5)], core=core) for core in range(6)]
    table = rank_cores(cores)
    assert table["core"].iloc[0] == "0"
    assert table["outlier"].iloc[0] != ""


def test_no_outlier_among_few_or_among_alike():
    assert not outliers(np.array([1.0, 1.0, 100.0])).any()
    assert not outliers(np.full(10, 3.0)).any()
    assert not outliers(np.array([1.0, 1.001, 1.002, 1.0, 1.001, 1.02])).any()
    assert outliers(np.array([1.0] * 9 + [5.0])).tolist() == [False] * 9 + [True]
    assert outliers(np.array([0.0] * 5 + [1.0])).tolist() == [False] * 5 + [True]
    draw = np.random.default_rng(1)
    assert outliers(np.append(draw.lognormal(0, 0.1, 50), 3.0)).nonzero()[0].tolist() == [50]


def test_records_are_what_json_can_hold():
    table = pd.DataFrame({"a": np.array([1, 2]), "b": [0.5, np.nan], "c": [np.inf, -1.0], "d": ["x", None]})
    assert records(table) == [{"a": 1, "b": 0.5, "c": None, "d": "x"}, {"a": 2, "b": None, "c": -1.0, "d": None}]
    json.dumps(records(table), allow_nan=False)
