"""The tables of a recording as texts for readers, in the terminal and on the page."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from ..escaping import cut, printable
from ..formatting import MINUS, SPACE, count_text, percent_text, plural, seconds_text, volume_text
from ..measure.overtime.settings import HIGHER_IS_BETTER
from .allocation import SHARE
from .series import series_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from .allocation import Verdict


def value_text(test: str, value: float) -> str:
    """A value of a test with its unit."""
    if math.isnan(value):
        return "–"
    return f"{volume_text(value)}/s" if test in HIGHER_IS_BETTER else seconds_text(value)


def duration_text(seconds: float) -> str:
    """A time as long as recordings last: "45 s", "12 min", "3.2 h", "4.1 d"."""
    if math.isnan(seconds):
        return "–"
    if seconds < 60:
        return seconds_text(seconds, 2)
    for length, unit in ((60, "min"), (3600, "h"), (86_400, "d")):
        if seconds < 60 * length or unit == "d" or (unit == "h" and seconds < 48 * 3600):
            return f"{seconds / length:.3g} {unit}"
    return ""


def recorded_text(row: dict[Any, Any]) -> str:
    """How long the runs of a row of `changes.summary` lasted, and within which time, if they were interrupted."""
    recorded, span = duration_text(3600 * row["hours"]), duration_text(3600 * row["span_hours"])
    return recorded if recorded == span else f"{recorded} (within {span})"


def moment_text(ns: float) -> str:
    """A moment in UTC, to the second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ns / 1e9))


def series_rows(about: pd.DataFrame) -> pd.DataFrame:
    """The table of `changes.summary`."""
    import pandas as pd

    rows = []
    for r in about.to_dict("records"):
        drifts = not r["drift_low"] <= 0 <= r["drift_high"]
        interval = _range_text(*(percent_text(r[name], signed=True) for name in ("drift_low", "drift_high")))
        rows.append(
            {
                "series": series_name(r["test"], r["rank"], r["peer"], r["size"]),
                "phases": count_text(r["phases"]),
                "over": recorded_text(r),
                "median": value_text(r["test"], r["median"]),
                "5 to 95 %": _range_text(*(value_text(r["test"], r[name]) for name in ("p05", "p95"))),
                "most / least": f"{r['most'] / r['least']:.2f}",
                "changes": str(r["changes"]),
                "drift per hour": "–" if math.isnan(r["drift_low"]) else interval if drifts else f"none ({interval})",
            }
        )
    return pd.DataFrame(rows)


def level_rows(found: pd.DataFrame) -> pd.DataFrame:
    """The table of `changes.levels`."""
    import pandas as pd

    rows = [
        {
            "series": series_name(r["test"], r["rank"], r["peer"], r["size"]),
            "from (UTC)": moment_text(r["start_ns"]),
            "for": duration_text(r["seconds"]),
            "phases": count_text(r["phases"]),
            "level": value_text(r["test"], r["level"]),
            "step": f"{r['step']:.3f} times" if r["by_change"] else "–",
        }
        for r in found.to_dict("records")
    ]
    return pd.DataFrame(rows)


def stability_rows(lasting: pd.DataFrame) -> pd.DataFrame:
    """The table of `changes.stability`."""
    import pandas as pd

    rows = []
    for r in lasting.to_dict("records"):
        beyond = f"over {duration_text(r['longest_s'])}"
        texts = [beyond if math.isnan(r[name]) else duration_text(r[name]) for name in ("p10_s", "p50_s", "p90_s")]
        rows.append(
            {
                "test": series_name(r["test"], -1, -1, r["size"]),
                "levels": str(r["levels"]),
                "of these whole": str(r["whole"]),
                **dict(zip(("a tenth ends within", "half end within", "nine tenths end within"), texts, strict=True)),
            }
        )
    return pd.DataFrame(rows)


def need_rows(needs: pd.DataFrame) -> pd.DataFrame:
    """The table of `allocation.Verdict`."""
    import pandas as pd

    rows = []
    for r in needs.to_dict("records"):
        interval = f"{percent_text(r['low'])} to {percent_text(r['high'])}"
        history = "–"
        if not math.isnan(r["worse_than"]):
            history = f"worse than {percent_text(r['worse_than'])} of its phases"
        rows.append(
            {
                "need": r["need"],
                "measured": series_name(r["test"], r["rank"], r["peer"], r["size"]),
                "level": value_text(r["test"], r["level"]),
                "phases that meet it": f"{percent_text(r['met'])} of {r['phases']}",
                "history": history,
                "hours of it": str(r["hours"]),
                "holds for an hour": f"{percent_text(r['probability'])} ({interval})",
                "": "fit" if r["fit"] else "unfit",
            }
        )
    return pd.DataFrame(rows)


def unfit_sentences(found: Verdict, hosts: Sequence[str] = ()) -> list[str]:
    """For each need that makes an allocation unfit: what was measured of which pair, and what was needed.

    `hosts`: of each rank.
    """
    sentences = []
    for r in found.needs[~found.needs["fit"].astype(bool)].to_dict("records"):
        one = series_name(r["test"], r["rank"], r["peer"], r["size"])
        if 0 <= r["rank"] < len(hosts) and 0 <= r["peer"] < len(hosts):
            one += f" ({cut(printable(hosts[r['rank']]))} and {cut(printable(hosts[r['peer']]))})"
        sign = ">" if r["test"] in HIGHER_IS_BETTER else "<"
        level, limit = value_text(r["test"], r["level"]), value_text(r["test"], r["limit"])
        text = f"{one}: {level} measured, {sign} {limit} needed"
        if (r["level"] > r["limit"]) == (sign == ">") and r["level"] != r["limit"]:
            text += f"; {_will_not_hold(r)}"
        sentences.append(f"{text}.")
    return sentences


def _will_not_hold(need: dict[Any, Any]) -> str:
    """Why a need that the present level meets makes an allocation unfit."""
    if not need["hours"]:
        phases = f"{percent_text(need['met'])} of its {plural(need['phases'], 'phase')}"
        return f"{phases} meet that, and {percent_text(SHARE)} have to"
    interval = f"{percent_text(need['low'])} to {percent_text(need['high'])}"
    probability = f"{percent_text(need['probability'])} ({interval})"
    return f"it meets that now, and holds over the next hour with a probability of {probability}"


def correlation_rows(found: pd.DataFrame, most: int = 30) -> pd.DataFrame:
    """The table of `correlation.correlations`: the strongest of each series and counter, the most significant first."""
    import pandas as pd

    strongest = found[found["strongest"].astype(bool)]
    strongest = strongest.assign(strength=-strongest["correlation"].abs())
    strongest = strongest.sort_values(["p_holm", "strength"], kind="stable").head(most)
    rows = [
        {
            "counter": r["counter"],
            "series": series_name(r["test"], r["rank"], r["peer"], r["size"]),
            "correlation": f"{r['correlation']:+.2f}".replace("-", MINUS),
            "phases before": str(r["lag"]),
            "phases": count_text(r["phases"]),
            "p": _p_text(r["p"]),
            "p, corrected": _p_text(r["p_holm"]),
        }
        for r in strongest.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _range_text(low: str, high: str) -> str:
    """Two texts with units as a range, with the unit once if both have the same."""
    number, _, unit = low.rpartition(SPACE)
    return f"{number if number and high.endswith(f'{SPACE}{unit}') else low} to {high}"


def _p_text(p: float) -> str:
    return "–" if math.isnan(p) else f"{p:.2g}"


def error_rows(found: pd.DataFrame) -> pd.DataFrame:
    """The table of `prediction.errors`."""
    import pandas as pd

    rows = [
        {
            "series": series_name(r["test"], r["rank"], r["peer"], r["size"]),
            "predicted by": r["predictor"],
            "ahead": duration_text(r["ahead_s"]),
            "phases": count_text(r["predictions"]),
            "error, median": percent_text(r["median_error"]),
            "90 % below": percent_text(r["p90_error"]),
            "optimistic": percent_text(r["optimistic"]),
            "pessimistic": percent_text(r["pessimistic"]),
        }
        for r in found.to_dict("records")
    ]
    return pd.DataFrame(rows)
