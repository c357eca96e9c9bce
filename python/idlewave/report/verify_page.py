"""The page of the study that compares with closed forms and published figures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, seconds_text
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.report.verify_plots import plot_verify_allreduce, plot_verify_pop
from idlewave.studies.verify.closed_forms import WORDS
from idlewave.studies.verify.statements import (
    ALGORITHM_WORDS,
    BECKMAN_MEASURED,
    BECKMAN_SIMULATED,
    NEAR,
    NO,
    OPEN,
    Statement,
    factors,
    held,
    pop_factors,
    statements,
)

TITLE = "Simulated, and what closed forms and publications say"
TOPICS = {
    "closed forms": "Closed forms for s bytes, and simulated",
    "two ranks": "Two ranks and a message",
    "allreduce": "Allreduces under injected noise",
    "POP": "A program that calls as POP does, under noise of Jaguar's shape",
    "AMG": "A program that exchanges halos as AMG does",
}


def verify_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    found = statements(table)
    return StudyPage(
        title=TITLE,
        about="Each statement was published, or is a closed form of LogGOPS. It is simulated here as far as it was "
        "published; what is assumed is said beside it.",
        findings=list(_findings(found)),
        figures=list(_figures(table)),
        tables=[_table(topic, caption, found) for topic, caption in TOPICS.items() if _of(topic, found)],
        rests=_rests(table),
    )


def _of(topic: str, found: list[Statement]) -> list[Statement]:
    return [one for one in found if one.topic == topic]


def _findings(found: list[Statement]) -> Iterator[tuple[str, str]]:
    holding, decided = held(found)
    if decided:
        yield "all", f"{holding} of {plural(decided, 'statement')} hold here."
    for topic in TOPICS:
        own = _of(topic, found)
        if not own:
            continue
        holding, decided = held(own)
        if decided:
            yield topic, f"{holding} of {decided} hold."
    for one in found:
        if one.holds == NO:
            because = f" {one.reason[0].upper()}{one.reason[1:]}." if one.reason else ""
            said = "Closed form" if one.topic == "closed forms" else "Published"
            yield one.topic, f"Does not hold: {one.statement}. {said}: {one.published}; here: {one.here}.{because}"
        elif one.holds == OPEN:
            yield one.topic, f"Not decided at this scale: {one.statement}. Here: {one.here}."


def factor_rows(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By algorithm: hertz, detour_ps, mean, least and most of Beckman's allreduces."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for (name, hertz, length), factor in factors(table[table["check"] == "beckman"]).items():
        found.setdefault(name, []).append((hertz, length, *factor))
    columns = ["hertz", "detour_ps", "mean", "least", "most"]
    return {name: pd.DataFrame(rows, columns=columns).astype({"hertz": int}) for name, rows in found.items()}


def _figures(table: pd.DataFrame) -> Iterator[ReportFigure]:
    published = {"simulated": BECKMAN_SIMULATED, "measured": BECKMAN_MEASURED}
    beckman = table[table["check"] == "beckman"]
    for number, (name, rows) in enumerate(factor_rows(table).items() if len(beckman) else ()):
        if len(rows) < 2:
            continue
        ranks = count_text(int(beckman["ranks"].max()))
        yield ReportFigure(
            f"verify-allreduce-{number}",
            f"Allreduces by {ALGORITHM_WORDS.get(name, name)} on {ranks} ranks under regular noise, and the published "
            "factors, which are assumed to be those of 1000 Hz of 200 µs. Bars: least to most over the seeds.",
            partial(plot_verify_allreduce, rows, published),
        )
    pop = table[table["check"] == "pop"]
    if len(pop) and pop["ranks"].nunique() > 1:
        rows = pd.DataFrame(
            [(ranks, *factor) for ranks, factor in pop_factors(pop).items()], columns=["ranks", "mean", "least", "most"]
        )
        yield ReportFigure(
            "verify-pop",
            f"A program that calls as POP does, under noise of Jaguar's shape{_bars(pop)}.",
            partial(plot_verify_pop, rows),
        )


def _table(topic: str, caption: str, found: list[Statement]) -> Table:
    said = "closed form" if topic == "closed forms" else "published"
    headings = ("statement", said, "simulated here", "difference", "holds", "reason, or what is assumed")
    rows: list[tuple[str, ...]] = [
        (one.statement, one.published, one.here, one.difference, one.holds, one.reason) for one in _of(topic, found)
    ]
    return Table(caption, headings, rows, 6, sentences=True)


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    seeds = {str(check): rows["seed"].nunique() for check, rows in table.groupby("check")}
    noisy = [f"{check} {seeds[check]}" for check in ("beckman", "ferreira", "pop") if check in seeds]
    forms = join_words([*table.loc[table["check"] == "form", "machine"].unique()])
    seconds = float(table["simulation_s"].sum()) if "simulation_s" in table else 0.0
    near = percent_text(NEAR)
    found = [("time", f"These simulations took {seconds_text(seconds, 2)} of a core.")]
    if noisy:
        found = [
            ("holds", f"A factor holds if it is not {near} below the lower or above the higher published one."),
            ("seeds", f"Of noise: {', '.join(noisy)}. Factors are means, with the least and the greatest."),
            *found,
        ]
    if forms:
        said = f"The network of {forms} counts alone; messages are eager, or make a rendezvous where the form says so."
        found = [("closed forms", f"{said} {WORDS}."), *found]
    return found


def _bars(rows: pd.DataFrame) -> str:
    """What the bars of a figure are, if there are any."""
    return ". Bars: least to most over the seeds" if rows["seed"].nunique() > 1 else ", one seed each"
