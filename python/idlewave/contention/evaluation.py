"""How well forests detect traffic: scores, importances and what does without a forest, each with a confidence
interval.

Iterations of one pair of runs resemble each other. So confidence intervals are those of a bootstrap over pairs, and
beside the out-of-bag score, for which a tree may have seen the neighbours of an iteration, there is the score on whole
pairs that were held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ..escaping import quote
from .columns import NO_TRAFFIC
from .defaults import ALARM_LEVEL
from .features import (
    RATIO,
    SETS,
    FeatureSets,
    Source,
    check_labels,
    column_of,
    complete,
    feature_sets,
    features,
    features_by_victim,
    quiet_baselines,
)
from .forest import Detector, Forest, ForestSettings, grown_forest, missing, probability, versions
from .pair_statistics import Estimate, bootstrap_mean, suffering
from .table import digest_of_measured, has_traffic, pairs_of, victims_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Flags = npt.NDArray[np.bool_]
    Numbers = npt.NDArray[np.float64]

FOLDS = 5
REPEATS = 5
"""Permutations of each column, over which an importance is averaged."""
CALIBRATED = 4
"""One of so many pairs of a victim that no forest has seen gives its quiet baseline, and is not scored."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `learn` found out about its forests.

    `scores`: a row for each victim and feature set, of a forest that was trained on this victim alone: out-of-bag score
    (oob), score on held-out pairs (held_out), the ends of their confidence intervals (…_low, …_high), the share of the
    more frequent class (majority), and on held-out pairs the score of a logistic regression on one feature (logistic,
    logistic_feature).
    `importances`: for each victim, set and column by how much the score on held-out pairs falls if the column is
    permuted. `across`: for each victim and set the score of a forest that was trained on all other victims; `baseline`
    says whether ratios are to its own quiet median ("own", of pairs that are not scored) or that of the others.
    `suffering`: see the function of that name. `notes` has what was left out.
    """

    scores: pd.DataFrame
    importances: pd.DataFrame
    across: pd.DataFrame
    suffering: pd.DataFrame
    notes: tuple[str, ...]


Progress = Callable[[str], None]


def learn(
    table: pd.DataFrame,
    settings: ForestSettings | None = None,
    *,
    by: Source | None = None,
    alarm_level: float = ALARM_LEVEL,
    machine: Mapping[str, Any] | None = None,
    progress: Progress = lambda _: None,
) -> tuple[Detector, Evaluation]:
    """Train forests on the table of contention that detect traffic, and evaluate them.

    `by` chooses counters or probes; without it counters are used where there are some. `alarm_level` is the share of
    quiet iterations that may raise an alarm. `machine` describes where the table was measured. `progress` is called
    with what is done next. Raises InputError if the table has no iterations with traffic or none without, or fewer than
    two pairs of runs of a victim; LibraryError if scikit-learn is not installed.
    """
    settings = settings or ForestSettings()
    check_labels(table, "table of contention")
    sets = feature_sets(table, by)
    whole = complete(table, sets.all_columns)
    notes = []
    if len(whole) < len(table):
        notes.append(f"{len(table) - len(whole)} of {len(table)} iterations lack a value, and are left out")
    _check_pairs(whole)
    sufferers = suffering(table, settings.seed)
    rows, importances = [], []
    for victim in victims_of(whole):
        own = whole[whole["victim"] == victim]
        for name in SETS:
            progress(f"{victim}, {name}")
            row, weights = _evaluate(own, sets, name, settings)
            rows.append({"victim": victim, "set": name, "source": sets.sources[name], **row})
            importances += [{"victim": victim, "set": name, **weight} for weight in weights]
    scores = pd.DataFrame(rows).merge(sufferers[["victim", "verdict"]], on="victim")
    across = pd.DataFrame([*_across(whole, sets, settings, progress)], columns=_ACROSS)
    if across.empty:
        notes.append("one victim alone: no score for victims that were not trained on")
    progress("all victims")
    origin = {"machine": dict(machine or {}), "table": digest_of_measured(table)}
    detector, detector_notes = _detector(whole, sets, settings, alarm_level, origin)
    return detector, Evaluation(scores, pd.DataFrame(importances), across, sufferers, (*notes, *detector_notes))


def _check_pairs(table: pd.DataFrame) -> None:
    for victim in victims_of(table):
        own = table[table["victim"] == victim]
        check_labels(own, victim)
        if len(np.unique(pairs_of(own))) < 2:
            raise InputError(
                f"{quote(victim)}: expected at least two pairs of runs, of which one is held out, found one"
            )


def _evaluate(
    own: pd.DataFrame, sets: FeatureSets, name: str, settings: ForestSettings
) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The scores of a victim's own forests, and the importances of the columns."""
    columns, traffic, pairs = sets.columns[name], has_traffic(own), pairs_of(own)
    given = features(own, columns, quiet_baselines(own, columns)[""])
    forest = grown_forest(given, traffic, settings, out_of_bag=True)
    votes = forest.oob_decision_function_
    seen = np.isfinite(votes).all(axis=1)  # an iteration that every tree of a few has seen has no votes
    oob = bootstrap_mean(np.argmax(votes, axis=1)[seen] == traffic[seen], pairs[seen], settings.seed)
    held_out = np.zeros(len(own))
    logistic = np.zeros(len(own))
    falls = {column: np.zeros(len(own)) for column in columns}
    chosen: list[str] = []
    for fold in _folds(pairs, settings.seed):
        kept = grown_forest(given[~fold], traffic[~fold], settings)
        right = _right(kept, given[fold].to_numpy(), traffic[fold])
        held_out[fold] = right
        feature, guessed = _logistic(given[~fold], traffic[~fold], given[fold])
        logistic[fold] = guessed == traffic[fold]
        chosen.append(feature)
        mixed = _permuted(kept, given[fold], columns, traffic[fold], settings.seed)
        for column, share in zip(columns, mixed, strict=True):
            falls[column][fold] = right - share
    held = bootstrap_mean(held_out, pairs, settings.seed)
    row = {
        "iterations": len(own),
        "pairs": len(np.unique(pairs)),
        **_named("oob", oob),
        **_named("held_out", held),
        "majority": float(max(traffic.mean(), 1 - traffic.mean())),
        "logistic": float(logistic.mean()),
        "logistic_feature": max(set(chosen), key=chosen.count),
    }
    weights = [
        {"column": column, **_named("importance", bootstrap_mean(fall, pairs, settings.seed))}
        for column, fall in falls.items()
    ]
    return row, weights


def _named(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _folds(pairs: npt.NDArray[np.int64], seed: int) -> Iterator[Flags]:
    """Which iterations are held out, fold by fold: whole pairs."""
    names = np.random.default_rng(seed).permutation(np.unique(pairs))
    count = min(FOLDS, len(names))
    for fold in range(count):
        yield np.isin(pairs, names[fold::count])


def _right(forest: Forest, given: Numbers, traffic: Flags) -> Numbers:
    return np.asarray((probability(forest, given) > 0.5) == traffic, dtype=np.float64)


def _permuted(forest: Forest, given: pd.DataFrame, columns: Sequence[str], traffic: Flags, seed: int) -> list[Numbers]:
    """For each column how often each iteration is classified correctly if all features of that column come from another
    iteration. The forest is asked once for all of them, which takes far less time."""
    random = np.random.default_rng(seed)
    values = given.to_numpy()
    copies = []
    for column in columns:
        places = np.flatnonzero([column_of(name) == column for name in given.columns])
        for _ in range(REPEATS):
            copies.append(values.copy())
            copies[-1][:, places] = values[np.ix_(random.permutation(len(values)), places)]
    right = _right(forest, np.concatenate(copies), np.tile(traffic, len(copies)))
    return [*right.reshape(len(columns), REPEATS, len(values)).mean(axis=1)]


def _logistic(trained: pd.DataFrame, traffic: Flags, given: pd.DataFrame) -> tuple[str, Flags]:
    """What a logistic regression on one feature says of `given`: the feature that does best where it was trained."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise missing("scikit-learn", error) from error
    best, best_score, guessed = str(trained.columns[0]), -1.0, np.zeros(len(given), dtype=bool)
    if traffic.all() or not traffic.any():
        return best, np.full(len(given), bool(traffic.all()))
    for name in trained.columns:
        if name.endswith(RATIO):  # on its own it says what the value says
            continue
        known = trained[name].to_numpy()
        centre, width = float(known.mean()), float(known.std()) or 1.0
        scaled = ((known - centre) / width)[:, None]
        line = LogisticRegression().fit(scaled, traffic)
        score = float(line.score(scaled, traffic))
        if score > best_score:
            best, best_score = str(name), score
            guessed = np.asarray(line.predict(((given[name].to_numpy() - centre) / width)[:, None]), dtype=bool)
    return best, guessed


_ACROSS = ["victim", "set", "baseline", "score", "score_low", "score_high", "majority", "iterations"]


def _across(
    table: pd.DataFrame, sets: FeatureSets, settings: ForestSettings, progress: Progress
) -> Iterator[tuple[object, ...]]:
    """The rows of `Evaluation.across`."""
    victims = victims_of(table)
    for victim in victims if len(victims) > 1 else []:
        progress(f"{victim} by the others")
        others, own = table[table["victim"] != victim], table[table["victim"] == victim]
        calibrating = _calibrating(own, settings.seed)
        scored = own[~calibrating]
        for name in SETS:
            columns = sets.columns[name]
            of_others = quiet_baselines(others, columns)
            of_own = quiet_baselines(own[calibrating], columns)[""]
            cases = {
                "own": (features_by_victim(others, columns, of_others), of_own),
                "others": (features(others, columns, of_others[""], values=False), of_others[""]),
            }
            for which, (trained, baseline) in cases.items():
                forest = grown_forest(trained, has_traffic(others), settings)
                given = features(scored, columns, baseline, values=False).to_numpy()
                traffic = has_traffic(scored)
                found = bootstrap_mean(_right(forest, given, traffic), pairs_of(scored), settings.seed)
                majority = float(max(traffic.mean(), 1 - traffic.mean()))
                yield (victim, name, which, found.value, found.low, found.high, majority, len(scored))


def _calibrating(own: pd.DataFrame, seed: int) -> Flags:
    """The iterations of some pairs, at least one, of which some have no traffic."""
    pairs = pairs_of(own)
    quiet = np.unique(pairs[~has_traffic(own)])
    names = np.random.default_rng(seed).permutation(quiet)
    return np.isin(pairs, names[: max(1, len(names) // CALIBRATED)])


def _detector(
    table: pd.DataFrame,
    sets: FeatureSets,
    settings: ForestSettings,
    alarm_level: float,
    origin: Mapping[str, Any],
) -> tuple[Detector, list[str]]:
    """Forests of all victims together, and notes on them."""
    traffic, pairs = has_traffic(table), pairs_of(table)
    forests, thresholds, scores, notes = {}, {}, {}, []
    baselines = quiet_baselines(table, sets.all_columns)
    for name in SETS:
        given = features_by_victim(table, sets.columns[name], baselines)
        held_out = np.zeros(len(table))
        for fold in _folds(pairs, settings.seed):
            held_out[fold] = probability(grown_forest(given[~fold], traffic[~fold], settings), given[fold].to_numpy())
        forests[name] = grown_forest(given, traffic, settings)
        found = bootstrap_mean((held_out > 0.5) == traffic, pairs, settings.seed)
        scores[name] = found.value
        majority = float(max(traffic.mean(), 1 - traffic.mean()))
        if found.low <= majority:
            notes.append(
                f"{name}: detects nothing in the victims together: it classifies {found.value:.3f} ({found.low:.3f} to "
                f"{found.high:.3f}) of the iterations of held-out pairs correctly, and the majority is {majority:.3f}"
            )
        thresholds[name] = alarm_threshold(held_out[~traffic], alarm_level)
        if thresholds[name] >= 1:
            notes.append(
                f"{name}: raises no alarm: with {int((~traffic).sum())} quiet iterations no threshold is known above "
                f"which at most {alarm_level:g} of them lie"
            )
    detector = Detector(
        forests, dict(sets.columns), thresholds, scores, alarm_level, baselines, {**origin, **_trained_on(table, sets)}
    )
    return detector, notes


def alarm_threshold(quiet: Numbers, level: float) -> float:
    """The probability that one more quiet iteration exceeds with a probability of at most `level`, if it is drawn as
    the `quiet` ones were; 1, which none exceeds, if there are too few of them."""
    place = int(np.ceil((len(quiet) + 1) * (1 - level) - 1e-9))
    return 1.0 if place > len(quiet) else float(np.sort(quiet)[place - 1])


def _trained_on(table: pd.DataFrame, sets: FeatureSets) -> dict[str, Any]:
    rates = sorted({float(rate) for rate in table["pair_rate_Bps"].dropna()})
    reached = table.loc[has_traffic(table)].get("achieved_rate_Bps", pd.Series(dtype=float)).dropna()
    return {
        "victims": victims_of(table),
        "traffic": sorted({str(kind) for kind in table["traffic"]} - {NO_TRAFFIC}),
        "rates_Bps": rates,
        "achieved_Bps": [float(reached.min()), float(reached.max())] if len(reached) else None,
        "iterations": len(table),
        "pairs": len(np.unique(pairs_of(table))),
        "sources": dict(sets.sources),
        "columns": {name: list(columns) for name, columns in sets.columns.items()},
        "versions": versions(),
    }
