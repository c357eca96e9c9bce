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
from idlewave.studies.seed_statistics import LEAST_SEEDS, at_most_ranks, rows_of, slowdowns

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
        about="Programs are simulated on a network whose parameters are multiplied by a factor, with and without "
        "noise: below 1 the network is faster.",
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

    That the bottleneck does not move: the time that noise adds differs by less than a factor `STEADY` over all factors.
    That a faster network gives nothing: it gives less than half of what it gives without noise; "–" where noise does
    not double the run time, so that there is no bottleneck. "yes" and "no" hold for all values of the intervals; "–"
    where neither does, and of fewer than `LEAST_SEEDS` seeds.
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
        rows.append((BOTTLENECK, here, _is_same(ordered)))
        fast, as_it_is = _row(own, own["factor"].min()), _row(own, 1.0)
        if fast is None or as_it_is is None or fast["factor"] >= 1:
            continue
        quiet, noisy = _gain(as_it_is, fast, "quiet_ps"), _gain(as_it_is, fast, "noisy_ps")
        if quiet < LEAST:
            continue
        here = f"{of} times {fast['factor']:g}: {_shorter(quiet)} without noise, {_shorter(noisy)} with it"
        rows.append((NO_GAIN, here, _is_no_gain(as_it_is, fast, quiet)))
    return rows


def _is_same(rows: list[dict[str, Any]]) -> str:
    """Whether what noise adds is within a factor `STEADY` in all rows, with all values of the intervals."""
    if min(row["seeds"] for row in rows) < LEAST_SEEDS:
        return "–"
    lows = [row["quiet_ps"] * row["low"] for row in rows]
    highs = [row["quiet_ps"] * row["high"] for row in rows]
    if min(lows) > 0 and max(highs) < STEADY * min(lows):
        return "yes"
    return "no" if max(lows) > STEADY * max(min(highs), 0.0) else "–"


def _is_no_gain(as_it_is: dict[str, Any], fast: dict[str, Any], quiet: float) -> str:
    """Whether the faster network gives less than half of `quiet` under noise, with all values of the intervals."""
    if min(as_it_is["seeds"], fast["seeds"]) < LEAST_SEEDS or as_it_is["low"] < 1:
        return "–"
    (own_low, own_high), (fast_low, fast_high) = (
        (row["quiet_ps"] * (1 + row["low"]), row["quiet_ps"] * (1 + row["high"])) for row in (as_it_is, fast)
    )
    if 1 - fast_low / own_high < quiet / 2:
        return "yes"
    return "no" if 1 - fast_high / own_low >= quiet / 2 else "–"


def _row(rows: pd.DataFrame, factor: float) -> dict[str, Any] | None:
    return next((row for row in rows_of(rows) if row["factor"] == factor), None)


def _added(row: dict[str, Any]) -> str:
    """What noise adds in the mean, with its interval; of one seed "5 ms (1 seed)"."""
    if row["seeds"] == 1:
        return f"{_time(row['added_ps'])} ({plural(1, 'seed')})"
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
        by_factor = {row["factor"]: row for row in (others[0], as_it_is, others[-1])}
        added = [f"{_added(row)} at {factor:g}" for factor, row in sorted(by_factor.items())]
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
            f"factor of {_words(names)}",
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
                named = own.assign(ms=own["added_ps"] / 1e9, line=[f"factor {factor:g}" for factor in own["factor"]])
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
            "gives nothing if it gives less than half of what it gives without noise, with all values of the "
            "intervals, asked where noise at least doubles the run time. "
            f"Of fewer than {LEAST_SEEDS} seeds nothing is said",
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
        headings = ("program", "ranks", "factor", "without noise", "with it, mean", "added", "slowdown")
        seeds = plural(rows["seeds"].max(), "seed")
        yield Table(f"Factors of {_words(names)}, {noise_text(str(noise))}, {seeds}", headings, texts, 1)
