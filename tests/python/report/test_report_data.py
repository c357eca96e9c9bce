"""What a report accepts, and what is computed from tables before anything is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from idlewave.errors import InputError
from idlewave.measure.noise.detour_plots import thin_detours
from idlewave.report import MachineData, NetworkData, NetworkSegment, NoiseData, StudyData
from idlewave.report.network import predicted_ns, quantities
from idlewave.report.noise import decade_label, magnitudes, noise_figures
from idlewave.report.scale import scales
from report_samples import MS, US, S, network, noise


def test_a_table_without_a_column_is_refused_with_its_name_and_the_columns_expected():
    with pytest.raises(InputError, match=r"'noise\.detours' lacks the column length_ps.*found core, start_ps"):
        NoiseData(pd.DataFrame({"core": [0], "start_ps": [0]}), noise().cores)


def test_unknown_series_of_medians_are_refused():
    medians = quantities(network()).assign(series="prtt1")
    with pytest.raises(InputError, match="series prtt1: expected half_rtt"):
        NetworkData(network().samples, medians)


def test_quantities_of_exact_samples_are_the_parameters_they_were_made_from():
    rows = []
    for size in (1, 1001):
        k = size - 1
        single = 2 * (1000 + 200 + 300 + 0.5 * k)
        rows += [
            ("prtt1", size, 1, 0.0, 0, single),
            ("prttn", size, 11, 0.0, 0, single + 10 * (400 + 0.5 * k)),
            ("prttd", size, 11, 5000.0, 0, single + 10 * (200 + 5000.0)),
            ("o_r", size, 1, 5000.0, 0, 300.0),
        ]
    samples = pd.DataFrame(rows, columns=["series", "size", "n", "delay_ns", "repetition", "value_ns"])
    table = quantities(NetworkData(samples)).set_index(["series", "size"])["median_ns"]
    expected = {"half_rtt": (1500, 2000), "gap": (400, 900), "o_s": (200, 200), "o_r": (300, 300)}
    for series, values in expected.items():
        assert tuple(table[series]) == pytest.approx(values)


def test_above_the_eager_limit_the_model_adds_a_request_and_a_clear_to_send():
    exact = MachineData(name="m", L=1000, o_s=100, o_r=200, g=0, G=1.0, S=64)
    assert predicted_ns(exact, "half_rtt", [64, 65]) == pytest.approx([1.3 + 0.063, 3 * 1.3 + 0.064])


def test_a_segment_changes_only_what_it_names():
    changed = MachineData(
        name="m", L=1000, o_s=100, o_r=200, g=500, G=1.0, segments=(NetworkSegment(from_bytes=11, g=900.0),)
    )
    assert predicted_ns(changed, "gap", [10, 11]) == pytest.approx([0.509, 0.910])
    assert predicted_ns(changed, "o_r", [10, 11]) == pytest.approx([0.2, 0.2])


def test_overhead_by_magnitude_adds_up_to_the_overhead_of_each_core():
    data = noise()
    sums = magnitudes(data).groupby("core")["overhead"].sum()
    assert sums.to_numpy() == pytest.approx(data.cores["overhead"].to_numpy())


def test_decades_are_labelled_in_one_unit():
    labels = [decade_label(exponent).replace("\u202f", " ") for exponent in (5, 6, 7, 8, 9)]
    assert labels == ["0.1–1 µs", "1–10 µs", "10–100 µs", "0.1–1 ms", "1–10 ms"]


def test_the_dominating_decade_is_the_one_that_costs_most_not_the_most_frequent():
    detours = pd.DataFrame({"core": 0, "start_ps": range(101), "length_ps": [2 * US] * 100 + [5 * MS]})
    cores = noise(cores=1).cores.assign(overhead=0.001)
    figures = noise_figures(NoiseData(detours, cores))
    assert figures.decade is not None
    assert figures.decade.startswith("1–10")
    assert figures.decade.endswith("ms")


def test_thinning_keeps_the_longest_detours_and_the_limit():
    random = np.random.default_rng(6)
    count = 120_000
    lengths = random.lognormal(np.log(3 * US), 1.2, count).astype("int64")
    detours = pd.DataFrame(
        {"core": np.arange(count) % 2, "start_ps": random.integers(0, 5 * S, count), "length_ps": lengths},
        index=np.zeros(count, dtype=int),
    )
    kept = thin_detours(detours, limit=20_000)
    assert 10_000 < len(kept) <= 20_000
    for core in (0, 1):
        assert kept.loc[kept["core"] == core, "length_ps"].max() == lengths[core::2].max()


def test_few_detours_are_all_kept():
    detours = noise().detours
    assert thin_detours(detours) is detours


def test_slowdown_is_relative_to_the_run_without_noise_at_the_same_scale():
    rows = [(4, False, 0, 1 * S, 1, 0.1), (4, True, 0, 2 * S, 1, 0.1), (64, True, 0, 3 * S, 1, 0.1)]
    table = pd.DataFrame(rows, columns=["ranks", "noise", "seed", "finish_ps", "messages", "seconds"])
    first, second = scales(StudyData(table))
    assert first.slowdowns == pytest.approx((1.0,))
    assert second.baseline_s is None
    assert second.slowdowns == ()
