"""Forests that detect traffic: planted effects are found, in their order, and nothing is found where nothing is."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from idlewave.contention.columns import MEMORY_BYTES
from idlewave.contention.evaluation import Evaluation, alarm_threshold, learn
from idlewave.contention.features import (
    feature_sets,
    features,
    features_by_victim,
    quiet_baselines,
)
from idlewave.contention.forest import Detector, ForestSettings, probability
from idlewave.contention.impact_statistics import impact_table
from idlewave.contention.pair_statistics import NO_SLOWDOWN, SUFFERS, UNDECIDED, suffering
from idlewave.contention.table import has_traffic
from idlewave.contention.table_folder import read_contention
from idlewave.errors import InputError, LibraryError
from planted_contention import DRAM, QUIET, contention_table
from sklearn.ensemble import RandomForestClassifier

FEW_TREES = ForestSettings(trees=10, seed=3)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Two victims that suffer, and one on which traffic has no effect."""
    return contention_table(
        {"stream": DRAM, "stencil": {}, "cg": DRAM}, slowdown={"stream": 0.3, "cg": 0.2}, pairs=10, iterations=8
    )


@pytest.fixture(scope="module")
def learnt(table: pd.DataFrame) -> tuple[Detector, Evaluation]:
    return learn(table, FEW_TREES)


def scores_of(found: Evaluation, victim: str, name: str) -> pd.Series:
    scores = found.scores
    return scores[(scores["victim"] == victim) & (scores["set"] == name)].iloc[0]


def test_out_of_bag_scores_are_those_of_scikit_learn(table: pd.DataFrame, learnt: tuple[Detector, Evaluation]) -> None:
    for victim, own in table.groupby("victim"):
        for name, columns in feature_sets(table).columns.items():
            quiet = own[own["traffic"] == "none"]
            values = [own[[column]].to_numpy() for column in columns]
            ratios = [own[[column]].to_numpy() / quiet[column].median() for column in columns]
            given = np.hstack([each for pair in zip(values, ratios, strict=True) for each in pair])
            forest = RandomForestClassifier(FEW_TREES.trees, oob_score=True, random_state=FEW_TREES.seed)
            forest.fit(given, own["traffic"] != "none")
            found = scores_of(learnt[1], str(victim), name)
            assert found["oob"] == pytest.approx(forest.oob_score_, abs=0.01)
            assert found["oob_low"] <= found["oob"] <= found["oob_high"]


def test_traffic_is_found_in_the_level_that_it_reaches_and_in_no_other(learnt: tuple[Detector, Evaluation]) -> None:
    for victim in ("stream", "cg"):
        assert scores_of(learnt[1], victim, "l3")["held_out_low"] > 0.9
        for name in ("l1", "l2"):
            assert scores_of(learnt[1], victim, name)["held_out_high"] < 0.75


def test_a_victim_without_effect_is_at_chance_level_and_does_not_suffer(learnt: tuple[Detector, Evaluation]) -> None:
    _, found = learnt
    verdicts = found.suffering.set_index("victim")["verdict"]
    assert verdicts.to_dict() == {"stream": SUFFERS, "stencil": NO_SLOWDOWN, "cg": SUFFERS}
    for name in ("l1", "l2", "l3"):
        own = scores_of(found, "stencil", name)
        assert abs(own["oob"] - 0.5) < 0.17  # 160 iterations: four standard deviations
        assert own["verdict"] == NO_SLOWDOWN
        assert own["majority"] == 0.5


def test_one_feature_does_as_well_where_one_column_says_everything(learnt: tuple[Detector, Evaluation]) -> None:
    found = scores_of(learnt[1], "stream", "l3")
    assert found["logistic"] > 0.9
    assert found["logistic_feature"].startswith("probe.latency_dram_s")
    assert abs(scores_of(learnt[1], "stencil", "l3")["logistic"] - 0.5) < 0.17


def test_victims_that_were_not_trained_on_are_classified_by_their_own_quiet_baseline(
    learnt: tuple[Detector, Evaluation],
) -> None:
    across = learnt[1].across.set_index(["victim", "set", "baseline"])
    for victim in ("stream", "cg"):
        assert across.loc[(victim, "l3", "own"), "score_low"] > 0.6
        # The victims of this table differ in scale, so that another one's baseline says nothing.
        assert across.loc[(victim, "l3", "others"), "score"] == pytest.approx(0.5, abs=0.1)
    assert across.loc[("stencil", "l3", "own"), "score"] == pytest.approx(0.5, abs=0.17)
    assert (across["iterations"] < 160).all()  # the pairs of the baseline are not scored


def test_a_set_that_is_no_better_than_chance_is_said_to_detect_nothing(learnt: tuple[Detector, Evaluation]) -> None:
    said = [note.partition(":")[0] for note in learnt[1].notes if "detects nothing" in note]
    assert said == ["l1", "l2"]


def test_importances_come_in_the_planted_order() -> None:
    planted = {"probe.latency_dram_s": 2.2, "probe.bandwidth_dram_Bps": -1.5, "probe.latency_l3_s": 0.8}
    table = contention_table({"lj": planted}, pairs=24, iterations=12)
    found = learn(table, FEW_TREES)[1]
    assert "one victim alone" in found.notes[0]
    own = found.importances[found.importances["set"] == "l3"].sort_values("importance", ascending=False)
    assert list(own["column"])[:2] == ["probe.latency_dram_s", "probe.bandwidth_dram_Bps"]
    first, second, *others = own.to_dict(orient="records")
    assert first["importance_low"] > second["importance"] > second["importance_low"] > 0
    assert all(other["importance_high"] < second["importance"] for other in others)
    none = found.importances[found.importances["set"] == "l1"]
    assert ((none["importance_low"] < 0.05) & (none["importance_high"] > -0.1)).all()


@pytest.mark.long
def test_the_same_seed_gives_the_same_detector(table: pd.DataFrame) -> None:
    few = table[table["victim"] == "cg"]
    first, again = (learn(few, ForestSettings(trees=3, seed=9)) for _ in range(2))
    pd.testing.assert_frame_equal(first[1].scores, again[1].scores)
    assert first[0].thresholds == again[0].thresholds


def test_a_victim_suffers_by_the_slowdown_that_the_impact_of_its_traffic_has(table: pd.DataFrame) -> None:
    found = suffering(table, seed=4).set_index("victim")
    impact = impact_table(table, seed=4).set_index("victim")
    columns = ["slowdown", "low", "high", "pairs"]
    pd.testing.assert_frame_equal(found.loc[impact.index, columns], impact[columns], check_dtype=False)
    assert found.loc["stream", "slowdown"] == pytest.approx(1.3, rel=0.03)


@pytest.mark.long
def test_of_victims_without_effect_few_are_said_to_suffer() -> None:
    victims = {f"v{number}": {} for number in range(150)}
    table = contention_table(victims, pairs=8, iterations=2, run_scatter=0.2, measured=())
    wrong = (suffering(table)["verdict"] == SUFFERS).mean()
    assert 0.005 < wrong < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(victims))


def test_with_few_pairs_nothing_is_said_of_suffering() -> None:
    table = contention_table({"stream": {}}, slowdown={"stream": 1.0}, pairs=4, measured=())
    assert list(suffering(table)["verdict"]) == [UNDECIDED]
    half = table[has_traffic(table) | (table["pair"] > 0)]
    assert list(suffering(half)["pairs"]) == [3]  # a pair that lacks a run is left out


@pytest.mark.parametrize("level", [0.02, 0.1, 0.3])
def test_a_threshold_is_exceeded_by_the_stated_share_of_quiet_iterations(level: float) -> None:
    random = np.random.default_rng(4)
    wrong = [random.random() > alarm_threshold(random.random(99), level) for _ in range(4000)]
    tolerance = 4 * np.sqrt(level / 4000)
    assert level - 0.01 - tolerance < np.mean(wrong) <= level + tolerance


def test_too_few_quiet_iterations_have_no_threshold() -> None:
    assert alarm_threshold(np.zeros(98), 0.01) == 1.0
    assert alarm_threshold(np.zeros(99), 0.01) == 0.0


@pytest.mark.long
def test_detectors_of_many_tables_raise_as_many_false_alarms_as_stated() -> None:
    level, rates, hits = 0.1, [], []
    for seed in range(4):
        table = contention_table({"stream": DRAM}, pairs=8, iterations=8, seed=seed)
        detector, _ = learn(table, ForestSettings(trees=8, seed=seed), alarm_level=level)
        fresh = contention_table({"stream": DRAM}, pairs=12, iterations=20, seed=100 + seed)
        columns = detector.columns["l3"]
        given = features(fresh, columns, detector.baselines["stream"], values=False).to_numpy()
        alarms = probability(detector.forests["l3"], given) > detector.thresholds["l3"]
        rates.append(alarms[~has_traffic(fresh)].mean())
        hits.append(alarms[has_traffic(fresh)].mean())
    assert np.mean(rates) < level + 0.05
    assert np.mean(hits) > 0.85


def test_counters_are_features_where_there_are_some_and_probes_elsewhere() -> None:
    counted = tuple(name for name in QUIET if name.startswith("counter."))
    both = contention_table({"stream": {}}, pairs=2, measured=tuple(QUIET))
    assert set(feature_sets(both).sources.values()) == {"counter"}
    assert feature_sets(both).columns["l2"] == ("counter.l2_misses",)
    assert set(feature_sets(both, "probe").sources.values()) == {"probe"}
    assert feature_sets(both).columns["l3"] == ("counter.l3_misses", MEMORY_BYTES)
    assert feature_sets(both.drop(columns=MEMORY_BYTES)).columns["l3"] == ("counter.l3_misses",)
    no_misses = feature_sets(both.assign(**{"counter.l3_misses": np.nan}))
    assert no_misses.sources == {"l1": "counter", "l2": "counter", "l3": "probe"}
    some = contention_table({"stream": {}}, pairs=2, measured=("counter.l1_misses", *QUIET)[:1] + tuple(
        name for name in QUIET if name.startswith("probe.")
    ))  # fmt: skip
    assert feature_sets(some).sources == {"l1": "counter", "l2": "probe", "l3": "probe"}
    alone = contention_table({"stream": {}}, pairs=2, measured=counted)
    with pytest.raises(InputError, match="expected probes of l1 in the table"):
        feature_sets(alone, "probe")
    given = features(both, ("counter.l1_misses",), quiet_baselines(both, ["counter.l1_misses"])[""])
    assert list(given) == ["counter.l1_misses", "counter.l1_misses / quiet", "counter.l1_misses per cycle"]


def test_a_ratio_is_to_the_median_of_the_victim_s_own_quiet_iterations() -> None:
    table = contention_table({"stream": DRAM, "cg": DRAM}, pairs=3)
    columns = ("probe.latency_dram_s",)
    ratios = features_by_victim(table, columns, quiet_baselines(table, columns))
    for victim in ("stream", "cg"):
        quiet = (table["victim"] == victim) & (table["traffic"] == "none")
        assert ratios.loc[quiet].median().item() == pytest.approx(1.0)


def test_iterations_that_lack_a_value_are_left_out_and_said() -> None:
    table = contention_table({"stream": DRAM}, pairs=4, iterations=5)
    table.loc[3, "probe.latency_l2_s"] = np.nan
    _, found = learn(table, ForestSettings(trees=3))
    assert "1 of 40 iterations lack a value, and are left out" in found.notes
    assert set(found.scores["iterations"]) == {39}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda table: table["traffic"] == "none", "found none with traffic"),
        (lambda table: table["traffic"] != "none", "found none without traffic"),
        (lambda table: table["pair"] == 0, "'stream': expected at least two pairs of runs"),
    ],
)
def test_a_table_that_nothing_can_be_learnt_from_is_refused(rows: object, said: str) -> None:
    table = contention_table({"stream": DRAM}, pairs=2)
    with pytest.raises(InputError, match=said):
        learn(table[rows(table)], FEW_TREES)  # type: ignore[operator]


def test_a_table_is_read_from_a_file_and_from_a_folder_of_files(tmp_path) -> None:
    table = contention_table({"stream": DRAM}, pairs=2, iterations=3)
    table.to_csv(tmp_path / "all.csv", index=False)
    (tmp_path / "folder/runs").mkdir(parents=True)
    for pair, rows in table.groupby("pair"):
        rows.to_parquet(tmp_path / f"folder/runs/pair-{pair}.parquet", index=False)
    for place in ("all.csv", "folder"):
        found = read_contention(tmp_path / place)
        np.testing.assert_allclose(found["seconds"], table["seconds"])
        assert found["counter.cycles"].isna().all()
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: expected the table of contention"):
        read_contention(tmp_path / "empty")
    lacking = table.drop(columns=[name for name in table if name.startswith("counter.")])
    lacking.to_parquet(tmp_path / "lacking.parquet")
    pd.testing.assert_frame_equal(read_contention(tmp_path / "lacking.parquet"), read_contention(tmp_path / "folder"))
    table.drop(columns="victim").to_parquet(tmp_path / "other.parquet")
    with pytest.raises(InputError, match=r"other\.parquet: lacks the columns victim"):
        read_contention(tmp_path / "other.parquet")


def test_without_scikit_learn_the_error_says_how_to_get_it(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(LibraryError, match=r"pip install 'idlewave\[contention\]'"):
        learn(table, FEW_TREES)
