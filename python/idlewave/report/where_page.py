"""The page of the study of where noise does its damage: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_range, percent_text, percent_tick, plural, seconds_text
from idlewave.noise_models import REACHES
from idlewave.noise_presets import noise_text
from idlewave.report.line_panels import LinePanels, plot_line_panels
from idlewave.report.mean_texts import INTERVALS, LEAST, NOTHING, mean_text, nothing_lost
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.seed_statistics import at_most_ranks, rows_of, slowdowns
from idlewave.studies.where import ALL

TITLE = "Where noise does its damage"
WORDS: dict[object, str] = {
    ALL: "all of these",
    "o_s": "overheads of sends (o_s)",
    "o_r": "overheads of receives (o_r)",
    "O": "costs per byte (O)",
    "calc": "computation",
    "reduction": "reductions",
}
_CASE = ["program", "ranks", "where"]


def where_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    found = slowdowns(table, _CASE, ["program", "ranks"])
    return StudyPage(
        title=TITLE,
        about="Programs are simulated under noise that lengthens one kind of a CPU's work alone, and under noise that "
        "lengthens all of it.",
        findings=list(_findings(found)),
        figures=list(_figures(found)),
        tables=list(_tables(found)),
        rests=[
            ("machine", str(table["machine"].iloc[0])),
            (
                "one alone",
                "the CPU stands still in a detour only with that kind of work. Work that would begin in a detour waits "
                "for its end, however short the work is; so what costs a nanosecond can lose a whole detour. Kinds "
                "that a generated program has none of are left out.",
            ),
            (
                "sums",
                "of the kinds are above all together where a detour would be met by the next kind of work if the first "
                "had not met it, and below where several CPUs have to be late at once.",
            ),
            INTERVALS,
            NOTHING,
        ],
    )


def _findings(found: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for (noise, program), own in at_most_ranks(found).groupby(["noise", "program"], sort=False):
        by = {row["where"]: row for row in rows_of(own)}
        topic = f"{program}, {noise_text(str(noise))}"
        if ALL not in by:
            continue
        whole = by[ALL]
        if whole["mean"] < LEAST:
            if own["mean"].max() < LEAST:
                yield topic, nothing_lost(int(whole["ranks"]), int(own["seeds"].min()))
            continue
        alone = sorted((by[name] for name in REACHES if name in by), key=lambda row: -float(row["mean"]))
        some = [
            (f"in {WORDS[row['where']]} alone", percent_text(row["mean"] / whole["mean"]))
            for row in alone
            if row["mean"] >= LEAST
        ]
        none = [str(WORDS[row["where"]]) for row in alone if row["mean"] < LEAST]
        text = f"On {plural(whole['ranks'], 'rank')} noise everywhere makes the run {mean_text(whole)} longer."
        if some:
            (most, share), *others = some
            causes = [f"{most} causes {share} of that", *(f"{kind} {other}" for kind, other in others)]
            text += f" Noise {join_words(causes)}"
            text += f"; in {join_words(none, ' or ')} alone nothing." if none else "."
        summed = sum(float(row["mean"]) for row in alone) / float(whole["mean"])
        if summed > 1.1:
            text += f" In sum these are {percent_text(summed)}: different kinds of work can lose the same detour."
        yield topic, text


def _figures(found: pd.DataFrame) -> Iterator[ReportFigure]:
    for number, (noise, rows) in enumerate(found.groupby("noise", sort=False)):
        lines = LinePanels(
            "program",
            "where",
            "ranks",
            "mean",
            "ranks",
            "slowdown",
            low="low",
            high="high",
            words=WORDS,
            shared=False,
            y_text=percent_tick,
        )
        yield ReportFigure(
            f"where-{number}",
            f"By which share the run is longer under {noise_text(str(noise))} in one kind of work, and in all: means, "
            "and their intervals over seeds.",
            partial(plot_line_panels, rows, lines),
        )


def _tables(found: pd.DataFrame) -> Iterator[Table]:
    for noise, rows in found.groupby("noise", sort=False):
        texts: list[tuple[str, ...]] = [
            (str(row["program"]), str(WORDS[row["where"]]), count_text(row["ranks"]),
             seconds_text(row["quiet_ps"] / 1e12), mean_text(row), percent_text(row["median"]),
             percent_range(row["q10"], row["q90"]))
            for row in rows_of(rows)
        ]  # fmt: skip
        headings = ("program", "noise in", "ranks", "without noise", "mean", "median", "10 to 90 %")
        yield Table(f"Slowdown by {noise_text(str(noise))}, {plural(rows['seeds'].max(), 'seed')}", headings, texts, 2)
