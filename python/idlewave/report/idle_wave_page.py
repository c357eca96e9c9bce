"""The page of the study of idle waves: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, time_text
from idlewave.report.idle_wave_plots import plot_idle_waves, plot_wave_decay, plot_wave_fronts
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import MOST_ROWS, Table
from idlewave.studies.idle_wave import NOISY, PROGRAM, picture_of, ranks_of
from idlewave.studies.one_off_delays import parse_delays
from idlewave.studies.wave_measurement import LATE, NEVER

TITLE = "Idle waves: one delay, and who waits for it"
AGREES = 0.02
"""A step differs from the published one by no more than this share of it where they agree."""
ABSORBED = 0.1
"""A delay is absorbed if the program ends by less than this share of it later, amplified if by as much more than it."""
LINE = 0.5
"""The least share of the variance that a line explains, by the median over seeds, where sentences say its slope."""
LOW, HIGH = 0.1, 0.9
"""The quantiles of the bands over seeds."""
_SIDES = ("up", "down")
Rows = list[dict[str, Any]]


def idle_wave_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    quiet, noisy = table[table["noise"] == 0], table[table["noise"] > 0]
    return StudyPage(
        title=TITLE,
        about="A program is simulated without and with a delay that stops one rank once. A rank is late by how much "
        "later it goes on with the delay than without it; the wave arrives when that grows most.",
        findings=[*_speed_findings(quiet), *_cost_findings(quiet), *_noise_findings(table)],
        figures=list(_figures(quiet, noisy)),
        tables=list(_tables(quiet, noisy)),
        rests=_rests(table),
    )


def beside_published(table: pd.DataFrame) -> list[tuple[str, str, str, float, float, str]]:
    """Of each row without noise and with one delay, and each side: pattern, protocol and side, the step in ranks an
    iteration, the published one, and whether they agree ("yes" or "no"). Sides that nothing was published on are
    left out."""
    found = []
    for row in _records(table[(table["noise"] == 0) & (table["pattern"] != PROGRAM)]):
        for side in _SIDES:
            published, step = row[f"{side}_published"], row[f"{side}_step"]
            if _none(published) or "," in row["delays"]:
                continue
            here = 0.0 if _none(step) and not row[f"{side}_reached"] else step
            if _none(here):
                continue  # too few ranks for a speed
            agrees = abs(here - published) <= AGREES * published
            found.append((_name(row), row["protocol"], side, here, published, "yes" if agrees else "no"))
    return found


def _speed_findings(quiet: pd.DataFrame) -> Iterator[tuple[str, str]]:
    compared = beside_published(quiet)
    if not compared:
        return
    agree = sum(row[-1] == "yes" for row in compared)
    law = f"σ d / (T_exec + T_comm), within {percent_text(AGREES)}"
    yield "speed", f"{agree} of {len(compared)} speeds are those published, {law}."
    others = dict[tuple[str, str], list[str]]()
    for name, protocol, side, here, published, agrees in compared:
        if agrees == "no":
            others.setdefault((name, protocol), []).append(f"{side} {here:.2f} instead of {published:.0f}")
    for (name, protocol), steps in others.items():
        yield "speed", f"{name}, {protocol}: {join_words(steps)} ranks an iteration."


def _cost_findings(quiet: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for row in _records(quiet):
        if text := _cost(row):
            yield _title(row), text


def _cost(row: dict[str, Any]) -> str:
    """What a delay costs, where that is not the usual: every rank is reached, and the program ends as much later."""
    several = "," in row["delays"]
    ended = f"the program ends {percent_text(row['cost'])} of the {'delays together' if several else 'delay'} later"
    others = row["ranks"] - len({delay.rank for delay in parse_delays(row["delays"])})
    reached = f"{count_text(row['reached'])} of {count_text(others)} other ranks"
    if row["cost"] < ABSORBED:
        return f"The delay is absorbed: {ended}, and the wave reaches {reached}{_in_time(row)}."
    if several:
        return f"{'The delays do not add up: t' if row['cost'] < 1 - ABSORBED else 'T'}{ended[1:]}."
    if row["cost"] > 1 + ABSORBED:
        return f"The delay is amplified: {ended}{_slower(row)}."
    if row["pattern"] != PROGRAM and row["reached"] == others:
        return ""
    decays = not _none(row["decay_ps"]) and row["decay_ps"] > 0 and row["decay_r2"] >= LINE
    lost = f", {time_text(row['decay_ps'])} less late each" if decays else ""
    return f"The wave reaches {reached}{lost}{_in_time(row)}; {ended}."


def _in_time(row: dict[str, Any]) -> str:
    """How many of the ranks that were late have made it up, if any."""
    late = ranks_of(row)
    late = late[(late["arrival_ps"] != NEVER) & (late["distance"] > 0)]
    made_up = int((late["last_ps"] < LATE * row["delay_ps"]).sum())
    return f", of which {count_text(made_up)} end in time" if made_up else ""


def _slower(row: dict[str, Any]) -> str:
    """By how much iterations take longer behind the wave, if that is known."""
    before, after = row["iteration_ps"], row["late_iteration_ps"]
    if _none(before) or _none(after) or after <= before:
        return ""
    return f", and its last iterations take {percent_text(after / before - 1)} longer"


def _noise_findings(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for _, rows in table.groupby(["schedule", "pattern", "protocol", "partners", "delays"], sort=False):
        fits = rows.groupby("noise")["decay_r2"].transform("median")
        lines = rows[fits >= LINE].dropna(subset="decay_ps")
        levels = lines[lines["noise"] > 0]
        if not len(levels):
            continue
        said = [
            f"{percent_text(float(str(share)))} noise {time_text(own['decay_ps'].median())}"
            for share, own in levels.groupby("noise", sort=True)
        ]
        without = lines.loc[lines["noise"] == 0, "decay_ps"]
        before = f"without noise {time_text(without.iloc[0])}, " if len(without) else ""
        row = _records(rows)[0]
        seeds = plural(levels.groupby("noise").size().max(), "seed")
        yield (
            f"decay, {_title(row)}",
            f"Late by so much less with each rank of distance: {before}{join_words(said)} (median of {seeds}).",
        )


def _figures(quiet: pd.DataFrame, noisy: pd.DataFrame) -> Iterator[ReportFigure]:
    one_delay = quiet[~quiet["delays"].str.contains(",")] if (quiet["pattern"] != PROGRAM).any() else quiet
    for protocol, rows in one_delay.groupby("protocol", sort=False):
        nearest = rows.groupby("pattern", sort=False).head(1)
        yield from _pictures(f"waves-{_file(str(protocol))}", f"{_protocol(str(protocol))}, without noise", nearest)
    rest = pd.concat([quiet.drop(one_delay.index), noisy.groupby(["pattern", "noise"], sort=False).head(1)])
    yield from _pictures("waves-more", f"{_more(rest)}", rest)
    fronts = {
        _protocol(str(protocol)): {_name(row): front for row in _records(rows) if len(front := _front(row)) > 2}
        for protocol, rows in one_delay[_few(one_delay)].groupby("protocol", sort=False)
    }
    panels = {protocol: lines for protocol, lines in fronts.items() if lines}
    if panels:
        caption = "When the wave arrives at the nearest ranks and further away. A steeper line is a slower wave."
        yield ReportFigure("fronts", caption, partial(plot_wave_fronts, panels))
    yield from _decay_figure(quiet, noisy)


def _more(rows: pd.DataFrame) -> str:
    """What the pictures behind those of one delay show."""
    what = [
        *(["several delays"] if (rows["noise"] == 0).any() else []),
        *(["noise"] if (rows["noise"] > 0).any() else []),
    ]
    return f"{join_words(sorted({_name(row) for row in _records(rows)}))} with {join_words(what, ' or with ')}"


def _pictures(name: str, caption: str, rows: pd.DataFrame) -> Iterator[ReportFigure]:
    known = {_short(row): (row["ranks"], picture_of(row)) for row in _records(rows)}
    pictures = {title: (ranks, picture) for title, (ranks, picture) in known.items() if picture is not None}
    for ranks in {ranks: None for ranks, _ in pictures.values()}:
        own = {title: picture for title, (count, picture) in pictures.items() if count == ranks}
        text = f"{caption}: by how much ranks are late as time passes, in longest delays."
        yield ReportFigure(name, text, partial(plot_idle_waves, own, ranks))


def _few(rows: pd.DataFrame) -> Any:  # noqa: ANN401 - flags of pandas
    """The rows of the nearest partners, and of one pattern those of further ones."""
    return (rows["pattern"] == NOISY) | (rows["partners"] == rows["partners"].min())


def _front(row: dict[str, Any]) -> pd.DataFrame:
    """Distances and times of the first arrival at each."""
    ranks = ranks_of(row)
    reached = ranks[(ranks["arrival_ps"] != NEVER) & (ranks["distance"] > 0)]
    first = reached.groupby("distance")["arrival_ps"].min().reset_index()
    return first.assign(arrival_ms=(first["arrival_ps"] - first["arrival_ps"].min()) / 1e9)


def _decay_figure(quiet: pd.DataFrame, noisy: pd.DataFrame) -> Iterator[ReportFigure]:
    if not len(noisy):
        return
    keys = ["pattern", "protocol", "partners", "delays"]
    same = quiet.set_index(keys).index.isin(noisy.set_index(keys).index)
    decays = []
    for share, rows in [(0.0, quiet[same]), *noisy.groupby("noise", sort=True)]:
        late = pd.concat([_lateness(row) for row in _records(rows)]).groupby("distance")["late"]
        bands = pd.DataFrame({"median": late.median(), "low": late.quantile(LOW), "high": late.quantile(HIGH)})
        title = f"{percent_text(float(str(share)))} noise" if share else "no noise"
        decays.append((title, bands.reset_index()))
    band = f"{percent_text(LOW)} to {percent_text(HIGH)}"
    caption = (
        f"{_title(_records(noisy)[0])}: by how much ranks are late at most. Median, and {band} of the seeds, and of "
        "the ranks at a distance."
    )
    yield ReportFigure("decay", caption, partial(plot_wave_decay, decays, band))


def _lateness(row: dict[str, Any]) -> pd.DataFrame:
    ranks = ranks_of(row)
    return ranks.assign(late=ranks["most_ps"] / row["delay_ps"])[ranks["distance"] > 0]


def _tables(quiet: pd.DataFrame, noisy: pd.DataFrame) -> Iterator[Table]:
    if len(compared := beside_published(quiet)):
        rows: list[tuple[str, ...]] = [
            (name, protocol, side, "–" if not here else f"{here:.3f}", f"{published:.0f}", agrees)
            for name, protocol, side, here, published, agrees in compared
        ]
        known = ("pattern", "protocol", "side", "ranks an iteration", "published, σ d", "agrees")
        yield Table("Speeds, and those published (Afzal, Hager, Wellein 2019)", known, rows, 3)
    yield costs_table(quiet)
    for row in _records(quiet[quiet["pattern"] == PROGRAM]):
        yield _ranks_table(row)
    if len(noisy):
        yield Table(
            f"With noise: medians over seeds, and {percent_text(LOW)} to {percent_text(HIGH)} of them",
            ("program", "noise", "seeds", "less late a rank", "reached", "ends later by"),
            list(_noise_rows(noisy)),
        )


def costs_table(quiet: pd.DataFrame) -> Table:
    """What delays do without noise: a row each."""
    headings = (
        "program",
        "delays",
        "iteration",
        "speed",
        "speed's R²",
        "reached",
        "less late a rank",
        "its R²",
        "ends later by",
        "all ranks later by",
    )
    own = (quiet["pattern"] == PROGRAM).any()
    speed = "messages a second" if own else "ranks (of other shapes: messages) an iteration"
    return Table(
        f"What delays do, without noise. Speed in {speed}; the last two are in delays",
        headings,
        [_costs(row) for row in _records(quiet)],
        2,
    )


def _ranks_table(row: dict[str, Any]) -> Table:
    """When the wave arrives at the ranks, and what is left of it at their end."""
    ranks = ranks_of(row)
    late = ranks[(ranks["arrival_ps"] != NEVER)].sort_values("arrival_ps", kind="stable")
    caption = f"{_title(row)}: ranks that were late, in the order of arrival"
    if len(late) > MOST_ROWS:
        caption += f"; the first {MOST_ROWS} of {count_text(len(late))}"
    texts: list[tuple[str, ...]] = [
        (
            count_text(one["rank"]), count_text(one["distance"]) if one["distance"] >= 0 else "–",
            *(time_text(one[name]) for name in ("arrival_ps", "most_ps", "last_ps")),
        )
        for one in _records(late.head(MOST_ROWS))
    ]  # fmt: skip
    return Table(caption, ("rank", "messages away", "arrival", "late at most", "late at the end"), texts, 0)


def _costs(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(row["schedule"]) if row["pattern"] == PROGRAM else _title(row),
        row["delays"],
        "–" if _none(row["iteration_ps"]) else time_text(row["iteration_ps"], 4),
        _speed(row),
        _share(row["speed_r2"]),
        count_text(row["reached"]),
        "–" if _none(row["decay_ps"]) else time_text(row["decay_ps"]),
        _share(row["decay_r2"]),
        f"{row['cost']:.3f}",
        f"{row['ranks_cost']:.1f}",
    )


def _speed(row: dict[str, Any]) -> str:
    """The speed in ranks an iteration; of one's own program, whose iterations are not known, in messages a second."""
    if _none(row["speed"]):
        return "–"
    if row["pattern"] == PROGRAM:
        return f"{row['speed']:,.4g}"
    return "–" if _none(row["iteration_ps"]) else f"{row['speed'] * row['iteration_ps'] / 1e12:.3f}"


def _noise_rows(noisy: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    for _, rows in noisy.groupby(["pattern", "protocol", "partners", "delays", "noise"], sort=False):
        row = _records(rows)[0]
        decay, reached, cost = (rows[name].dropna() for name in ("decay_ps", "reached", "cost"))
        yield (
            _title(row),
            percent_text(row["noise"]),
            count_text(len(rows)),
            "–" if not len(decay) else _range(decay, time_text),
            _range(reached, lambda value: f"{value:.0f}"),
            _range(cost, lambda value: f"{value:.2f}"),
        )


def _range(values: pd.Series, text: Any) -> str:  # noqa: ANN401 - a function of a number
    return f"{text(values.median())} ({text(values.quantile(LOW))} to {text(values.quantile(HIGH))})"


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    found = [
        ("late", "is a rank by how much later it starts an op, or has done all, than without the delay."),
        ("reached", f"is a rank that is late by more than {percent_text(LATE)} of the longest delay at some time."),
        ("speed", "is the slope of distance over the times of arrival, by least squares; R² is the share it explains."),
        ("progress", "is asynchronous: messages are handled as they come, unless the CPU computes."),
    ]
    if (table["pattern"] != PROGRAM).any():
        found.append(
            (
                "ring",
                "is what the ranks of generated programs lie on, so that none lacks a partner, and waves meet on it.",
            )
        )
    return found


def _name(row: dict[str, Any]) -> str:
    away = f", d = {row['partners']}" if row["partners"] > 1 else ""
    return f"{row['pattern']}{away}"


def _title(row: dict[str, Any]) -> str:
    if row["pattern"] == PROGRAM:
        return f"{row['schedule']}, {row['delays']}"
    several = f", {row['delays'].count(',') + 1} delays" if "," in row["delays"] else ""
    return f"{_name(row)}, {row['protocol']}{several}"


def _short(row: dict[str, Any]) -> str:
    """The title of a panel."""
    if row["noise"]:
        return f"{percent_text(row['noise'])} noise"
    if row["pattern"] == PROGRAM:
        return "no noise"
    several = f", {row['delays'].count(',') + 1} delays" if "," in row["delays"] else ""
    return f"{row['pattern']}{several}"


def _protocol(name: str) -> str:
    return {"eager": "Eager messages", "rendezvous": "Messages by rendezvous"}.get(name, "The program")


def _file(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum())


def _share(value: float | None) -> str:
    return "–" if _none(value) else f"{value:.3f}"


def _none(value: object) -> bool:
    return value is None or value != value


def _records(rows: pd.DataFrame) -> Rows:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
