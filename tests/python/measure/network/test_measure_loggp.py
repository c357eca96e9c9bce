"""What the estimator promises: known parameters come back, switches are found, what fails is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from emulated_samples import emulate, parameters
from idlewave.errors import MeasurementError
from idlewave.measure import FittedParameters, Network, estimate, prtt
from idlewave.measure.network.fitting.bootstrap import NAMES
from idlewave.measure.network.fitting.loggp import median_interval
from known_networks import PUBLISHED, RENDEZVOUS
from long_cases import most_long


def random_network(seed):
    """Odd seeds have a rendezvous with parameters of its own; o_r, which is not seen in one, stays."""
    random = np.random.default_rng(seed)
    o = random.uniform(0.05, 5)
    o_r, g, G = o * random.uniform(0.5, 1.5), o * random.uniform(1, 4), 10 ** random.uniform(-4, -2)
    base = parameters(10 ** random.uniform(-1, 2), o, o_r, g, G, G * random.uniform(0, 0.9))
    if seed % 2 == 0:
        return Network(((1, base),), None)
    S, per_byte = int(random.choice([1024, 4096, 12_288, 16_384, 65_536])), base.G * random.uniform(0.5, 1.5)
    data = FittedParameters(
        L=base.L * random.uniform(0.8, 1.5),
        o_s=base.o_s * random.uniform(1, 2),
        o_r=base.o_r,
        g=base.g * random.uniform(0.5, 3),
        G=per_byte,
        O=per_byte * random.uniform(0, 0.9),
    )
    return Network(((1, base), (S + 1, data)), S)


def assert_recovered(fit, truth):
    """Every parameter within 2 % or 20 ns (0.02 ns a byte), or inside its interval where that is wider."""
    for r in fit.ranges:
        true = truth.of(r.first)
        for name in set(NAMES) - set(r.hidden):
            found, wanted = getattr(r.parameters, name), getattr(true, name)
            low, high = r.intervals[name]
            allowed = max(0.02 * wanted, 20.0 if name in ("G", "O") else 20_000.0)
            assert abs(found - wanted) <= allowed or low <= wanted <= high, (
                r.first,
                name,
                found,
                wanted,
                (low, high),
            )


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_machines_are_recovered_with_their_switches(name):
    truth = PUBLISHED[name]
    fit = estimate(emulate(truth, seed=1), truth.S)
    assert_recovered(fit, truth)
    assert fit.S == truth.S
    switches = {first for first, _ in truth.ranges}
    assert switches <= {r.first for r in fit.ranges} <= switches | {65_537}


@pytest.mark.parametrize("name", RENDEZVOUS)
def test_published_machines_are_recovered_through_a_rendezvous(name):
    truth = RENDEZVOUS[name]
    fit = estimate(emulate(truth, seed=2), truth.S)
    assert_recovered(fit, truth)
    assert [(r.first, r.rendezvous) for r in fit.ranges] == [(1, False), (truth.S + 1, True)]


@pytest.mark.parametrize("seed", most_long(range(30), 6))
def test_random_machines_are_recovered_and_their_round_trips_predicted(seed):
    truth = random_network(seed)
    fit = estimate(emulate(truth, seed), truth.S)
    assert_recovered(fit, truth)
    assert fit.S == truth.S
    for size in (1, 1000, 200_000):
        for messages in (1, 16):
            expected = prtt(truth, messages, 0.0, size)
            assert prtt(fit.network, messages, 0.0, size) == pytest.approx(expected, rel=0.02)


def test_a_header_counted_in_the_eager_limit_is_seen():
    truth = RENDEZVOUS["infiniband"]
    assert estimate(emulate(truth, seed=3), truth.S + 56).S == truth.S


def test_intervals_hold_the_truth_nearly_always_under_scatter():
    truth = PUBLISHED["odin"]
    truth = Network(truth.ranges, None)
    held = []
    for seed in range(10):
        fit = estimate(emulate(truth, seed, scatter=0.02), None, seed)
        assert [r.first for r in fit.ranges] == [1]
        r = fit.ranges[0]
        held += [r.intervals[n][0] <= getattr(truth.ranges[0][1], n) <= r.intervals[n][1] for n in NAMES]
    assert np.mean(held) > 0.8
    assert all(r.intervals[n][0] < r.intervals[n][1] for r in fit.ranges for n in NAMES)


def test_a_negative_latency_is_said_and_not_smoothed_over():
    impossible = Network(((1, parameters(-2.0, 2.3, 2.3, 3.0, 0.0025, 0.001)),), None)
    with pytest.raises(MeasurementError, match=r"^L for messages of 1 to \d+ B came out negative: -.* ns \[-.*, -.*\]"):
        estimate(emulate(impossible, seed=1), None)


def test_a_rendezvous_quicker_than_the_rules_is_taken_as_eager_and_that_is_said():
    control, data = (
        parameters(5.0, 1.0, 1.0, 2.0, 0.001, 0.0005),
        parameters(-9.0, 1.0, 1.0, 2.0, 0.001, 0.0005),
    )
    truth = Network(((1, control), (4097, data)), 4096)
    fit = estimate(emulate(truth, seed=1), 4096)
    assert fit.S is None
    assert not any(r.rendezvous for r in fit.ranges)
    assert any("quicker than the three transmissions" in note for note in fit.notes)
    for size in (1, 5000, 200_000):
        assert prtt(fit.network, 1, 0.0, size) == pytest.approx(prtt(truth, 1, 0.0, size), rel=0.05)


def test_a_curve_that_no_parameters_give_is_said_with_its_parameter():
    samples = emulate(PUBLISHED["tcp-gige"], seed=1)
    wild = np.random.default_rng(1).uniform(0.05, 20, 1 + samples["size"].max())
    train = samples["series"] == "train"
    samples.loc[train, "value_ns"] *= wild[samples.loc[train, "size"]]
    with pytest.raises(MeasurementError, match=r"^(g|L|o_s|o_r) for messages of .* is not determined"):
        estimate(samples, None)


def test_medians_so_uncertain_that_any_fit_would_do_give_none():
    samples = emulate(PUBLISHED["tcp-gige"], seed=1, repetitions=8)
    random = np.random.default_rng(1)
    waited = samples["delay_ns"] * (samples["n"] - 1)
    samples["value_ns"] = waited + (samples["value_ns"] - waited) * random.lognormal(0, 1.5, len(samples))
    with pytest.raises(MeasurementError, match="from those measured at the median size, more than 25%"):
        estimate(samples, None)


def test_repetitions_on_a_slowed_machine_are_set_aside_and_that_is_said():
    truth = PUBLISHED["tcp-gige"]
    samples = emulate(truth, seed=1)
    slow = samples["repetition"] < 10
    waited = samples["delay_ns"] * (samples["n"] - 1)
    samples.loc[slow, "value_ns"] += 0.8 * (samples["value_ns"] - waited)[slow]
    fit = estimate(samples, None)
    assert (fit.steady, fit.repetitions) == (20, 30)
    assert any("10 of 30 repetitions were set aside" in note for note in fit.notes)
    assert_recovered(fit, truth)


def test_repetitions_of_one_size_do_not_outvote_those_of_all_sizes():
    truth = PUBLISHED["tcp-gige"]
    samples = emulate(truth, seed=1)
    one_size = samples[samples["size"] == 64]
    bisecting = [one_size.assign(repetition=one_size["repetition"] + 30 * i, slowed=True) for i in (1, 2, 3)]
    both = pd.concat([samples.assign(slowed=False), *bisecting], ignore_index=True)
    waited = both["delay_ns"] * (both["n"] - 1)
    both.loc[both["slowed"], "value_ns"] += 0.8 * (both["value_ns"] - waited)[both["slowed"]]
    fit = estimate(both, None)
    assert (fit.steady, fit.repetitions) == (30, 120)
    assert_recovered(fit, truth)


def test_times_that_grow_faster_than_by_a_line_from_0_are_fitted_without_a_part_below_0():
    samples = emulate(PUBLISHED["tcp-gige"], seed=1)
    grown = samples["size"] > 32_768
    waited = samples["delay_ns"] * (samples["n"] - 1)
    steeper = (samples["size"] / 32_768) ** 0.3  # caches that hold less and less of a message
    samples.loc[grown, "value_ns"] = (waited + (samples["value_ns"] - waited) * steeper)[grown]
    fit = estimate(samples, None)
    largest = fit.ranges[-1]
    assert largest.parameters.L == 0
    assert 0 < largest.held < 0.06
    assert any("Held at 0" in note and "grow faster" in note for note in fit.notes)
    assert fit.predictions["residual"].abs().median() < 0.06


def test_a_machine_that_never_runs_alike_gives_no_result():
    samples = emulate(PUBLISHED["tcp-gige"], seed=1, repetitions=12)
    samples["value_ns"] *= 1.5 ** samples["repetition"]
    with pytest.raises(MeasurementError, match="ran alike"):
        estimate(samples, None)


def test_repetitions_that_never_run_alike_are_fitted_all_together_where_a_failed_fit_is_noted():
    samples = emulate(PUBLISHED["tcp-gige"], seed=1, repetitions=13)
    samples["value_ns"] *= 1.5 ** samples["repetition"]
    fit = estimate(samples, None, failed_fit="noted")
    assert (fit.steady, fit.repetitions, fit.ran_alike) == (1, 13, False)
    assert fit.failures[0].startswith("Of the 13 repetitions of PRTT too few ran alike")
    assert not any("set aside because they ran unlike" in note for note in fit.notes)
    trips = samples[(samples["series"] == "rtt") & (samples["size"] == 1)]["value_ns"]
    half = fit.medians[(fit.medians["curve"] == "half") & (fit.medians["size"] == 1)].iloc[0]
    assert (half["n"], half["median_ps"]) == (13, pytest.approx(500 * trips.median()))
    few = samples[samples["repetition"] < 4]
    with pytest.raises(MeasurementError, match="no 5 of 4 repetitions"):
        estimate(few, None, failed_fit="noted")


def test_missing_series_are_named():
    samples = emulate(PUBLISHED["tcp-gige"], seed=1, repetitions=6)
    with pytest.raises(MeasurementError, match="none of the series paced"):
        estimate(samples[samples["series"] != "paced"], None)


def test_the_median_s_interval_covers_at_its_confidence():
    random = np.random.default_rng(5)
    inside = 0
    for _ in range(1000):
        _, low, high, n = median_interval(random.exponential(1.0, 25))
        assert n == 25
        inside += low <= np.log(2) <= high
    assert 0.93 <= inside / 1000 <= 0.995


@pytest.mark.parametrize("free", ["o_s", "o_r"])
def test_calls_that_take_no_time_by_a_perfect_clock_are_fitted(free):
    truth = replace(parameters(20.0, 1.0, 1.5, 4.0, 0.002), **{free: 0.0})
    fit = estimate(emulate(Network(((1, truth),), None), seed=1, scatter=0.0, hits=0.0, new_series=True))
    assert [r.first for r in fit.ranges] == [1]
    for name in NAMES:
        assert getattr(fit.ranges[0].parameters, name) == pytest.approx(getattr(truth, name), rel=1e-6, abs=1.0)


def test_a_clock_that_is_coarser_than_a_call_gives_parameters_within_its_tick():
    truth = parameters(1.0, 0.1, 0.01, 0.3, 0.0003, 0.0001)
    samples = emulate(Network(((1, truth),), None), seed=1, scatter=0.01, new_series=True)
    tick = 40.0
    samples["value_ns"] = np.floor(samples["value_ns"] / tick) * tick
    assert samples.loc[(samples["series"] == "wait") & (samples["size"] == 1), "value_ns"].median() == 0
    found = estimate(samples).ranges[0].parameters
    for name in ("L", "o_s", "o_r", "g"):
        assert getattr(found, name) == pytest.approx(getattr(truth, name), abs=1000 * tick), name
