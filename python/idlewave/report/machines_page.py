"""The page of the study of machines: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, time_text
from idlewave.report.machines_plots import AS_IT_IS, plot_machine_gains, plot_machine_noise, plot_machine_times
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.machine_edits import parse_edit

TITLE = "One program on several machines, as they are and as they might be"
LOW, HIGH = 0.1, 0.9
"""The quantiles over seeds."""
EQUAL = 0.005
"""Times that differ by less count as equal."""
_PLACE = ["program", "base", "edit"]


def machines_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    quiet, noisy = without_noise(table), with_noise(table)
    gains = quiet[quiet["edit"] != ""]
    return StudyPage(
        title=TITLE,
        about="Each program is simulated on each machine as it is, and on machines that differ from it by an edit, "
        "without noise and with the machine's own.",
        findings=[*_fastest(quiet), *_gains(gains), *_overtaking(quiet), *_noise(quiet, noisy)],
        figures=list(_figures(quiet, gains, noisy)),
        tables=list(_tables(quiet, noisy)),
        rests=_rests(table),
    )


def without_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Of each program, machine and edit the time without noise, s; `gain`, the share by which the time without the edit
    is longer; and the number of ranks."""
    rows = table.loc[~table["noise"].astype(bool), [*_PLACE, "machine", "ranks", "finish_ps"]]
    plain = rows[rows["edit"] == ""].set_index(["program", "base"])["finish_ps"]
    before = plain.loc[pd.MultiIndex.from_frame(rows[["program", "base"]])].to_numpy(float)
    rows = rows.assign(
        seconds=rows["finish_ps"] / 1e12, gain=before / rows["finish_ps"].where(rows["finish_ps"] > 0) - 1
    )
    return rows.drop(columns="finish_ps").reset_index(drop=True)


def with_noise(table: pd.DataFrame) -> pd.DataFrame:
    """The same with noise, over seeds, and their number: the median time, s; median, low and high of the slowdown by
    noise; and of the gain, whose both times have the same seed, gain, gain_low and gain_high."""
    times = table.loc[~table["noise"].astype(bool)].set_index([*_PLACE, "machine"])["finish_ps"]
    rows = table[table["noise"].astype(bool)]
    before = times.loc[pd.MultiIndex.from_frame(rows[[*_PLACE, "machine"]])].to_numpy(float)
    same_seed = ["program", "base", "seed"]
    plain = rows[rows["edit"] == ""].set_index(same_seed)["finish_ps"]
    unedited = plain.loc[pd.MultiIndex.from_frame(rows[same_seed])].to_numpy(float)
    rows = rows.assign(slowdown=rows["finish_ps"] / before - 1, gain=unedited / rows["finish_ps"] - 1)
    groups = rows.groupby([*_PLACE, "machine"], sort=False)
    slowdown, gain = groups["slowdown"], groups["gain"]
    found = {
        "seconds": groups["finish_ps"].median() / 1e12,
        "median": slowdown.median(), "low": slowdown.quantile(LOW), "high": slowdown.quantile(HIGH),
        "gain": gain.median(), "gain_low": gain.quantile(LOW), "gain_high": gain.quantile(HIGH),
        "seeds": slowdown.size(),
    }  # fmt: skip
    return pd.DataFrame(found).reset_index()


def _fastest(quiet: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for program, rows in quiet[quiet["edit"] == ""].groupby("program", sort=False):
        if len(rows) < 2:
            continue
        ordered = _records(rows.sort_values("seconds"))
        first, last = ordered[0], ordered[-1]
        equal = [row["base"] for row in ordered[1:] if row["seconds"] <= first["seconds"] * (1 + EQUAL)]
        beside = f" (and {join_words(equal)}, within {percent_text(EQUAL)})" if equal else ""
        slowest = f"the slowest is {last['base']} with {_time(last['seconds'])}"
        if first["seconds"] > 0 and equal != [row["base"] for row in ordered[1:]]:
            yield _topic(program), f"The fastest is {first['base']}{beside} with {_time(first['seconds'])}, {slowest}."
        else:
            yield _topic(program), f"All machines take {_time(first['seconds'])}, within {percent_text(EQUAL)}."


def _gains(gains: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for program, rows in gains.groupby("program", sort=False):
        slower = rows.assign(loss=1 / (1 + rows["gain"]) - 1)
        if said := _most(rows, "gain"):
            yield _topic(program), f"What speeds it up most: {said}."
        if said := _most(slower[~slower["edit"].map(_lowers)], "loss"):
            yield _topic(program), f"What slows it down most: {said}."
        small = rows.groupby("base", sort=False)["gain"].agg(lambda gain: gain.abs().max())
        if unchanged := [str(base) for base in small.index[small <= EQUAL]]:
            where = join_words(unchanged)
            yield _topic(program), f"No edit changes its time by more than {percent_text(EQUAL)} on {where}."
        odd = [
            f"{row['edit']} on {row['base']} ({percent_text(row['loss'])})"
            for row in _records(slower[slower["loss"] > EQUAL])
            if _lowers(row["edit"])
        ]
        if odd:
            yield _topic(program), f"Slower although a parameter is less: {join_words(odd)}."


def _most(rows: pd.DataFrame, column: str) -> str:
    """Of the edits that change `column` most on some machine: on how many, and where by how much."""
    best = rows.loc[rows.groupby("base", sort=False)[column].idxmax().dropna()]
    said = []
    for edit, own in best[best[column] > EQUAL].groupby("edit", sort=False):
        most = _records(own.nlargest(1, column))[0]
        by = percent_text(most[column])
        several = f"{plural(len(own), 'machine')} (most on {most['base']}, {by})"
        said.append(f"{edit} on {several if len(own) > 1 else most['base'] + f' ({by})'}")
    return "; ".join(said)


def _lowers(edit: str) -> bool:
    """Whether an edit only multiplies parameters by less than 1."""
    return all(change.factor is not None and change.factor < 1 for change in parse_edit(edit).changes)


def _overtaking(quiet: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Which edits of a slower machine make it the fastest of all as they are."""
    for program, rows in quiet.groupby("program", sort=False):
        plain = rows[rows["edit"] == ""]
        if len(plain) < 2:
            continue
        fastest = _records(plain.nsmallest(1, "seconds"))[0]
        ahead = rows[(rows["base"] != fastest["base"]) & (rows["edit"] != "")]
        ahead = ahead[ahead["seconds"] < fastest["seconds"] * (1 - EQUAL)]
        if len(ahead):
            names = [f"{row['base']} with {row['edit']}" for row in _records(ahead)]
            yield _topic(program), f"Faster than {fastest['base']} as it is: {join_words(names)}."


def _noise(quiet: pd.DataFrame, noisy: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for program, rows in noisy.groupby("program", sort=False):
        plain = rows[rows["edit"] == ""]
        said = [f"{row['base']} {_range(row, 'median', 'low', 'high')}" for row in _records(plain)]
        seeds = plural(int(rows["seeds"].max()), "seed")
        yield _topic(program), f"Longer by noise, median and 10 to 90 % of {seeds}: {join_words(said)}."
        without = quiet[(quiet["program"] == program) & (quiet["edit"] == "")].set_index("base")["seconds"]
        known = without[plain["base"]]
        first, noisy_first = str(known.idxmin()), _records(plain.nsmallest(1, "seconds"))[0]["base"]
        if first != noisy_first:
            yield _topic(program), f"With noise the fastest of these is {noisy_first}, not {first}, by the medians."
        gains = quiet[quiet["program"] == program].set_index("machine")["gain"]
        changed = [
            f"{row['machine']} {_range(row, 'gain', 'gain_low', 'gain_high')} instead of {percent_text(before)}"
            for row in _records(rows[rows["edit"] != ""])
            if _beyond_seeds(row, before := float(gains[row["machine"]]))
        ]
        if changed:
            yield _topic(program), f"With noise edits are worth something else: {join_words(changed)}."


def _beyond_seeds(row: dict[str, Any], before: float) -> bool:
    """Whether a gain with noise is another than `before`, the one without: outside of the quantiles over several
    seeds, and by more than counts as equal."""
    within = row["gain_low"] <= before <= row["gain_high"]
    return bool(row["seeds"] > 1 and not within and abs((1 + row["gain"]) / (1 + before) - 1) > EQUAL)


def _range(row: dict[str, Any], middle: str, low: str, high: str) -> str:
    return f"{percent_text(row[middle])} ({percent_text(row[low])} to {percent_text(row[high])})"


def _figures(quiet: pd.DataFrame, gains: pd.DataFrame, noisy: pd.DataFrame) -> Iterator[ReportFigure]:
    times = quiet[quiet["seconds"] > 0]
    if len(times):
        yield ReportFigure("times", "Run times without noise, by machine and edit.", partial(plot_machine_times, times))
    if len(gains):
        caption = "How much faster a program is with an edit: time without it by time with it, less 1."
        yield ReportFigure("gains", caption, partial(plot_machine_gains, gains))
    if len(noisy):
        caption = "How much longer a program takes under the machine's noise: median, and 10 to 90 % of the seeds."
        yield ReportFigure("noise", caption, partial(plot_machine_noise, noisy))


def _tables(quiet: pd.DataFrame, noisy: pd.DataFrame) -> Iterator[Table]:
    edits = [str(edit) for edit in quiet["edit"].unique()]
    for program, rows in quiet.groupby("program", sort=False):
        texts: list[tuple[str, ...]] = []
        for base, own in rows.groupby("base", sort=False):
            by = {row["edit"]: row for row in _records(own)}
            gains = [percent_text(by[edit]["gain"], signed=True) for edit in edits if edit]
            texts.append((str(base), _time(by[""]["seconds"]), *gains))
        caption = (
            f"{program}, {count_text(rows['ranks'].iloc[0])} ranks, without noise: how much faster it is with each edit"
        )
        yield Table(caption, ("machine", AS_IT_IS, *(edit for edit in edits if edit)), texts)
    if len(noisy):
        headings = ("program", "machine", "seeds", "median time", "longer by noise", "faster than as it is")
        found: list[tuple[str, ...]] = [
            (
                str(row["program"]), str(row["machine"]), count_text(row["seeds"]), _time(row["seconds"]),
                _range(row, "median", "low", "high"),
                _range(row, "gain", "gain_low", "gain_high") if row["edit"] else "–",
            )
            for row in _records(noisy)
        ]  # fmt: skip
        yield Table("With noise: medians, and 10 to 90 % of the seeds", headings, found, 2)


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    found = [
        ("edit", "multiplies or replaces a parameter of one level of the network, for messages of all sizes."),
        ("computation", "takes equally long on all machines; idlewave computation and --scale-computation change it."),
    ]
    silent = [str(name) for name, rows in table.groupby("base", sort=False) if not rows["noise"].any()]
    if silent:
        found.append(
            ("noise", f"is not simulated on {join_words(silent)}: it is not known, or the number of seeds is 0.")
        )
    return found


def _topic(program: object) -> str:
    return str(program)


def _time(seconds: float) -> str:
    return time_text(seconds * 1e12, 4)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
