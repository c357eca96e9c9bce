"""The sentences about a recording: each is made from its tables, and said only if it is true of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..formatting import MINUS, count_text, percent_text, plural
from .correlation import LEAST, LEVEL, most_judged
from .series import KEY, series_name
from .wording import duration_text, recorded_text, value_text

if TYPE_CHECKING:
    import pandas as pd

    from .analysis import Analysis

_WORDS = {"active": "the last active phase", "idle": "counters of the last idle phase", "baseline": "the median so far"}


def overtime_findings(found: Analysis) -> list[tuple[str, str]]:
    """Topic and sentence."""
    said = [(_name(row), _varied(row)) for row in found.summary.to_dict("records")]
    for row in found.stability.to_dict("records"):
        said.append((f"{series_name(row['test'], -1, -1, row['size'])}: how long", _lasted(row)))
    if len(found.correlations):
        said.append(("counters", counters_finding(found)))
    elif not found.recording.counters:
        said.append(("counters", "The recording has none."))
    said += _predicted(found)
    return said


def _name(row: dict[Any, Any]) -> str:
    return series_name(row["test"], row["rank"], row["peer"], row["size"])


def _varied(row: dict[Any, Any]) -> str:
    low, high = (value_text(row["test"], row[name]) for name in ("p05", "p95"))
    text = (
        f"In {recorded_text(row)} nine tenths of {plural(row['phases'], 'phase')} lay between {low} "
        f"and {high}; the largest was {row['most'] / row['least']:.2f} times the smallest. "
    )
    text += f"{plural(row['changes'], 'change')} of level." if row["changes"] else "No change of level."
    if math.isfinite(row["drift_low"]) and not row["drift_low"] <= 0 <= row["drift_high"]:
        ends = f"{percent_text(row['drift_low'], signed=True)} to {percent_text(row['drift_high'], signed=True)}"
        text += f" Drift, steps included: {ends} an hour."
    return text


def _lasted(row: dict[Any, Any]) -> str:
    if not row["whole"]:
        ended = "No level began and ended within the recording"
        return f"{ended}; the longest one lasted at least {duration_text(row['longest_s'])}."
    if math.isnan(row["p50_s"]):
        return f"More than half of the levels last longer than {duration_text(row['longest_s'])}."
    return f"Half of the levels end within {duration_text(row['p50_s'])} ({plural(row['whole'], 'whole level')} seen)."


def counters_finding(found: Analysis) -> str:
    """Which counters go with performance."""
    import numpy as np

    if not len(found.correlations):
        return "The recording has no counters that could be compared with performance."
    strongest = found.correlations[found.correlations["strongest"].astype(bool)]
    if not np.isfinite(found.correlations["correlation"]).any():
        return _no_correlation(found)
    tested = strongest["p_holm"].notna()
    if not tested.any():
        return (
            "No correlation can be judged: performance is autocorrelated too long or nearly periodic, or there are too "
            "few phases."
        )
    own = strongest[strongest["p_holm"] <= LEVEL].sort_values("p_holm", kind="stable")
    of_all = f"of {plural(int(tested.sum()), 'pair')} of a counter and a series"
    unjudged = _unjudged(strongest)
    if not len(own) and tested.sum() > most_judged():
        return (
            f"None {of_all} can be judged: of more than {count_text(most_judged())} none can be significant.{unjudged}"
        )
    if not len(own):
        return f"No correlation {of_all} is significant after the correction.{unjudged}"
    first = own.assign(strength=own["correlation"].abs()).nlargest(1, "strength").to_dict("records")[0]
    correlation = f"{first['correlation']:+.2f}".replace("-", MINUS)
    lag = f"{plural(int(first['lag']), 'phase')} before" if first["lag"] else "in the same phase"
    return (
        f"{len(own)} {of_all} {'is' if len(own) == 1 else 'are'} significant after the correction; the strongest is "
        f"{first['counter']} with {_name(first)}: {correlation}, {lag}.{unjudged}"
    )


def _unjudged(strongest: pd.DataFrame) -> str:
    """A sentence about the series that change and yet have no p-value; empty if there are none."""
    of_series = strongest[strongest["correlation"].notna()].groupby(list(KEY))["p"]
    missing, every = int((of_series.count() == 0).sum()), of_series.ngroups
    if not missing:
        return ""
    why = "autocorrelated too long, nearly periodic, or of too few phases"
    return f" Without a p-value: {missing} of {every} series, {why}."


def _no_correlation(found: Analysis) -> str:
    """Why no counter could be compared with performance."""
    growth = found.recording.table[list(found.chosen_counters)]
    if growth.isna().all(axis=None):
        return "No counter could be read in any phase."
    if int(found.correlations["phases"].max()) < LEAST:
        return f"No counter was read in {LEAST} phases of a series, so none can be compared with performance."
    if growth.fillna(0).eq(0).all(axis=None):
        return "No counter grew in the recording, so none can go with performance."
    return "The rate of no counter changed while its phases were recorded, so none can go with performance."


def _predicted(found: Analysis) -> list[tuple[str, str]]:
    table = found.errors
    if not len(table):
        return [("predictions", "There are too few phases to judge predictions.")]
    said = []
    for _, group in table.groupby(["test", "rank", "peer", "size"], sort=False):
        first = group[group["horizon"] == group["horizon"].min()].sort_values("median_error", kind="stable")
        texts = [
            f"by {_WORDS[str(row['predictor'])]} {percent_text(row['median_error'])} off in the median, "
            f"{percent_text(row['optimistic'])} optimistic by more than {percent_text(found.tolerance)}"
            for row in first.to_dict("records")
        ]
        said.append((f"{_name(first.iloc[0].to_dict())}: the next phase", f"Predicted {'; '.join(texts)}."))
    return said + [("predictions", sentence) for sentence in found.idle_counters.sentences]
