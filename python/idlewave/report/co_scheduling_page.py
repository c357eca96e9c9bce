"""The page of the study of co-scheduled noise: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from idlewave.formatting import count_text, percent_range, percent_text, percent_tick, plural, seconds_text, time_text
from idlewave.noise_presets import noise_text
from idlewave.report.line_panels import LinePanels, plot_line_panels
from idlewave.report.mean_texts import INTERVALS, LEAST, NOTHING, mean_text, nothing_lost
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.seed_statistics import LEAST_SEEDS, at_most_ranks, rows_of, share_taken_away, slowdowns

TITLE = "What co-scheduling noise takes away"
STATEMENT = "co-scheduled noise takes most of the damage away"
_CASE = ["program", "ranks"]


def co_scheduling_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    found = _slowdowns(table)
    return StudyPage(
        title=TITLE,
        about="Programs are simulated under noise whose detours come at the same time on all ranks, on the ranks of a "
        "node, or on each rank at times of its own, and without noise.",
        findings=[*_findings(table, found), *_beside(table)],
        figures=list(_figures(found)),
        tables=list(_tables(table, found)),
        rests=_rests(table),
    )


def beside_published(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """What the talk says (without numbers), what it rests on here, and whether it holds, at the most ranks of each
    program: "yes" or "no" if the interval of the share that is taken away is above or below one half, "–" where it is
    neither, and of fewer than `LEAST_SEEDS` seeds."""
    found: list[tuple[str, ...]] = []
    for (noise, program), own in _noisy(at_most_ranks(table)).groupby(["noise", "program"], sort=False):
        taken = _taken_away(table, own)
        if taken is None:
            continue
        share, low, high = taken
        here = f"{program}, {noise_text(str(noise))}: {_share_text(share, low, high)} of it"
        is_known = own.groupby("together")["seed"].nunique().min() >= LEAST_SEEDS
        found.append((STATEMENT, here, "–" if not is_known else "yes" if low > 0.5 else "no" if high < 0.5 else "–"))
    return found


def _noisy(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["noise"] != ""]


def _slowdowns(table: pd.DataFrame) -> pd.DataFrame:
    return slowdowns(table, [*_CASE, "together", "skew_ns"], _CASE)


def _added(table: pd.DataFrame, rows: pd.DataFrame) -> Any:  # noqa: ANN401 - an array
    """By which share each of the runs, of one program and number of ranks, is longer than without noise."""
    first = rows.iloc[0]
    quiet = table[(table["noise"] == "") & (table["program"] == first["program"]) & (table["ranks"] == first["ranks"])]
    return rows["finish_ps"].to_numpy() / float(quiet["finish_ps"].iloc[0]) - 1


def _taken_away(table: pd.DataFrame, rows: pd.DataFrame, skew_ns: int = 0) -> tuple[float, float, float] | None:
    """The share of the damage that is taken away if all ranks are together with that skew, of the rows of one program,
    noise and number of ranks; None if there is no damage, or not both to compare."""
    alone = rows[rows["together"] == 1]
    together = rows[(rows["together"] == rows["ranks"]) & (rows["skew_ns"] == skew_ns)]
    if not len(alone) or not len(together) or int(rows["ranks"].iloc[0]) == 1 or not _takes_time(table, rows):
        return None
    before, after = _added(table, alone), _added(table, together)
    if before.mean() < LEAST:
        return None
    found = share_taken_away(before, after)
    return (found.mean, found.low, found.high) if np.isfinite(found.mean) else None


def _takes_time(table: pd.DataFrame, rows: pd.DataFrame) -> bool:
    first = rows.iloc[0]
    quiet = table[(table["noise"] == "") & (table["program"] == first["program"]) & (table["ranks"] == first["ranks"])]
    return bool((quiet["finish_ps"] > 0).all())


def _share_text(share: float, low: float, high: float) -> str:
    if share < 0:
        return "nothing"
    text = percent_text(share)
    if np.isnan(low):
        return f"{text} ({plural(1, 'seed')})"
    between = percent_range(max(low, 0.0), max(high, 0.0))
    return text if text == between else f"{text} ({between})"


def _findings(table: pd.DataFrame, found: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for (noise, program), own in at_most_ranks(found).groupby(["noise", "program"], sort=False):
        by = {int(row["together"]): row for row in rows_of(own) if row["skew_ns"] == 0}
        if 1 not in by:
            continue
        ranks, topic = int(by[1]["ranks"]), f"{program}, {noise_text(str(noise))}"
        if own["mean"].max() < LEAST:
            yield topic, nothing_lost(ranks, int(own["seeds"].min()))
            continue
        longer = "not" if by[1]["mean"] < LEAST else mean_text(by[1])
        said = f"On {plural(ranks, 'rank')} the run is {longer} longer if each rank has detours of its own"
        for group in sorted({*by} - {1}):
            whose = "all ranks" if group == ranks else f"{count_text(group)} neighbours"
            said += f", {mean_text(by[group])} if {whose} have theirs together"
        said += "."
        rows = _noisy(table)
        rows = rows[(rows["noise"] == noise) & (rows["program"] == program) & (rows["ranks"] == ranks)]
        taken = _taken_away(table, rows)
        if taken is not None:
            said += f" So co-scheduling all ranks takes away {_share_text(*taken)} of it."
        skew = int(rows["skew_ns"].max())
        skewed = _taken_away(table, rows, skew) if skew else None
        if skewed is not None:
            said += f" With a skew of {time_text(1000.0 * skew)} that is {_share_text(*skewed)}."
        overhead = float(rows["overhead"].iloc[0])
        if LEAST < overhead < 1:
            said += f" A rank that computes alone is {percent_text(overhead / (1 - overhead))} longer under this noise."
        yield topic, said


def _beside(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    statements = beside_published(table)
    known = [row for row in statements if row[2] != "–"]
    if known:
        held = sum(row[2] == "yes" for row in known)
        yield (
            "published",
            f"That co-scheduling takes most of the damage away, as the talk found on the SGI Altix, holds in {held} of "
            f"{len(known)} cases here.",
        )


def words_of_groups(found: pd.DataFrame) -> dict[object, str]:
    """The variants in words."""
    words: dict[object, str] = {"1": "each rank for itself", "all": "all ranks together"}
    return words | {name: f"{name} ranks together" for name in found["variant"].unique() if name not in words}


def _variants(found: pd.DataFrame) -> pd.DataFrame:
    names = ["all" if g == r and g > 1 else f"{g:,}" for g, r in zip(found["together"], found["ranks"], strict=True)]
    return found.assign(variant=names)


def _figures(found: pd.DataFrame) -> Iterator[ReportFigure]:
    for number, (noise, rows) in enumerate(found.groupby("noise", sort=False)):
        shown = _variants(rows[rows["skew_ns"] == 0])
        lines = LinePanels(
            "program", "variant", "ranks", "mean", "ranks", "slowdown",
            low="low", high="high", words=words_of_groups(shown), shared=False, y_text=percent_tick,
        )  # fmt: skip
        yield ReportFigure(
            f"slowdown-{number}",
            f"By which share the run is longer under {noise_text(str(noise))}: means, and their intervals over seeds.",
            partial(plot_line_panels, shown, lines),
        )
        if rows["skew_ns"].nunique() > 1:
            skewed = _variants(at_most_ranks(rows[rows["together"] > 1]))
            skewed = skewed.assign(skew_us=skewed["skew_ns"] / 1000)
            lines = LinePanels(
                "program", "variant", "skew_us", "mean", "skew [µs]", "slowdown",
                low="low", high="high", words=words_of_groups(skewed), base=None, shared=False,
                y_text=percent_tick,
            )  # fmt: skip
            yield ReportFigure(
                f"skew-{number}",
                "The same at the most ranks of each program, whose detours come up to so much earlier or later than "
                "those of the ranks they are together with.",
                partial(plot_line_panels, skewed, lines),
            )


def _tables(table: pd.DataFrame, found: pd.DataFrame) -> Iterator[Table]:
    statements = beside_published(table)
    if statements:
        yield Table("Published (no numbers were given), and simulated", ("statement", "here", "holds"), statements, 3)
    for noise, rows in found.groupby("noise", sort=False):
        texts: list[tuple[str, ...]] = [
            (
                str(row["program"]), count_text(row["ranks"]), count_text(row["together"]),
                time_text(1000.0 * row["skew_ns"]), seconds_text(row["quiet_ps"] / 1e12),
                mean_text(row), percent_text(row["median"]), percent_range(row["q10"], row["q90"]),
            )
            for row in rows_of(rows)
        ]  # fmt: skip
        headings = ("program", "ranks", "together", "skew", "without noise", "mean", "median", "10 to 90 %")
        yield Table(f"Slowdown by {noise_text(str(noise))}, {plural(rows['seeds'].max(), 'seed')}", headings, texts, 1)


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    return [
        ("machine", f"{table['machine'].iloc[0]}; noise reaches what its machine.toml says."),
        (
            "together",
            "ranks have the same detours at the same time: neighbours by number, as on a node. Clocks that would have "
            "to agree for this are exact, but for a skew that is asked for.",
        ),
        INTERVALS,
        NOTHING,
    ]
