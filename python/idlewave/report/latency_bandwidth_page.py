"""The page of the study of sensitivity to latency and bandwidth: its sentences are made from the rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, percent_tick, plural, seconds_text, time_text
from idlewave.report.line_panels import LinePanels, plot_line_panels
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.latency_bandwidth import PRECISION
from idlewave.studies.machine_variants import MOST_FACTOR
from idlewave.studies.seed_statistics import at_most_ranks, rows_of

TITLE = "How sensitive programs are to latency and bandwidth"
STATEMENT = "applications are far more sensitive to bandwidth than to latency"
FAR = 2.0
"""A tolerance counts as far more than another if what is tolerated beyond the value itself is that many times as
much."""
WORDS: dict[object, str] = {
    "L": "latency (L)",
    "G": "time per byte (G)",
    "g": "gap (g)",
    "o": "overhead (o)",
    "O": "overhead per byte (O)",
}

_COUNTED = {
    "L": ("latency", "latencies"),
    "G": ("byte", "bytes"),
    "g": ("gap", "gaps"),
    "o": ("overhead", "overheads"),
    "O": ("byte", "bytes"),
}


def latency_bandwidth_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    statements = beside_published(table)
    known = [row for row in statements if row[2] != "–"]
    held = sum(row[2] == "yes" for row in known)
    beside = f"That {STATEMENT}, as the talk found for two, holds for {held} of {plural(len(known), 'program')} here."
    return StudyPage(
        title=TITLE,
        about="Programs are simulated with L and G multiplied by factors, and the largest factors are sought that let "
        "the run time grow by a few percent.",
        findings=[*_findings(table), *([("published", beside)] if known else [])],
        figures=list(_figures(table)),
        tables=list(_tables(table)),
        rests=[
            ("machine", f"{table['machine'].iloc[0]}, without noise; one parameter is changed, on all levels."),
            (
                "tolerance",
                f"is sought from 1 on, until two factors differ by less than {percent_text(PRECISION)}. If a longer "
                "latency made a run shorter again, a larger factor could be within the limit, too.",
            ),
            (
                "counts",
                "on the critical path are derivatives at that factor: how many latencies, or bytes, one after another "
                "decide when the last rank ends.",
            ),
        ],
    )


def beside_published(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """What the talk says, what it rests on here, at the most ranks of each program, and whether it holds: whether the
    smallest growth is reached by a growth of G that is less than that of L by a factor `FAR`. A parameter that is 0
    stays 0 by any factor, which says nothing: "–"."""
    found: list[tuple[str, ...]] = []
    for program, own in at_most_ranks(_tolerances(table)).groupby("program", sort=False):
        first = own[own["growth"] == own["growth"].min()]
        by = {row["parameter"]: row for row in rows_of(first)}
        if not {"L", "G"} <= {*by}:
            continue
        growth = percent_text(float(first["growth"].iloc[0]))
        here = f"{program}: until {growth} longer, L {_grown(by['L'])}, G {_grown(by['G'])}"
        more = (by["L"]["tolerated"] - 1) >= FAR * (by["G"]["tolerated"] - 1)
        is_open = (_is_free(by["L"]) and _is_free(by["G"])) or not (by["L"]["value_ps"] and by["G"]["value_ps"])
        found.append((STATEMENT, here, "–" if is_open else "yes" if more else "no"))
    return found


def _tolerances(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["growth"].notna()]


def _curve(table: pd.DataFrame) -> pd.DataFrame:
    """The times with each factor, by those with factor 1."""
    points = table[table["factor"].notna()]
    keys = ["program", "ranks", "parameter"]
    own = points[points["factor"] == 1].set_index(keys)["finish_ps"].rename("own_ps")
    found = points.join(own, on=keys)
    found = found[found["own_ps"] > 0]
    return found.assign(relative=found["finish_ps"] / found["own_ps"])


def _is_free(row: dict[str, Any]) -> bool:
    return bool(pd.isna(row["exceeding"]))


def _factor_text(row: dict[str, Any]) -> str:
    """The tolerated factor: "2.14 times (11.3 µs)"; "–" of a parameter that is 0."""
    if not row["value_ps"]:
        return "–"
    if _is_free(row):
        return f"more than {count_text(MOST_FACTOR)} times"
    unit = "/B" if row["parameter"] in ("G", "O") else ""
    return f"{row['tolerated']:.3g} times ({time_text(row['tolerated'] * row['value_ps'])}{unit})"


def _grown(row: dict[str, Any]) -> str:
    return f"to {_factor_text(row)}" if row["value_ps"] else "is 0"


def _may_grow(parameter: str, rows: list[dict[str, Any]]) -> str:
    """How much a parameter may grow, for each growth of the run time."""
    if not rows[0]["value_ps"]:
        return f"{parameter} is 0"
    first, *others = rows
    limits = [f"{_grown(first)} until the run is {percent_text(first['growth'])} longer"]
    limits += [f"{_grown(row)} until {percent_text(row['growth'])}" for row in others]
    return f"{parameter} may grow {join_words(limits)}"


def _findings(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    tolerances = at_most_ranks(_tolerances(table))
    points = at_most_ranks(table[table["factor"] == 1])
    for program, own in tolerances.groupby("program", sort=False):
        said = [
            _may_grow(str(parameter), rows_of(rows.sort_values("growth")))
            for parameter, rows in own.groupby("parameter", sort=False)
        ]
        yield str(program), f"On {plural(int(own['ranks'].iloc[0]), 'rank')} {'; '.join(said)}."
        counts = {row["parameter"]: row for row in rows_of(points[points["program"] == program])}
        if {"L", "G"} <= {*counts}:
            yield str(program), f"{_count(counts['L'])} and {_count(counts['G'])} are on its critical path."


def _count(row: dict[str, Any]) -> str:
    """How many of a parameter decide when the last rank ends, one after another: "200 latencies"."""
    one, more = _COUNTED[row["parameter"]]
    return f"{count_text(row['derivative'])} {one if row['derivative'] == 1 else more}"


def _figures(table: pd.DataFrame) -> Iterator[ReportFigure]:
    shown = at_most_ranks(_curve(table))
    lines = LinePanels(
        "program", "parameter", "factor", "relative", "factor of the parameter", "time / time at factor 1",
        words=WORDS, base=10, log=True, level=1.0, x_text=lambda value: f"{value:g}",
    )  # fmt: skip
    yield ReportFigure(
        "curves",
        "Run time against a factor of one parameter, at the most ranks of each program.",
        partial(plot_line_panels, shown, lines),
    )
    tolerances = _tolerances(table)
    tolerances = tolerances[tolerances["exceeding"].notna()]
    if tolerances["growth"].nunique() > 1:
        last = at_most_ranks(tolerances).sort_values("growth", kind="stable")
        lines = LinePanels(
            "program", "parameter", "growth", "tolerated", "longer by", "tolerated factor",
            words=WORDS, base=10, log=True, level=1.0, x_text=percent_tick,
        )  # fmt: skip
        yield ReportFigure(
            "growths",
            "How many times as large a parameter may be until the run is longer by a share, at the most ranks.",
            partial(plot_line_panels, last, lines),
        )
    if tolerances["ranks"].nunique() > 1:
        least = tolerances[tolerances["growth"] == tolerances["growth"].min()]
        lines = LinePanels(
            "program", "parameter", "ranks", "tolerated", "ranks", "tolerated factor", words=WORDS, log=True, level=1.0
        )
        yield ReportFigure(
            "tolerances",
            f"How many times as large a parameter may be until the run is {percent_text(least['growth'].iloc[0])} "
            "longer.",
            partial(plot_line_panels, least, lines),
        )


def _tables(table: pd.DataFrame) -> Iterator[Table]:
    statements = beside_published(table)
    if statements:
        yield Table(
            "Published (its figures have no numbers), and simulated. Far more: G may grow by less than half as much as "
            "L, in shares of its own value",
            ("statement", "here", "holds"),
            statements,
            3,
        )
    texts: list[tuple[str, ...]] = [
        (str(row["program"]), str(row["parameter"]), count_text(row["ranks"]), percent_text(row["growth"]),
         _factor_text(row))
        for row in rows_of(_tolerances(table))
    ]  # fmt: skip
    yield Table(
        "Tolerated until the run is longer", ("program", "parameter", "ranks", "longer by", "tolerated"), texts, 2
    )
    curves = _curve(table)
    texts = [
        (str(row["program"]), str(row["parameter"]), count_text(row["ranks"]), f"{row['factor']:g}",
         seconds_text(row["finish_ps"] / 1e12), percent_text(row["relative"] - 1, signed=True),
         _count(row))
        for row in rows_of(curves)
    ]  # fmt: skip
    more = ("program", "parameter", "ranks", "factor", "run time", "longer by", "on the critical path")
    yield Table("Run times with other parameters", more, texts, 2)
