"""What the report computes from measurements and studies before anything is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from idlewave import InputError
from idlewave.measure.noise.detour_plots import thin_detours
from idlewave.report import Report
from idlewave.report.noise_summary import decade_label, magnitudes, noise_summary
from idlewave.report.study_scales import scales
from report_samples import MS, US, S, noise, noise_of, study


def test_a_table_that_is_no_study_is_refused_with_the_column_that_it_lacks():
    with pytest.raises(InputError, match="the study: lacks the columns finish_ps"):
        Report(study=study().drop(columns="finish_ps"))


def test_overhead_by_magnitude_adds_up_to_the_overhead_of_each_core():
    data = noise()
    sums = magnitudes(data).groupby("core")["overhead"].sum()
    assert sums.to_numpy() == pytest.approx(data.cores["overhead"].to_numpy())


def test_decades_are_labelled_in_one_unit():
    labels = [decade_label(exponent).replace("\u202f", " ") for exponent in (5, 6, 7, 8, 9)]
    assert labels == ["0.1–1 µs", "1–10 µs", "10–100 µs", "0.1–1 ms", "1–10 ms"]


def test_the_dominating_decade_is_the_one_that_costs_most_not_the_most_frequent():
    detours = pd.DataFrame({"core": 0, "start_ps": range(101), "length_ps": [2 * US] * 100 + [5 * MS]})
    summary = noise_summary(noise_of(detours, 1, 4.0))
    assert summary.decade is not None
    assert summary.decade.startswith("1–10")
    assert summary.decade.endswith("ms")


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
    first, second = scales(table)
    assert first.slowdowns == pytest.approx((1.0,))
    assert second.baseline_s is None
    assert second.slowdowns == ()
