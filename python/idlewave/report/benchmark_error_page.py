"""The page of the study of benchmarks of collectives: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, seconds_text, size_text
from idlewave.report.benchmark_error_plots import plot_benchmark_case, plot_benchmark_errors
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table

TITLE = "How wrong benchmarks of collectives are"
WORDS = {
    "loop": "in a loop",
    "rotating": "in a loop with rotating roots",
    "barrier": "started by barriers",
    "window": "started at an agreed time",
}
"""The ways to time, as the page calls them."""
PUBLISHED_RANKS, PUBLISHED_REPETITIONS = 8, 5
"""The example of the talk (T. Hoefler, RWTH Aachen, 14 April 2011)."""
EQUAL = 0.005
"""Errors that differ by less count as equal."""
_OPERATION = ["machine", "collective", "bytes", "repetitions"]


def benchmark_error_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    timed = table[table["true_ps"] > 0]  # on a machine that costs nothing an operation may take no time
    groups = [(_named(keys), group) for keys, group in timed.groupby(_OPERATION, sort=False)]
    return StudyPage(
        title=TITLE,
        about="Each way to time a collective is simulated as a benchmark runs it, without noise, and what the slowest "
        "rank reports is compared with the time of one operation, which all ranks begin at the same moment.",
        findings=[*_findings(groups), *_beside_published(groups)],
        figures=list(_figures(groups)),
        tables=list(_tables(groups)),
        rests=_rests(table),
    )


Groups = list[tuple[dict[str, Any], pd.DataFrame]]


def beside_published(rows: pd.DataFrame) -> list[tuple[str, str, str]]:
    """What the talk says, what it rests on here, and whether it holds: "yes", "no", or "–" where no row shows it.

    `rows` are those of broadcasts of one machine, size and number of repetitions. The talk's pictures have no numbers.
    """
    published = rows[rows["ranks"] == PUBLISHED_RANKS]
    case = {(row["algorithm"], row["method"]): row for row in _records(published)}
    found = []
    for statement, key in (
        ("a loop of linear broadcasts looks fast", ("linear", "loop")),
        ("a loop of binomial broadcasts pipelines", ("binomial", "loop")),
        ("rotating roots do not cure a loop of binomial broadcasts", ("binomial", "rotating")),
        ("rotating roots do not cure a loop of linear broadcasts", ("linear", "rotating")),
    ):
        if key not in case:
            found.append((statement, "", "–"))
            continue
        row = case[key]
        here = f"{_time(row['measured_ps'])} instead of {_time(row['true_ps'])}: {_error(row['error'])}"
        found.append((statement, here, "yes" if row["error"] < -EQUAL else "no"))
    for algorithm in ("binomial", "linear"):
        for method in ("loop", "rotating"):
            own = rows[(rows["algorithm"] == algorithm) & (rows["method"] == method)].sort_values("ranks")
            statement = f"the error grows with the number of processes: {algorithm}, {WORDS[method]}"
            if len(own) < 2:
                found.append((statement, "", "–"))
                continue
            lost = (own["measured_ps"] - own["true_ps"]).abs().to_numpy()
            ranks = own["ranks"].to_numpy()
            here = f"{_time(lost[0])} at {count_text(ranks[0])} ranks, {_time(lost[-1])} at {count_text(ranks[-1])}"
            grows = (lost[1:] >= lost[:-1]).all() and lost[-1] > lost[0] * (1 + EQUAL)
            found.append((statement, here, "yes" if grows else "no"))
    return found


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _named(keys: Any) -> dict[str, Any]:  # noqa: ANN401 - of pandas
    return dict(zip(_OPERATION, keys, strict=True))


def _findings(groups: Groups) -> Iterator[tuple[str, str]]:
    for key, rows in groups:
        most = int(rows["ranks"].max())
        last = rows[rows["ranks"] == most]
        said = []
        for method in WORDS:
            own = last[last["method"] == method]
            if not len(own):
                continue
            ordered = _records(own.sort_values("error"))
            least, greatest = ordered[0], ordered[-1]
            errors = _error(least["error"])
            if _error(greatest["error"]) != errors:
                errors += f" ({least['algorithm']}) to {_error(greatest['error'])} ({greatest['algorithm']})"
            said.append(f"{WORDS[method]} {errors}")
        topic = f"{key['collective']} of {size_text(key['bytes'])} on {key['machine']}"
        yield topic, f"Errors at {count_text(most)} ranks: {'; '.join(said)}."
        if wrong := _wrong_order(last):
            yield topic, wrong


def _wrong_order(rows: pd.DataFrame) -> str:
    """Which methods choose another algorithm as the fastest than the one that is."""
    times = rows.groupby("algorithm", sort=False)["true_ps"].first()
    fastest, wrong = str(times.idxmin()), dict[str, list[str]]()
    for method, own in rows.groupby("method", sort=False):
        chosen = _records(own.sort_values("measured_ps"))[0]["algorithm"]
        if times[chosen] > times[fastest] * (1 + EQUAL):
            wrong.setdefault(chosen, []).append(WORDS[str(method)])
    said = [
        f"{name}, which takes {percent_text(times[name] / times[fastest] - 1)} longer ({join_words(methods)})"
        for name, methods in wrong.items()
    ]
    return f"The fastest there is {fastest}; of these benchmarks some choose {join_words(said)}." if said else ""


def _beside_published(groups: Groups) -> Iterator[tuple[str, str]]:
    for key, rows in groups:
        if key["collective"] != "bcast":
            continue
        statements = [row for row in beside_published(rows) if row[2] != "–"]
        held = sum(row[2] == "yes" for row in statements)
        if statements:
            topic = f"published, {size_text(key['bytes'])} on {key['machine']}"
            yield topic, f"{held} of {len(statements)} statements of the talk hold here."


def _figures(groups: Groups) -> Iterator[ReportFigure]:
    for number, (key, rows) in enumerate(groups):
        operation = f"{key['collective']} of {size_text(key['bytes'])} on {key['machine']}"
        repeated = plural(key["repetitions"], "operation")
        if len(set(rows["ranks"])) > 1:
            yield ReportFigure(
                f"errors-{number}",
                f"{operation}: time that a benchmark of {repeated} reports, by that of one alone. 1 is right.",
                partial(plot_benchmark_errors, rows, WORDS),
            )
        ranks = PUBLISHED_RANKS if PUBLISHED_RANKS in set(rows["ranks"]) else int(rows["ranks"].min())
        yield ReportFigure(
            f"times-{number}",
            f"{operation}, {ranks} ranks, {repeated}: times that benchmarks report, and that of one operation alone.",
            partial(plot_benchmark_case, rows[rows["ranks"] == ranks], WORDS),
        )


def _tables(groups: Groups) -> Iterator[Table]:
    for key, rows in groups:
        if key["collective"] == "bcast":
            yield Table(
                f"Published (no numbers were given), and simulated: {size_text(key['bytes'])} on {key['machine']}, "
                f"{count_text(key['repetitions'])} repetitions",
                ("statement", "here", "holds"),
                list(beside_published(rows)),
                3,
            )
    for key, rows in groups:
        headings = ("algorithm", "ranks", "alone", *(WORDS[method] for method in WORDS), *("error",) * len(WORDS))
        texts = []
        for (algorithm, ranks), own in rows.groupby(["algorithm", "ranks"], sort=False):
            by = {row["method"]: row for row in _records(own)}
            known = [by.get(method) for method in WORDS]
            times = ["–" if row is None else _time(row["measured_ps"]) for row in known]
            errors = ["–" if row is None else _error(row["error"]) for row in known]
            texts.append((str(algorithm), f"{ranks:,}", _time(own["true_ps"].iloc[0]), *times, *errors))
        yield Table(f"{key['collective']} of {size_text(key['bytes'])} on {key['machine']}", headings, texts, 1)


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    clocks = int(table["clock_error_ns"].max())
    return [
        ("reported", "the slowest rank's mean over the repetitions. Rank 0 alone, a root, reports less: root_ps."),
        ("barriers", "are dissemination barriers of messages. A rank's time begins when it leaves the barrier."),
        (
            "clocks",
            f"of ranks that start at an agreed time differ by up to {seconds_text(clocks / 1e9)} from the true time, "
            "evenly distributed, and windows are long enough; idlewave measure clocks says how exact clocks are here.",
        ),
        ("noise", "is left out, and every rank is as near to each other as the machine's parameters say."),
    ]


def _time(picoseconds: float) -> str:
    return seconds_text(float(picoseconds) / 1e12)


def _error(fraction: float) -> str:
    return percent_text(float(fraction) + 0.0, signed=True)
