"""Latency is more than its median: quantiles, crowds, drifts; and the calls by size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from emulated_samples import emulate, parameters
from idlewave.measure.network import Network
from idlewave.measure.network.fitting.latency_distribution import latency_quantiles, modes, over_time, overheads
from idlewave.measure.network.plots.method_plots import plot_distribution

NETWORK = Network(((1, parameters(20.0, 1.0, 1.5, 4.0, 0.002, 0.0005)),), None)


def round_trips(values_ns, start_ns=None):
    n = len(values_ns)
    start = np.arange(n) * 1e6 if start_ns is None else start_ns
    return pd.DataFrame({"series": "rtt", "size": 1, "n": 1, "value_ns": values_ns, "start_ns": start})


def test_quantiles_are_those_of_half_round_trips():
    table = latency_quantiles(round_trips(np.arange(2.0, 204.0, 2.0)))
    row = table.iloc[0]
    assert (row["n"], row["min_ns"], row["q50_ns"], row["q99_ns"], row["max_ns"]) == (101, 1, 51, 100, 101)


def test_one_crowd_is_one_mode_however_long_its_tail():
    random = np.random.default_rng(1)
    values = 1000 * (1 + 0.02 * random.standard_normal(500)) + (random.random(500) < 0.05) * random.exponential(
        20_000, 500
    )
    assert modes(values) == pytest.approx((1000,), rel=0.02)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_two_speeds_are_two_modes_the_more_frequent_first(share):
    random = np.random.default_rng(2)
    fast = random.random(1000) >= share
    values = np.where(fast, 1000.0, 1600.0) * (1 + 0.02 * random.standard_normal(1000))
    found = modes(values)
    assert sorted(found) == pytest.approx([1000, 1600], rel=0.02)
    if share < 0.5:
        assert found[0] == pytest.approx(1000, rel=0.02)


def test_few_or_equal_samples_have_one_mode():
    assert modes(np.array([1.0, 2.0, 30.0])) == (2.0,)
    assert modes(np.full(100, 7.0)) == (7.0,)


def test_a_drift_shows_over_time_and_none_without_start_times():
    values = np.linspace(1000, 2000, 1000)
    windows = over_time(round_trips(values))
    assert windows["middle"].is_monotonic_increasing
    assert windows["middle"].iloc[-1] / windows["middle"].iloc[0] == pytest.approx(1.95, rel=0.05)
    assert windows["n"].sum() == 1000
    assert over_time(round_trips(values).drop(columns="start_ns")).empty


def test_the_overheads_of_the_calls_are_apart_and_by_size():
    table = overheads(emulate(NETWORK, seed=1, scatter=0.005, new_series=True)).set_index(["call", "size"])
    for size in (1, 1024, 65_536):
        k = size - 1
        assert table.loc[("send", size), "median_ps"] == pytest.approx(1e6 + 500 * k, rel=0.01)
        assert table.loc[("receive", size), "median_ps"] == pytest.approx(1.5e6 + 500 * k, rel=0.01)
        assert table.loc[("send", size), "low_ps"] < table.loc[("send", size), "high_ps"]


def test_the_figure_has_all_three_parts_with_and_without_start_times():
    samples = emulate(NETWORK, seed=1, repetitions=10, new_series=True)
    assert len(plot_distribution(samples).axes) == 3
    assert len(plot_distribution(samples.assign(start_ns=np.arange(len(samples)) * 1e5)).axes) == 3
    assert len(plot_distribution(samples.iloc[:0]).axes) == 3
