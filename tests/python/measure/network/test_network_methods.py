"""The earlier methods beside PRTT: each gives what its definition makes of a known network, errors included."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from emulated_samples import emulate, parameters
from idlewave.measure import estimate
from idlewave.measure.network import Network
from idlewave.measure.network.fitting.earlier_methods import (
    BELL,
    CULLER,
    KIELMANN,
    PRTT,
    at_smallest_size,
    compare_methods,
)
from idlewave.measure.network.fitting.observations import undisturbed
from idlewave.measure.network.fitting.prediction import prtt
from idlewave.measure.network.plots.method_plots import plot_methods

US = 1_000_000.0
NETWORK = Network(((1, parameters(20.0, 1.0, 1.5, 4.0, 0.002, 0.0005)),), None)


@pytest.fixture(scope="module")
def samples():
    return emulate(NETWORK, seed=1, scatter=0.005, new_series=True)


@pytest.fixture(scope="module")
def table(samples):
    return compare_methods(samples, estimate(samples))


def test_prtt_has_no_higher_order_errors(table):
    found = at_smallest_size(table)[PRTT]
    for name, true in (("L", 20.0), ("o_s", 1.0), ("o_r", 1.5), ("g", 4.0)):
        assert found[name][0] == pytest.approx(true * US, rel=0.02, abs=20_000), name


def test_culler_s_few_sends_wait_for_the_gap_where_it_is_longer_than_the_overhead(table):
    found = at_smallest_size(table)[CULLER]
    assert found["o_s"][0] == pytest.approx((3 * 4.0 + 1.0) / 4 * US, rel=0.02)
    delayed = 1.0 + 1.5
    assert found["o_r"][0] == pytest.approx((delayed - (3 * 4.0 + 1.0) / 4) * US, rel=0.05)
    half = prtt(NETWORK, 1, 0.0, 1) / 2
    assert found["L"][0] == pytest.approx(half - found["o_s"][0] - found["o_r"][0], rel=0.01)


def test_kielmann_s_overheads_are_those_of_single_calls_and_its_latency_has_the_gap_taken_off(table):
    found = at_smallest_size(table)[KIELMANN]
    flood = prtt(NETWORK, 64, 0.0, 0) / 64
    assert found["o_s"][0] == pytest.approx(1.0 * US, rel=0.02)
    assert found["o_r"][0] == pytest.approx(1.5 * US, rel=0.02)
    assert found["L"][0] == pytest.approx((prtt(NETWORK, 1, 0.0, 0) - 2 * flood) / 2, rel=0.02)


def test_bell_s_knee_gives_the_send_overhead_and_no_latency(table):
    found = at_smallest_size(table)[BELL]
    assert "L" not in found
    assert found["EEL"][0] == pytest.approx(prtt(NETWORK, 1, 0.0, 1), rel=0.01)
    flood = prtt(NETWORK, 64, 0.0, 1) / 64
    assert found["o_s"][0] == pytest.approx(flood - (4.0 - 1.0) * US, rel=0.15)


def test_every_interval_holds_its_value_and_overheads_grow_with_the_size(table):
    assert (table["low_ps"] <= table["value_ps"]).all()
    assert (table["value_ps"] <= table["high_ps"]).all()
    for method in (PRTT, KIELMANN):
        own = table[(table["method"] == method) & (table["parameter"] == "o_s") & (table["size"] > 1000)]
        slope = np.polyfit(own["size"], own["value_ps"], 1)[0]
        assert slope == pytest.approx(NETWORK.of(1).O, rel=0.1), method


def test_methods_whose_series_were_not_recorded_have_no_rows_and_the_plot_says_so(samples):
    old = samples[samples["series"].isin(["rtt", "train", "paced", "wait"])]
    table = compare_methods(old, estimate(old))
    assert set(table["method"]) == {PRTT}
    assert len(plot_methods(table).axes) == 4
    assert len(plot_methods(table.iloc[:0]).axes) == 4


def test_samples_with_a_lost_core_do_not_count(samples):
    spoilt = samples.assign(disturbed=(samples["repetition"] == 0).astype(int))
    spoilt.loc[spoilt["disturbed"] > 0, "value_ns"] *= 50
    clean = compare_methods(samples[samples["repetition"] > 0], estimate(samples))
    found = compare_methods(spoilt, estimate(samples))
    columns = ["method", "parameter", "size", "value_ps"]
    pd.testing.assert_frame_equal(found[columns], clean[columns])


def test_one_pause_that_met_a_detour_does_not_cost_bell_his_overhead():
    fast = Network(((1, parameters(1.0, 0.05, 0.06, 0.2, 0.0002, 0.0001)),), None)
    clean = emulate(fast, seed=1, scatter=0.005, new_series=True)
    fit, hit = estimate(clean), clean.copy()
    one = clean.index[(clean["series"] == "spaced") & (clean["size"] == 1)][40]
    hit.loc[one, ["delay_ns", "value_ns"]] += [1e6 / 15, 1e6]
    expected = at_smallest_size(compare_methods(clean, fit))[BELL]["o_s"][0]
    assert at_smallest_size(compare_methods(hit, fit))[BELL]["o_s"][0] == pytest.approx(expected, rel=0.01)


def test_spaced_samples_with_a_lost_core_do_not_count_though_no_two_waited_alike(samples):
    spaced = samples["series"] == "spaced"
    uneven = samples.assign(delay_ns=samples["delay_ns"] + spaced * samples["repetition"] * 1e-3)
    spoilt = uneven.assign(disturbed=(spaced & (samples["repetition"] % 3 == 0)).astype(int))
    kept = undisturbed(spoilt)
    assert kept["disturbed"].sum() == 0
    assert len(kept) == len(spoilt) - spoilt["disturbed"].sum()
