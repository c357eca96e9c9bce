"""The sentences about a table of contention: each is made from its tables, and said only if it is true of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..formatting import join_words, percent_range, percent_text, plural, volume_text
from ..multiple_tests import holm
from .columns import NO_TRAFFIC, column_text
from .pair_statistics import LEVEL, NO_SLOWDOWN, SUFFERS
from .wording import interval_text, longer_text, set_words

if TYPE_CHECKING:
    from .analysis import ContentionAnalysis, KnownDetector
    from .evaluation import Evaluation

Row = dict[Any, Any]


def contention_findings(found: ContentionAnalysis) -> list[tuple[str, str]]:
    """Topic and sentences."""
    said = [(str(row["victim"]), _suffers(found, row)) for row in found.suffering.to_dict("records")]
    said += _correlated(found)
    said += [("remedies", remedies.sentence) for remedies in found.remedies]
    if found.evaluation is not None:
        said.append(("detection", detection_sentence(found.evaluation)))
    if found.known is not None:
        said.append(("detection", model_sentence(found.known)))
    if found.missing:
        said.append(("detection", f"There is no detector: {found.missing.rstrip('.')}."))
    return said


def hardest(impact: pd.DataFrame, victim: str) -> Row | None:
    """The row of the impact that has the highest asked rate of a victim, and of several the most cores that write: a
    choice that does not depend on what was measured. None if no pair of it is complete."""
    own = impact[impact["victim"] == victim].sort_values(["pair_rate_Bps", "cores"], kind="stable")
    return own.iloc[-1].to_dict() if len(own) else None


def traffic_text(row: Row) -> str:
    """The traffic of a row of the impact, by the rate that was reached: "4 GB/s from 1 core"."""
    where = "on the victim's own core" if row["cores"] == 0 else f"from {plural(row['cores'], 'core')}"
    return f"{volume_text(row['achieved_rate_Bps'])}/s {where}"


def _suffers(found: ContentionAnalysis, said: Row) -> str:
    row = hardest(found.impact, said["victim"])
    if row is None:
        return "No pair of runs is complete."
    times = interval_text(row["slowdown"], row["low"], row["high"])
    text = (
        f"With traffic of {traffic_text(row)} an iteration takes {times} times as long as without "
        f"({plural(row['pairs'], 'pair')} of runs). "
    )
    if math.isnan(said["p"]):
        return text + "There are too few pairs to say whether it suffers."
    overall = longer_text(said)
    pairs = plural(said["pairs"], "pair")
    return f"{text}Over {pairs} of all settings: {overall}, p = {said['p']:.2g} (one-sided): {said['verdict']}."


def _correlated(found: ContentionAnalysis) -> list[tuple[str, str]]:
    """What goes best with the time, without and with traffic, as far as it is more than chance."""
    texts = []
    table = found.correlations
    certain = table[(table["metric"] == "seconds") & (table["p_holm"] <= LEVEL)]
    for traffic, own in certain.groupby("traffic", sort=False):
        row = own.assign(size=own["correlation"].abs()).nlargest(1, "size").to_dict("records")[0]
        with_it = "Without traffic" if traffic == NO_TRAFFIC else f"with traffic ({traffic})"
        best = interval_text(row["correlation"], row["low"], row["high"], 2)
        texts.append(f"{with_it} the time goes best with {column_text(row['column'])}: {best}")
    text = "; ".join(texts)
    return [("correlations", f"{text[:1].upper()}{text[1:]}.")] if text else []


def impact_sentence(found: ContentionAnalysis) -> str:
    """Which victims the traffic slows by how much, as far as it is more than chance; p-values are corrected by Holm's
    method for all victims."""
    table = found.suffering
    certain = holm(table["p"]) <= LEVEL
    slowed = [str(victim) for victim in table.loc[certain, "victim"]]
    unhurt = [str(victim) for victim in table.loc[table["verdict"] == NO_SLOWDOWN, "victim"]]
    corrected = [str(victim) for victim in table.loc[(table["verdict"] == SUFFERS) & ~certain, "victim"]]
    open_ones = [str(victim) for victim in table["victim"] if victim not in (*slowed, *unhurt, *corrected)]
    traffic = f"emulated traffic into memory of up to {volume_text(found.impact['achieved_rate_Bps'].max())}/s"
    clauses = []
    if slowed:
        rows = table.set_index("victim")
        by_traffic: dict[str, list[str]] = {}
        for victim in slowed:
            where, times = _slowed(found, victim, rows.loc[victim].to_dict())
            by_traffic.setdefault(where, []).append(times)
        listed = [f"{where} an iteration takes {join_words(times)}" for where, times in by_traffic.items()]
        clauses.append(f"{traffic} slows {join_words(slowed)}: {join_words(listed)}")
    if unhurt:
        what = "no slowdown was found" if slowed else f"no slowdown by {traffic} was found"
        longer = dict(zip(table["victim"].astype(str), table.to_dict("records"), strict=True))
        listed = [f"{victim} (over all settings {longer_text(longer[victim])})" for victim in unhurt]
        clauses.append(f"{what} for {join_words(listed)}")
    if corrected:
        it = "it slows" if clauses else f"{traffic} slows"
        tests = plural(int(table["p"].notna().sum()), "victim")
        clauses.append(f"whether {it} {join_words(corrected)} is not certain after correction for {tests}")
    if open_ones:
        it = "it slows" if clauses else f"{traffic} slows"
        clauses.append(f"whether {it} {join_words(open_ones)} is not certain after so few pairs of runs")
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _slowed(found: ContentionAnalysis, victim: str, said: Row) -> tuple[str, str]:
    """With which traffic a victim is slowed how much: with the most, or over all settings where that is not beyond
    doubt."""
    row = hardest(found.impact, victim)
    if row is not None and row["low"] > 1:
        times = interval_text(row["slowdown"], row["low"], row["high"])
        return f"at {traffic_text(row)}", f"{times} times as long ({victim})"
    return "over all settings", f"{percent_text(said['slowdown'] - 1)} longer ({victim})"


def detection_sentence(evaluation: Evaluation) -> str:
    """How many iterations of held-out pairs the forests of each victim classify correctly, over the feature sets."""
    groups = list(evaluation.scores.groupby("victim", sort=False))
    shares = [
        f"{percent_range(own['held_out'].min(), own['held_out'].max())} of {victim}"
        + (" (no slowdown found)" if (own["verdict"] == NO_SLOWDOWN).all() else "")
        for victim, own in groups
    ]
    majority = percent_range(evaluation.scores["majority"].min(), evaluation.scores["majority"].max())
    return (
        "Random forests classify these shares of iterations on held-out pairs of runs correctly, depending on the "
        f"feature set: {join_words(shares)}; the more frequent class has {majority}."
    )


def model_sentence(known: KnownDetector) -> str:
    """How many iterations of held-out pairs a model classified correctly when it was trained."""
    scores = known.detector.scores
    listed = join_words([f"{percent_text(score)} (features of {set_words(name)})" for name, score in scores.items()])
    return (
        f"The model {known.name} classified {listed} of the iterations of held-out pairs correctly when it was trained."
    )
