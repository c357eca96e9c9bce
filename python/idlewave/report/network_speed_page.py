"""The page of the study of faster and slower networks: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, seconds_text
from idlewave.noise_presets import noise_text
from idlewave.report.line_panels import LinePanels, plot_line_panels
from idlewave.report.mean_texts import INTERVALS, LEAST, mean_text
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.seed_statistics import at_most_ranks, rows_of, slowdowns

TITLE = "What a faster or slower network changes under noise"
_CASE = ["program", "ranks", "scaled", "factor"]
STEADY = 2.0
"""The time that noise adds counts as the same if it differs by less than this factor."""
BOTTLENECK = "the noise bottleneck is independent of the network's speed"
NO_GAIN = "a faster network does not increase performance under noise"


def network_speed_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    found = added_by_noise(table)
    statements = beside_published(found)
    known = [row for row in statements if row[2] != "–"]
    held = sum(row[2] == "yes" for row in known)
    beside = f"{held} of {len(known)} statements of the talk hold here; the table says which."
    return StudyPage(
        title=TITLE,
        about="Programs are simulated on a network whose parameters are times a factor, with and without noise: below "
        "1 the network is faster.",
        findings=[*_findings(found), *([("published", beside)] if known else [])],
        figures=list(_figures(found)),
        tables=list(_tables(found)),
        rests=[
            ("machine", f"{table['machine'].iloc[0]}; what is not scaled stays, such as the overheads o and O."),
            ("scaled", "are the parameters of all levels of the network, for messages of every size."),
            INTERVALS,
        ],
    )


def added_by_noise(table: pd.DataFrame) -> pd.DataFrame:
    """`slowdowns` for each factor, with the mean time under noise, ps, and what of it noise has added."""
    found = slowdowns(table, _CASE, _CASE)
    added = found["mean"] * found["quiet_ps"]
    return found.assign(added_ps=added, noisy_ps=found["quiet_ps"] + added)


def beside_published(found: pd.DataFrame) -> list[tuple[str, ...]]:
    """What the talk says (its figures have no numbers), what it rests on here, at the most ranks of each program, and
    whether it holds.

    That the bottleneck does not move: the time that noise adds differs by less than a factor `STEADY` over all factors,
    and by more only if that is so for all values in the intervals; "–" where neither is.
    That a faster network gives nothing: it gives less than half of what it gives without noise; "–" where noise does
    not double the run time, so that there is no bottleneck.
    """
    rows: list[tuple[str, ...]] = []
    for (noise, program, names), own in at_most_ranks(found).groupby(["noise", "program", "scaled"], sort=False):
        if own["mean"].max() < LEAST or own["factor"].nunique() < 2:
            continue
        of = f"{program}, {noise_text(str(noise))}, {_words(names)}"
        ordered = rows_of(own.sort_values("added_ps"))
        least, most = ordered[0], ordered[-1]
        times = f"times {own['factor'].min():g} to {own['factor'].max():g}"
        here = f"{of} {times}: noise adds {_added(least)} to {_added(most)}"
        rows.append((BOTTLENECK, here, _is_same(least, most)))
        fast, as_it_is = _row(own, own["factor"].min()), _row(own, 1.0)
        if fast is None or as_it_is is None or fast["factor"] >= 1:
            continue
        quiet, noisy = _gain(as_it_is, fast, "quiet_ps"), _gain(as_it_is, fast, "noisy_ps")
        if quiet < LEAST:
            continue
        here = f"{of} times {fast['factor']:g}: {_shorter(quiet)} without noise, {_shorter(noisy)} with it"
        dominates = as_it_is["mean"] >= 1
        rows.append((NO_GAIN, here, "–" if not dominates else "yes" if noisy < quiet / 2 else "no"))
    return rows


def _is_same(least: dict[str, Any], most: dict[str, Any]) -> str:
    """Whether two means are within a factor `STEADY`: "yes" or "no" if that holds for all values in their intervals."""
    (least_low, least_high), (most_low, most_high) = (
        (row["quiet_ps"] * row["low"], row["quiet_ps"] * row["high"]) for row in (least, most)
    )
    if least_low > 0 and most_high < STEADY * least_low:
        return "yes"
    return "no" if most_low > STEADY * max(least_high, 0.0) else "–"


def _row(rows: pd.DataFrame, factor: float) -> dict[str, Any] | None:
    return next((row for row in rows_of(rows) if row["factor"] == factor), None)


def _added(row: dict[str, Any]) -> str:
    """What noise adds in the mean, with its interval if there are several seeds."""
    if row["seeds"] == 1:
        return _time(row["added_ps"])
    low, high = (_time(row["quiet_ps"] * max(float(row[name]), 0.0)) for name in ("low", "high"))
    return f"{_time(row['added_ps'])} ({low} to {high})"


def _gain(before: dict[str, Any], after: dict[str, Any], column: str) -> float:
    return 1 - float(after[column]) / float(before[column])


def _shorter(gain: float) -> str:
    return f"{percent_text(abs(gain))} {'shorter' if gain >= 0 else 'longer'}"


def _time(picoseconds: float) -> str:
    return seconds_text(picoseconds / 1e12)


def _findings(found: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for (noise, program, names), own in at_most_ranks(found).groupby(["noise", "program", "scaled"], sort=False):
        as_it_is = _row(own, 1.0)
        others = [row for row in rows_of(own.sort_values("factor")) if row["factor"] != 1]
        if as_it_is is None or not others:
            continue
        said = []
        for row in (others[0], others[-1])[: len(others)]:
            quiet, noisy = _gain(as_it_is, row, "quiet_ps"), _gain(as_it_is, row, "noisy_ps")
            said.append(f"times {row['factor']:g}: {_shorter(quiet)} without noise, {_shorter(noisy)} with it")
        text = f"{_words(names)} {'; '.join(said)}. On {plural(as_it_is['ranks'], 'rank')} noise adds "
        added = [f"{_added(row)} at {row['factor']:g}" for row in (others[0], as_it_is, others[-1])]
        yield f"{program}, {noise_text(str(noise))}", f"{text}{join_words(added)}."


def _figures(found: pd.DataFrame) -> Iterator[ReportFigure]:
    for number, (names, rows) in enumerate(found.groupby("scaled", sort=False)):
        last = at_most_ranks(rows)
        quiet = last.drop_duplicates(["program", "factor"]).assign(noise="", noisy_ps=lambda own: own["quiet_ps"])
        shown = pd.concat([quiet, last], ignore_index=True)
        ends = {
            name: shown["quiet_ps"] * (1 + shown[name].where(shown["noise"] != "", 0)) / 1e9 for name in ("low", "high")
        }
        shown = shown.assign(**ends, ms=shown["noisy_ps"] / 1e9, line=[_word(noise) for noise in shown["noise"]])
        lines = LinePanels(
            "program",
            "line",
            "factor",
            "ms",
            f"{_words(names)}, times",
            "run time [ms]",
            low="low",
            high="high",
            base=10,
            shared=False,
            x_text=_factor,
        )
        yield ReportFigure(
            f"times-{number}",
            f"Run time against a factor of {_words(names)}, at the most ranks of each program: means, "
            "and their intervals over seeds.",
            partial(plot_line_panels, shown, lines),
        )
        for index, (noise, own) in enumerate(rows.sort_values("factor", kind="stable").groupby("noise", sort=False)):
            if own["ranks"].nunique() > 1:
                named = own.assign(ms=own["added_ps"] / 1e9, line=[f"times {factor:g}" for factor in own["factor"]])
                lines = LinePanels("program", "line", "ranks", "ms", "ranks", "added by noise [ms]", shared=False)
                yield ReportFigure(
                    f"added-{number}-{index}",
                    f"What {noise_text(str(noise))} add to the run time, for each factor of {_words(names)}.",
                    partial(plot_line_panels, named, lines),
                )


def _word(noise: str) -> str:
    return noise_text(noise) if noise else "without noise"


def _words(names: object) -> str:
    """The parameters that are scaled together: "L, g and G"."""
    return join_words(str(names).split("+"))


def _factor(value: float) -> str:
    return f"{value:g}"


def _tables(found: pd.DataFrame) -> Iterator[Table]:
    statements = beside_published(found)
    if statements:
        yield Table(
            "Published (its figures have no numbers), and simulated. The bottleneck counts as the same if what noise "
            f"adds differs by less than a factor {STEADY:g}, with all values of the intervals; a faster network "
            "gives nothing if it gives less than half of what it gives without noise, asked where noise at least "
            "doubles the run time",
            ("statement", "here", "holds"),
            statements,
            3,
        )
    for (noise, names), rows in found.groupby(["noise", "scaled"], sort=False):
        texts: list[tuple[str, ...]] = [
            (str(row["program"]), count_text(row["ranks"]), _factor(row["factor"]), _time(row["quiet_ps"]),
             _time(row["noisy_ps"]), _time(row["added_ps"]), mean_text(row))
            for row in rows_of(rows.sort_values(["program", "ranks", "factor"], kind="stable"))
        ]  # fmt: skip
        headings = ("program", "ranks", "factor", "without noise", "with it, mean", "added", "longer by")
        seeds = plural(rows["seeds"].max(), "seed")
        yield Table(f"{_words(names)} times a factor, {noise_text(str(noise))}, {seeds}", headings, texts, 1)
