"""The tables of contention as texts for readers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..formatting import MINUS, join_words, percent_text, seconds_text, volume_text
from .columns import NO_TRAFFIC, column_text
from .features import LEVELS_OF_SETS
from .published import TALK, TALK_COLUMNS, TALK_VICTIMS, talk_scores

if TYPE_CHECKING:
    from .evaluation import Evaluation
    from .forest import Detector
    from .remedies import Remedies

MOST_DEMANDS = 8
"""So many demands of a comparison of remedies are listed."""


def interval_text(value: float, low: float, high: float, digits: int = 3) -> str:
    """An estimate with the ends of its interval: "1.482 (1.461 to 1.503)"."""
    if not math.isfinite(value):
        return "–"
    text = _number(value, digits)
    ends = f" ({_number(low, digits)} to {_number(high, digits)})"
    return text + (ends if math.isfinite(low) and math.isfinite(high) else "")


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def set_words(name: str) -> str:
    """A feature set by its levels: "L3 and DRAM"."""
    return join_words([level.upper() for level in LEVELS_OF_SETS.get(name, (name,))])


def impact_rows(impact: pd.DataFrame) -> pd.DataFrame:
    """The table of `impact_statistics.impact_table`."""
    rows = [
        {
            "victim": r["victim"],
            "traffic": _traffic(r),
            "on": "victim's core" if r["cores"] == 0 else f"{r['cores']} other{'s' if r['cores'] > 1 else ''}",
            "asked": f"{volume_text(r['pair_rate_Bps'])}/s",
            "reached": f"{volume_text(r['achieved_rate_Bps'])}/s",
            "without": seconds_text(r["quiet_s"]),
            "with": seconds_text(r["traffic_s"]),
            "time with / without": interval_text(r["slowdown"], r["low"], r["high"]),
            "pairs": str(r["pairs"]),
        }
        for r in impact.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _traffic(row: dict[Any, Any]) -> str:
    """The kind of traffic, with pattern and stores where they are not the default ones."""
    usual = row["pattern"] == "sequential" and row["stores"] in ("cached", "library")
    return str(row["traffic"]) if usual else f"{row['traffic']}, {row['pattern']}, {row['stores']}"


def longer_text(row: dict[Any, Any]) -> str:
    """How much longer iterations take in a row of `pair_statistics.suffering`; its interval needs two pairs."""
    longer, low, high = (percent_text(row[name] - 1, signed=True) for name in ("slowdown", "low", "high"))
    ends = f" ({low} to {high})"
    return longer + (ends if row["pairs"] > 1 else "")


def suffering_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `pair_statistics.suffering`."""
    rows = []
    for r in table.to_dict("records"):
        known = not math.isnan(r["slowdown"])
        rows.append(
            {
                "victim": r["victim"],
                "finding": r["verdict"],
                "pairs": str(r["pairs"]),
                "time with / without": interval_text(r["slowdown"], r["low"], r["high"]),
                "p (one-sided)": f"{r['p']:.2g}" if known else "–",
            }
        )
    return pd.DataFrame(rows)


def correlation_rows(correlations: pd.DataFrame) -> pd.DataFrame:
    """The table of `correlations.correlation_table`: a row a column, a column for each metric and traffic."""
    columns = [*dict.fromkeys(correlations["column"])] if len(correlations) else []
    groups = list(correlations.groupby(["traffic", "metric"], sort=False)) if columns else []
    rows = []
    for column in columns:
        row = {"with": column_text(column)}
        for (traffic, metric), own in groups:
            head = f"{column_text(str(metric))}, {'without' if traffic == NO_TRAFFIC else f'with {traffic}'}"
            cells = own.loc[own["column"] == column, ["correlation", "low", "high"]].to_numpy(dtype=float).tolist()
            row[head] = interval_text(cells[0][0], cells[0][1], cells[0][2], 2) if cells else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def talk_rows() -> pd.DataFrame:
    """Table IV of the talk on network-induced memory contention, in the same form."""
    heads = {"stalled": "stalled cycles", "time": "time"}
    rows = []
    for place, column in enumerate(TALK_COLUMNS):
        row = {"with": column}
        for (kind, metric), values in TALK.items():
            value = values[place]
            text = _number(value, 2 if column == "stalled cycles" and value < 0 else 3)
            row[f"{heads[metric]}, {kind}"] = text if np.isfinite(value) else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def importance_rows(evaluation: Evaluation) -> pd.DataFrame:
    """The column of each victim and feature set that matters most."""
    every = evaluation.importances.sort_values("importance", ascending=False, kind="stable")
    best = every.groupby(["victim", "set"], sort=False).head(1).sort_index()
    rows = [
        {
            "victim": r["victim"],
            "level": set_words(r["set"]),
            "column": column_text(r["column"]),
            "fall": interval_text(r["importance"], r["importance_low"], r["importance_high"]),
        }
        for r in best.to_dict("records")
    ]
    return pd.DataFrame(rows)


def scale_rows(scaled: pd.DataFrame) -> pd.DataFrame:
    """The table of `scaling.scale_contention`."""
    rows = [
        {
            "ranks": r["ranks"],
            "quiet": seconds_text(r["quiet_s"]),
            "time with / without": interval_text(r["slowdown"], r["low"], r["high"]),
            "replicates": r["replicates"],
        }
        for r in scaled.to_dict("records")
    ]
    return pd.DataFrame(rows)


def remedy_rows(found: Remedies) -> pd.DataFrame:
    """The table of remedies at some of the demands."""
    table = found.table
    demands = np.sort(table["demand_Bps"].unique())
    places = np.unique(np.linspace(0, len(demands) - 1, MOST_DEMANDS).round().astype(int))
    rows = []
    for demand in demands[places]:
        row = {"demand": f"{volume_text(demand)}/s"}
        for r in table[table["demand_Bps"] == demand].to_dict("records"):
            row[r["remedy"]] = f"{percent_text(r['overhead'])} ({percent_text(r['low'])} to {percent_text(r['high'])})"
        rows.append(row)
    return pd.DataFrame(rows)


def score_rows(evaluation: Evaluation) -> pd.DataFrame:
    """The scores of each victim's forests beside the out-of-bag scores of the talk."""
    talk = {str(scores["application"]): scores for scores in talk_scores().to_dict("records")}
    rows = []
    for r in evaluation.scores.to_dict("records"):
        application = TALK_VICTIMS.get(r["victim"], "")
        published = talk.get(application, {}).get(r["set"])
        rows.append(
            {
                "victim": r["victim"],
                "level": set_words(r["set"]),
                "features": f"{r['source']}s",
                "out of bag": interval_text(r["oob"], r["oob_low"], r["oob_high"]),
                "talk, out of bag": "–" if published is None else f"{published:.3f} ({application})",
                "held-out pairs": interval_text(r["held_out"], r["held_out_low"], r["held_out_high"]),
                "majority": f"{r['majority']:.3f}",
                "one feature": f"{r['logistic']:.3f}",
                "finding": r["verdict"],
            }
        )
    return pd.DataFrame(rows)


def across_rows(evaluation: Evaluation) -> pd.DataFrame:
    """The scores for victims that a forest was not trained on."""
    baselines = {"own": "its own", "others": "of the others"}
    rows = [
        {
            "victim": r["victim"],
            "level": set_words(r["set"]),
            "quiet baseline": baselines.get(r["baseline"], r["baseline"]),
            "score": interval_text(r["score"], r["score_low"], r["score_high"]),
            "majority": f"{r['majority']:.3f}",
        }
        for r in evaluation.across.to_dict("records")
    ]
    return pd.DataFrame(rows)


def model_rows(known: Detector) -> pd.DataFrame:
    """What a model says of itself: a row a feature set."""
    rows = [
        {
            "level": set_words(name),
            "features": ", ".join(map(column_text, columns)),
            "held-out pairs": f"{known.scores[name]:.3f}",
            "alarm above": f"{known.thresholds[name]:.3f}" if known.thresholds[name] < 1 else "never",
        }
        for name, columns in known.columns.items()
    ]
    return pd.DataFrame(rows)


def impurity_rows(known: Detector) -> pd.DataFrame:
    """The importances in a model: the share of each column in what the trees' decisions lower the impurity by."""
    rows = []
    for name, columns in known.columns.items():
        shares = np.asarray(known.forests[name].feature_importances_, dtype=np.float64)
        if len(shares) != len(columns):
            continue
        rows += [
            {"level": set_words(name), "column": column_text(column), "share": percent_text(float(share))}
            for share, column in sorted(zip(shares, columns, strict=True), reverse=True)
        ]
    return pd.DataFrame(rows)
