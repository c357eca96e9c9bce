"""The sentences at the top of a report about what varies: over time, and by contention in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from idlewave.contention.findings import detection_sentence, impact_sentence, model_sentence
from idlewave.formatting import join_words, percent_text, plural, size_text
from idlewave.overtime.correlation import LEVEL, most_judged
from idlewave.overtime.prediction import ACTIVE
from idlewave.overtime.series import series_name
from idlewave.overtime.wording import recorded_text, value_text

if TYPE_CHECKING:
    from idlewave.contention.analysis import ContentionAnalysis
    from idlewave.overtime.analysis import Analysis

Row = dict[Any, Any]


def overtime_sentence(found: Analysis) -> str:
    """How each test varied, which counter goes with it, and how well the last phase predicts the next. "" if no phase
    has a usable value."""
    rows = _widest(found)
    if not rows:
        return ""
    length = recorded_text(max((row for row, _ in rows), key=lambda row: float(row["hours"])))
    listed = join_words([_range(row, of) for row, of in rows])
    clauses = [f"in {length} nine tenths of the phases had {listed}", *_counter(found), *_predicted(found, rows)]
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def _widest(found: Analysis) -> list[tuple[Row, int]]:
    """Of each test and size the series that varied most, and of how many it is."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in found.summary.to_dict("records"):
        groups.setdefault((row["test"], row["size"]), []).append(row)
    return [(max(own, key=lambda row: row["p95"] / row["p05"]), len(own)) for own in groups.values()]


def _range(row: Row, of: int) -> str:
    low, high = (value_text(row["test"], row[name]) for name in ("p05", "p95"))
    where = f" between ranks {row['rank']} and {row['peer']}, of {of} pairs the one that varied most," if of > 1 else ""
    changes = plural(row["changes"], "change") if row["changes"] else "no change"
    return f"{row['test']} ({size_text(row['size'])}){where} of {low} to {high} ({changes} of level)"


def _counter(found: Analysis) -> Iterator[str]:
    """The strongest of those correlations that are more than chance."""
    table = found.correlations
    strongest = table[table["strongest"].astype(bool)] if len(table) else table
    certain = strongest[strongest["p_holm"] <= LEVEL]
    if len(certain):
        row = certain.assign(strength=certain["correlation"].abs()).nlargest(1, "strength").to_dict("records")[0]
        name = series_name(row["test"], -1, -1, row["size"])
        lag = f", {plural(row['lag'], 'phase')} before" if row["lag"] else ""
        yield f"the counter {row['counter']} goes best with performance ({row['correlation']:+.2f} with {name}{lag})"
    elif strongest["p_holm"].notna().sum() > most_judged():
        yield "so many counters are compared that none can be judged"
    elif strongest["p_holm"].notna().any():
        yield "no counter goes with performance beyond chance"


def _predicted(found: Analysis, rows: list[tuple[Row, int]]) -> Iterator[str]:
    """How far off it is to take the last phase for the next."""
    table = found.errors
    if not len(table):
        return
    own = table[(table["predictor"] == ACTIVE) & (table["horizon"] == table["horizon"].min())]
    texts = []
    for row, _ in rows:
        same = own[
            (own[["test", "rank", "peer", "size"]] == [row[k] for k in ("test", "rank", "peer", "size")]).all(axis=1)
        ]
        texts += [f"{percent_text(error)} ({row['test']})" for error in same["median_error"]]
    if texts:
        yield f"the last phase predicts the next to {join_words(texts)} in the median"


def contention_sentences(found: ContentionAnalysis) -> dict[str, str]:
    """The sentences on impact, remedies and detection, by topic, as far as there is something to say."""
    said = {"contention": impact_sentence(found)}
    if found.remedies:
        said["remedies"] = " ".join(f"With traffic beside {remedies.sentence}" for remedies in found.remedies)
    if found.evaluation is not None:
        said["detection"] = detection_sentence(found.evaluation)
    elif found.known is not None:
        said["detection"] = model_sentence(found.known)
    return {topic: sentence for topic, sentence in said.items() if sentence}
