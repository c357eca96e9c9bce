"""Slowdowns that are put into a table come out of it, with intervals that cover them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from contention_tables import contention_table
from idlewave import contention
from idlewave.contention.analysis import ContentionAnalysis
from idlewave.contention.columns import COLUMNS, COUNTERS, LEVELS, MEMORY_BYTES
from idlewave.contention.correlations import correlation_table, normalisation_notes
from idlewave.contention.findings import contention_findings
from idlewave.contention.impact_statistics import impact_table, rate_notes
from idlewave.contention.pair_statistics import bootstrap_mean
from idlewave.contention.slowdowns import expanded_level
from idlewave.contention.table import complete_pairs
from idlewave.contention.table_folder import read_contention
from idlewave.errors import InputError
from idlewave.formatting import plain
from long_cases import most_long


def planted(victim: str, rate: float, cores: int) -> float:
    return 1.0 if victim == "stencil" else 1 + cores * rate / 4e9


def test_the_slowdown_is_that_which_was_planted_by_victim_rate_and_cores() -> None:
    table = contention_table(planted, victims=("cg", "stencil"), rates=(1e9, 2e9), cores=(1, 2))
    impact = impact_table(table, draws=400)
    assert len(impact) == 8
    for row in impact.itertuples():
        truth = planted(str(row.victim), float(row.pair_rate_Bps), int(row.cores))  # type: ignore[arg-type]
        assert row.slowdown == pytest.approx(truth, rel=0.02)
        assert row.pairs == 6


@pytest.mark.long
@pytest.mark.parametrize("pairs", most_long([5, 10], 1))
def test_the_interval_covers_the_truth_as_often_as_it_says(pairs: int) -> None:
    """Of 60 tables with scatter between pairs, of which 95 % should: fewer than 51 have a probability below 0.3 %."""
    covered = 0
    for seed in range(60):
        table = contention_table(
            lambda *_: 1.5, rates=(1e9,), pairs=pairs, iterations=8, scatter=0.02, between_pairs=0.05, seed=seed
        )
        row = impact_table(table, draws=200, seed=seed).iloc[0]
        covered += bool(row["low"] <= 1.5 <= row["high"])
    assert covered >= 51


def test_few_pairs_have_wider_intervals_than_the_normal_law() -> None:
    assert expanded_level(1000) == pytest.approx(0.95, abs=1e-3)
    assert expanded_level(5) > expanded_level(10) > 0.95


def test_one_pair_has_a_slowdown_and_no_interval() -> None:
    row = impact_table(contention_table(planted, rates=(1e9,), pairs=1), draws=50).iloc[0]
    assert row["slowdown"] == pytest.approx(1.25, rel=0.05)
    assert np.isnan(row["low"])
    assert np.isnan(row["high"])


def test_a_pair_whose_second_run_was_cut_away_does_not_count() -> None:
    table = contention_table(planted, rates=(1e9,), pairs=3)
    cut = table[~((table["pair"] == 1) & (table["traffic"] == "writer"))]
    assert set(complete_pairs(cut)["pair"]) == {0, 2}
    assert impact_table(cut, draws=50)["pairs"].tolist() == [2]


def test_runs_of_two_starts_are_no_pair() -> None:
    table = contention_table(planted, rates=(1e9,), pairs=1)
    table.loc[table["traffic"] == "writer", "run"] = 1
    with pytest.raises(InputError, match="no pair of runs"):
        impact_table(table)


def test_a_rate_that_was_not_reached_is_said_with_what_was_reached() -> None:
    table = contention_table(planted, rates=(1e9, 2e9), reached=0.6)
    assert [*map(plain, rate_notes(table))] == [
        "Traffic 'writer' from 1 core: 1 GB/s were asked, and 600 MB/s were reached.",
        "Traffic 'writer' from 1 core: 2 GB/s were asked, and 1.2 GB/s were reached.",
    ]
    assert not impact_table(table, draws=20)["reached"].any()
    assert rate_notes(contention_table(planted, reached=0.995)) == []


def test_correlations_are_found_where_they_were_planted_and_only_there() -> None:
    table = contention_table(planted, victims=("cg", "lj"), rates=(1e9, 2e9), scatter=0.1)
    found = correlation_table(table, draws=100).set_index(["traffic", "metric", "column"])
    busy = found.loc[("writer", "seconds", "probe.latency_dram_s")]
    quiet = found.loc[("none", "seconds", "probe.latency_dram_s")]
    assert busy["correlation"] > 0.99
    assert abs(quiet["correlation"]) < 0.2
    assert quiet["low"] < 0 < quiet["high"]
    assert not any(column.startswith("counter.") for column in found.index.get_level_values("column"))


def noise_table(seed: int) -> pd.DataFrame:
    """Times and probes that differ from run to run, and have nothing to do with each other."""
    table = contention_table(lambda *_: 1.0, victims=("cg", "lj"), pairs=4, iterations=6, seed=seed)
    random = np.random.default_rng(seed)
    run = table.groupby(["pair", "traffic"]).ngroup().to_numpy()
    for column in ["seconds", *(name for name in table if str(name).startswith("probe."))]:
        table[column] = np.exp(random.normal(0, 0.05, run.max() + 1)[run] + random.normal(0, 0.01, len(table)))
    return table


@pytest.mark.long
@pytest.mark.parametrize("tables", most_long([8, 60], 1))
def test_of_tables_of_noise_few_have_a_correlation_beyond_chance(tables: int) -> None:
    """5 % should, and more than these have a probability below 0.4 %."""
    found = [ContentionAnalysis("t", noise_table(seed)) for seed in range(tables)]
    claimed = ["correlations" in dict(contention_findings(one)) for one in found]
    assert sum(claimed) <= {8: 3, 60: 8}[tables]


def test_one_pair_has_coefficients_and_nothing_is_claimed_of_them() -> None:
    table = contention_table(planted, rates=(1e9,), pairs=1)
    found = correlation_table(table)
    assert found["correlation"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)
    assert (found["p"] == 1).all()
    assert "correlations" not in dict(contention_findings(ContentionAnalysis("t", table)))


def test_of_what_was_planted_the_correlation_is_claimed() -> None:
    found = contention_findings(ContentionAnalysis("t", contention_table(planted, scatter=0.1)))
    said = plain(dict(found)["correlations"])
    assert re.fullmatch(
        r"With traffic \(writer\) the time goes best with latency of DRAM: 1\.00 \(1\.00 to 1\.00\)\.", said
    )


@pytest.mark.parametrize(("pairs", "least"), [(5, 0.88), (8, 0.88)])
def test_a_share_over_pairs_is_covered_as_often_as_its_interval_says(pairs: int, least: float) -> None:
    """Of 200 shares, of which 95 % should: fewer than 88 % have a probability below 0.1 %."""
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        means = random.normal(0.7, 0.1, pairs)
        found = bootstrap_mean(np.repeat(means, 4), np.repeat(np.arange(pairs), 4), seed=1)
        covered += found.low <= 0.7 <= found.high
    assert covered >= least * 200


def test_a_share_over_one_pair_has_no_interval() -> None:
    found = bootstrap_mean([0.0, 1.0], [7, 7], seed=1)
    assert found.value == 0.5
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_a_time_that_is_none_is_refused(wrong: float, tmp_path: Path) -> None:
    table = contention_table(planted)
    table.loc[7, "seconds"] = wrong
    with pytest.raises(InputError, match="seconds: expected times above 0"):
        impact_table(table)
    table.to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(InputError, match=r"table\.csv.*seconds"):
        read_contention(tmp_path / "table.csv")


def test_a_counter_takes_the_place_of_the_probe_and_one_that_stands_still_has_no_coefficient() -> None:
    table = contention_table(planted, scatter=0.1)
    table["counter.stalled_cycles"] = table["seconds"] * 1e9
    table["counter.l1_misses"] = 5.0
    found = correlation_table(table, draws=50).set_index(["traffic", "metric", "column"])["correlation"]
    assert found["none", "seconds", "counter.stalled_cycles"] == pytest.approx(1)
    assert "counter.stalled_cycles" in found.index.get_level_values("metric")
    assert np.isnan(found["none", "seconds", "counter.l1_misses"])


def test_a_column_without_a_ratio_is_left_out_for_its_victim_alone_and_said() -> None:
    """Of one victim nothing misses the last level without traffic, of the other one nobody counted the second level."""
    table = contention_table(planted, victims=("cg", "lj"), scatter=0.1)
    quiet, cg = table["traffic"] == "none", table["victim"] == "cg"
    table["counter.l3_misses"] = np.where(cg & quiet, 0.0, 1e6 * table["seconds"])
    table["counter.l2_misses"] = np.where(cg, 1e6 * table["seconds"], np.nan)
    found = correlation_table(table, draws=50).set_index(["traffic", "metric", "column"]).sort_index()
    assert found.loc[("writer", "seconds", "counter.l3_misses"), "correlation"] == pytest.approx(1)
    rows = found.loc[("writer", "seconds"), "rows"]
    assert rows["counter.l3_misses"] == (~quiet & ~cg).sum()
    assert rows["counter.l2_misses"] == (~quiet & cg).sum()
    assert rows["probe.latency_dram_s"] == (~quiet).sum()
    without = correlation_table(table.drop(columns=["counter.l3_misses", "counter.l2_misses"]), draws=50)
    with_them = found.drop(index=["counter.l3_misses", "counter.l2_misses"], level="column").reset_index()
    with_them, without = (one.drop(columns="p_holm") for one in (with_them, without))  # over more columns
    keys = ["traffic", "metric", "column"]
    pd.testing.assert_frame_equal(with_them.set_index(keys).sort_index(), without.set_index(keys).sort_index())
    assert normalisation_notes(table) == [
        "cg: counter.l3_misses is 0 in the median without traffic: its correlations are without cg.",
        "lj: counter.l2_misses is not known without traffic: its correlations are without lj.",
    ]
    assert normalisation_notes(contention_table(planted)) == []


def test_the_command_shows_a_table_in_a_file_and_says_what_has_no_ratio(tmp_path: Path) -> None:
    table = contention_table(planted, pairs=2)
    table["counter.l3_misses"] = 0.0
    table.to_parquet(tmp_path / "table.parquet")
    done = run_command(["contention", "measure", "--from", "table.parquet"], tmp_path)
    assert done.status == 0, done.complained
    assert "Impact of traffic into memory" in done.printed
    assert "note: cg: counter.l3_misses is 0 in the median without traffic" in done.complained


def test_bytes_of_the_memory_controllers_are_correlated_beside_the_misses() -> None:
    table = contention_table(planted, scatter=0.1)
    table["counter.l3_misses"] = 2e6 * table["seconds"]
    table[MEMORY_BYTES] = 1e9 * table["seconds"]
    found = correlation_table(table, draws=50).set_index(["traffic", "metric", "column"])["correlation"]
    columns = found.index.get_level_values("column")
    assert list(columns[:2]) == ["counter.l3_misses", MEMORY_BYTES]
    assert found["writer", "seconds", MEMORY_BYTES] == pytest.approx(1)
    without = correlation_table(table.drop(columns=MEMORY_BYTES), draws=50)
    with_them = correlation_table(table, draws=50)
    rest = with_them[with_them["column"] != MEMORY_BYTES].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest.drop(columns="p_holm"), without.drop(columns="p_holm"))  # of more columns


@pytest.mark.parametrize(
    ("counters", "said"),
    [
        ({"memory_bytes": "uncore_imc_0: Permission denied"}, "counted: uncore_imc_0: Permission denied."),
        ({"memory_bytes": None}, "counted."),
        ({}, "counted."),
        (["memory_bytes"], "counted."),
    ],
)
def test_the_command_says_why_bytes_of_the_memory_controllers_are_missing(
    tmp_path: Path, counters: object, said: str
) -> None:
    runs = tmp_path / "impact/runs"
    runs.mkdir(parents=True)
    table = contention_table(planted, pairs=2)
    table.drop(columns=MEMORY_BYTES).to_parquet(runs / "run-000-pair-000000-quiet.parquet")
    settings = {"schema": 1, "plan": {}, "runs": 1, "said": {"probe": {"counters": counters}}}
    (tmp_path / "impact/contention.json").write_text(json.dumps(settings))
    done = run_command(["contention", "measure", "--from", "impact"], tmp_path)
    assert done.status == 0, done.complained
    notes = " ".join(done.complained.split())
    assert f"Bytes of the memory controllers were not {said}" in notes
    assert "The processor's counters could not be read" in notes


def test_the_command_does_not_take_bytes_of_the_machine_for_counters_of_the_victim(tmp_path: Path) -> None:
    table = contention_table(planted, pairs=2)
    table[MEMORY_BYTES] = 1e9 * table["seconds"]
    table.to_parquet(tmp_path / "table.parquet")
    done = run_command(["contention", "measure", "--from", "table.parquet"], tmp_path)
    assert "The processor's counters could not be read" in " ".join(done.complained.split())
    assert "Bytes of the memory controllers" not in done.complained


def test_a_table_without_a_whole_pair_has_no_correlations() -> None:
    table = contention_table(planted)
    with pytest.raises(InputError, match="no pair of runs"):
        correlation_table(table[table["traffic"] == "none"])


def test_the_columns_are_those_that_a_detector_reads() -> None:
    names = [column.name for column in COLUMNS]
    assert names == list(contention_table(planted).columns)
    assert [name for name in names if name.startswith("counter.")] == [
        *(f"counter.{name}" for name in COUNTERS),
        MEMORY_BYTES,
    ]
    assert {f"probe.latency_{level}_s" for level in LEVELS} | {f"probe.bandwidth_{level}_Bps" for level in LEVELS} == {
        name for name in names if name.startswith("probe.")
    }
    assert pd.Series(names).is_unique


def test_every_public_name_is_there_though_all_are_loaded_late() -> None:
    assert set(contention.__all__) <= set(dir(contention))
    for name in contention.__all__:
        assert getattr(contention, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Writer'"):
        _ = contention.Writer
