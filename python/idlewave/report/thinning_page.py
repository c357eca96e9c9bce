"""The page of the study of thinning: which sources of noise to remove first, and a list of three things to do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_range, percent_text, plural, time_text
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.study_rows import row_objects
from idlewave.report.tables import Table
from idlewave.report.thinning_advice import advice
from idlewave.report.thinning_plots import plot_source_costs
from idlewave.studies.thinning import ALL, ALONE, BETWEEN, REMOVED, WITHOUT, removals, savings

TITLE = "Which source of noise to remove first"
TO_DO = 3
CAUSES = "causes"
"""The kind of sources that are causes of recorded detours."""


def thinning_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    scales = [int(ranks) for ranks in sorted(table["ranks"].unique())]
    costs = {ranks: costs_at(table, ranks) for ranks in scales}
    first = table.iloc[0]
    return StudyPage(
        title=TITLE,
        about=f"{first['program']} on {first['machine']} is simulated with all sources of noise, without each, with "
        "each alone, and with the costliest removed one after another.",
        findings=[*_findings(table, costs), *to_do(table)],
        figures=list(_figures(table, costs[scales[-1]])),
        tables=list(_tables(table, costs)),
        rests=_rests(table),
    )


def costs_at(table: pd.DataFrame, ranks: int) -> pd.DataFrame:
    """A row a source, the costliest first: source, saved (its share of the time without noise) with low and high,
    matters, alone (slowdown by it alone), overhead (its share of a core's time)."""
    own = table[table["ranks"] == ranks]
    whole, alone = own[own["way"] == ALL].iloc[0], own[own["way"] == ALONE].set_index("source")
    found = savings(whole, own[own["way"] == WITHOUT])
    quiet = float(whole["quiet_ps"])
    return pd.DataFrame(
        {
            "source": found["source"],
            "saved": found["saved_ps"] / quiet,
            "low": found["low_ps"] / quiet,
            "high": found["high_ps"] / quiet,
            "matters": found["matters"],
            "alone": alone["slowdown"].reindex(found["source"]).to_numpy(),
            "overhead": alone["overhead"].reindex(found["source"]).to_numpy(),
        }
    ).sort_values("saved", ascending=False, ignore_index=True)


def _findings(table: pd.DataFrame, costs: dict[int, pd.DataFrame]) -> Iterator[tuple[str, str]]:
    for ranks, found in costs.items():
        topic = f"{count_text(ranks)} ranks"
        whole = _of_all(table, ranks)
        yield topic, f"All sources together slow it down by {percent_text(whole.slowdown)} ({_interval(whole)})."
        costly, others = found[found["matters"]], found[~found["matters"]]
        if len(costly):
            said = [f"{row.source}: {percent_text(row.saved)} ({_interval(row)})" for row in row_objects(costly)]
            yield (
                topic,
                f"Without one source it takes so much less of its time without noise: {join_words(said, comma='; ')}.",
            )
        if len(others):
            names = join_words([str(name) for name in others["source"]], comma="; ")
            yield topic, f"Beside the others, no cost is shown beyond chance: {names}."
    if sentence := _order(costs[max(costs)]):
        yield "shares", sentence


def _of_all(table: pd.DataFrame, ranks: int) -> Any:  # noqa: ANN401 - of pandas
    return row_objects(table[(table["ranks"] == ranks) & (table["way"] == ALL)])[0]


def _interval(row: Any) -> str:  # noqa: ANN401 - of pandas
    return percent_range(row.low, row.high)


def _order(found: pd.DataFrame) -> str:
    """Whether the source that takes most of the time is another one than that which costs most."""
    costliest, largest = found.iloc[0], found.sort_values("overhead", ascending=False).iloc[0]
    if len(found) < 2 or not costliest["matters"] or costliest["source"] == largest["source"]:
        return ""
    if largest["high"] >= costliest["low"]:
        return ""
    return (
        f"The source that takes most of a core's time ({largest['source']}: {percent_text(largest['overhead'])}) is "
        f"not the one that costs most ({costliest['source']}: {percent_text(costliest['overhead'])} of a core's time)."
    )


def steps(table: pd.DataFrame) -> pd.DataFrame:
    """A row a removal, in order: source, slowdown with low and high that remains after it."""
    largest = table[table["ranks"] == table["ranks"].max()]
    removed, rows = removals(table), []
    for number, source in enumerate(removed):
        way, before = (REMOVED if number else WITHOUT), BETWEEN.join(removed[:number])
        rows.append(largest[(largest["way"] == way) & (largest["before"] == before) & (largest["source"] == source)])
    columns = ["source", "slowdown", "low", "high"]
    return pd.concat(rows, ignore_index=True)[columns] if rows else pd.DataFrame(columns=columns)


def to_do(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Three things to do: a removal each, as long as it saves more than chance does; then what else makes sense."""
    ranks = int(table["ranks"].max())
    before = _of_all(table, ranks).slowdown
    said = []
    for row in row_objects(steps(table)):
        effect = f"The slowdown at {count_text(ranks)} ranks goes from {percent_text(before)} to "
        said.append(f"{advice(row.source)} {effect}{percent_text(row.slowdown)} ({_interval(row)}).")
        before = row.slowdown
    rest = (
        f"Of the other sources none is shown to save anything beyond chance at {count_text(ranks)} ranks: more seeds "
        "or more ranks show more."
        if said
        else f"Remove none yet: no single removal is shown to save more than chance does at {count_text(ranks)} ranks. "
        "More seeds or more ranks show more."
    )
    named = set(table["kind"]) == {CAUSES}
    left = len(said) < table["source"].nunique() - 1  # one of the names is that of no source
    further = [
        *([rest] if left else []),
        *(
            []
            if named
            else ["Record the kernel's events, which name tasks: idlewave measure noise --attribute -o noise."]
        ),
        "Then measure the noise again, and repeat this study: what was hidden behind longer detours shows.",
        "Record for longer: what comes less often than once in a recording is in none.",
    ]
    return [(f"to do, {number}", text) for number, text in enumerate([*said, *further][:TO_DO], start=1)]


def _figures(table: pd.DataFrame, found: pd.DataFrame) -> Iterator[ReportFigure]:
    ranks = int(table["ranks"].max())
    yield ReportFigure(
        "costs",
        f"{count_text(ranks)} ranks: what each source costs, as what its removal saves, with 95 % intervals, and the "
        "slowdown by it alone.",
        partial(plot_source_costs, found),
    )


def _tables(table: pd.DataFrame, costs: dict[int, pd.DataFrame]) -> Iterator[Table]:
    for ranks, found in costs.items():
        rows: list[tuple[str, ...]] = [
            (
                str(row.source), percent_text(row.overhead), percent_text(row.alone), percent_text(row.saved),
                _interval(row), "yes" if row.matters else "no",
            )
            for row in row_objects(found)
        ]  # fmt: skip
        headings = (
            "source",
            "of a core's time",
            "slowdown alone",
            "saved without it",
            "95 % interval",
            "beyond chance",
        )
        yield Table(f"{count_text(ranks)} ranks", headings, rows, 1)
    ranks = int(table["ranks"].max())
    whole = _of_all(table, ranks)
    done: list[tuple[str, ...]] = [("nothing", percent_text(whole.slowdown), _interval(whole))]
    done += [(str(row.source), percent_text(row.slowdown), _interval(row)) for row in row_objects(steps(table))]
    yield Table(f"Removed one after another, {count_text(ranks)} ranks", ("removed", "slowdown", "95 % interval"), done)


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    whole = _of_all(table, int(table["ranks"].max()))
    return [
        ("seeds", f"{plural(whole.seeds, 'seed')} a case; the time without noise is {time_text(whole.quiet_ps)}."),
        (
            "chance",
            "a source costs something if the means with it and without it differ by Welch's test, with p below 0.05 "
            "after Holm's correction for as many sources as were tried.",
        ),
        ("removed", "means that the source is gone; a source that moves to other cores may cost there."),
        *_chosen(table),
    ]


def _chosen(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    if math.isclose(table["lost_sd_ps"].max(), 0.0):
        yield "noise", "is the same for all seeds: chance plays no role."
