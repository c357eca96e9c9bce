"""The page of the study of noise: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from idlewave.formatting import count_text, join_words, percent_range, percent_text, plural, size_text, time_text
from idlewave.noise_presets import OWN, noise_presets
from idlewave.report.noise_plots import plot_noise_losses, plot_noise_slowdowns, plot_regular_noise
from idlewave.report.noise_published import beside_published, regular_rows
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.study_rows import row_objects
from idlewave.report.tables import Table
from idlewave.studies.seed_statistics import LEAST_SEEDS

TITLE = "What noise costs at scale"
TENTH, BOTTLENECK = 0.1, 1.0
"""Slowdowns from which on noise matters, and from which on it takes more time than all else."""
SAME = ":same"
MOST_US = 1000
"""Detours up to that length are in one figure."""
_PROGRAM = ["machine", "program", "bytes", "steps", "collective"]
_LEAST_ROWS = 8
_SHORT = 8
"""Bytes of a short operation."""
_TWICE = 1.5
"""A noise takes more time than another if it takes so many times as much."""

Groups = list[tuple[str, pd.DataFrame]]


def noise_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    timed = table[table["quiet_ps"] > 0]
    scale = timed[timed["asks"] == "scale"]
    groups = [(_title(keys), rows) for keys, rows in scale.groupby(_PROGRAM, sort=False)]
    published = beside_published(timed)
    return StudyPage(
        title=TITLE,
        about="Each program is simulated without noise, and with many seeds of each noise; the slowdown is the time "
        "that it takes longer, by the time without noise.",
        findings=[*_findings(groups), *_law(scale), *_published_finding(published)],
        figures=[*_figures(groups, scale), *_regular_figures(timed)],
        tables=[*_published_table(published), *_tables(groups)],
        rests=_rests(table),
    )


def _title(keys: Any) -> str:  # noqa: ANN401 - of pandas
    _, program, size, steps, is_collective = keys
    if not is_collective:
        return f"{program}, {plural(steps, 'iteration')}" if size else str(program)
    return f"{program} of {size_text(size)}" + (f", {steps} times" if steps > 1 else "")


def bottleneck(rows: pd.DataFrame, slowdown: float) -> int | None:
    """The least number of ranks from which on the whole interval of the mean slowdown is at or above `slowdown`.

    `rows` are those of one program and noise. None: at no simulated number of ranks, or not at the largest.
    """
    found = None
    for row in row_objects(rows.sort_values("ranks", ascending=False)):
        if not row.low >= slowdown:
            break
        found = int(row.ranks)
    return found


def _findings(groups: Groups) -> Iterator[tuple[str, str]]:
    for title, rows in groups:
        most = int(rows["ranks"].max())
        last = rows[rows["ranks"] == most].sort_values("slowdown", ascending=False)
        said = [f"{row.noise} {percent_text(row.slowdown)} ({_interval(row)})" for row in row_objects(last)]
        sentences = [
            f"Slowdowns at {count_text(most)} ranks: {join_words(said)}.",
            _contradiction(last),
            _co_scheduled(last),
            _bottleneck_sentence(rows[rows["noise"] != OWN]),
            _own_sentence(rows[rows["noise"] == OWN]) if OWN in set(rows["noise"]) else "",
        ]
        yield title, " ".join(sentence for sentence in sentences if sentence)


def _interval(row: Any) -> str:  # noqa: ANN401 - of pandas
    return percent_range(row.low, row.high)


def _contradiction(last: pd.DataFrame) -> str:
    """The two noises of which that takes less time which costs more, with intervals that are apart."""
    rows = row_objects(last[~last["noise"].str.endswith(SAME)])
    pairs = [(a, b) for a in rows for b in rows if b.overhead > _TWICE * a.overhead and a.low > b.high]
    if not pairs:
        return ""
    less, more = max(pairs, key=lambda pair: pair[0].slowdown / max(pair[1].slowdown, 1e-9))
    return (
        f"Shape decides, not intensity: {more.noise} takes {more.overhead / less.overhead:.1f} times as much time of a "
        f"core as {less.noise}, and slows down by {percent_text(more.slowdown)} where {less.noise} does by "
        f"{percent_text(less.slowdown)}."
    )


def _co_scheduled(last: pd.DataFrame) -> str:
    by = {row.noise: row for row in row_objects(last)}
    said = [
        f"{name} by {percent_text(by[name + SAME].slowdown)} instead of {percent_text(row.slowdown)}"
        for name, row in by.items()
        if name + SAME in by and by[name + SAME].high < row.low
    ]
    return f"Co-scheduled, on all ranks at the same times, noise costs less: {join_words(said)}." if said else ""


def _bottleneck_sentence(rows: pd.DataFrame) -> str:
    found: dict[int | None, list[str]] = {}
    for noise, own in rows.groupby("noise", sort=False):
        found.setdefault(bottleneck(own, BOTTLENECK), []).append(str(noise))
    scales = sorted(ranks for ranks in found if ranks is not None)
    said = [f"from {count_text(ranks)} ranks on with {join_words(found[ranks])}" for ranks in scales]
    return f"Of the simulated scales, noise takes more time than all else {join_words(said)}." if said else ""


def _own_sentence(rows: pd.DataFrame) -> str:
    """From which scale on the noise of the machine itself matters."""
    said = []
    for slowdown, what in ((TENTH, "costs at least a tenth"), (BOTTLENECK, "takes more time than all else")):
        said.append(f"{what} {_scales(rows, slowdown)}")
    return f"The noise of the machine itself {join_words(said)}."


def _scales(rows: pd.DataFrame, slowdown: float) -> str:
    """From which scale on the noise of `rows` costs so much, as far as the intervals say."""
    ranks = bottleneck(rows, slowdown)
    if ranks is not None:
        return f"from {count_text(ranks)} ranks on"
    if not row_objects(rows.sort_values("ranks"))[-1].high < slowdown:
        return "not decidedly: the interval at the most ranks holds more and less"
    below = (rows["high"] < slowdown).all()
    return "at none of these scales" if below else "from no scale on, up to the largest"


def _law(scale: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Whether the loss follows the expected worst loss, or the share of time that noise takes."""
    rows = scale[scale["collective"] & ~scale["noise"].str.endswith(SAME)]
    sentences = [_correlation(rows), _ratio(rows), _absorbed(scale)]
    if any(sentences):
        yield "what decides", " ".join(sentence for sentence in sentences if sentence)


def _correlation(rows: pd.DataFrame) -> str:
    if len(rows) < _LEAST_ROWS:
        return ""
    ranked = rows[["lost_ps", "worst_ps", "slowdown", "overhead"]].rank()
    by_worst, by_share = ranked["lost_ps"].corr(ranked["worst_ps"]), ranked["slowdown"].corr(ranked["overhead"])
    if not (np.isfinite(by_worst) and np.isfinite(by_share)):
        return ""
    return (
        f"Over {len(rows)} cases of collectives, the rank correlation of the time lost with the expected worst loss is "
        f"{by_worst:.2f}, and that of the slowdown with the share of time that noise takes {by_share:.2f}."
    )


def _ratio(rows: pd.DataFrame) -> str:
    """How many of the expected worst losses a short operation loses."""
    small = rows[(rows["worst_ps"] > 0) & (rows["bytes"] <= _SHORT)]
    if len(small) < _LEAST_ROWS:
        return ""
    ratio = (small["lost_ps"] / small["worst_ps"]).quantile([0.1, 0.5, 0.9]).to_numpy()
    return (
        f"An operation of at most {_SHORT} B loses {ratio[1]:.1f} times the expected worst loss (median; "
        f"{ratio[0]:.1f} to {ratio[2]:.1f} in 80 % of the cases)."
    )


def _absorbed(scale: pd.DataFrame) -> str:
    """What applications lose, by what they would lose if each iteration waited once for the slowest of all ranks."""
    rows = scale[~scale["collective"] & (scale["bytes"] > 0) & (scale["worst_ps"] > 0)]
    rows = rows[(rows["ranks"] == rows["ranks"].max()) & ~rows["noise"].str.endswith(SAME)]
    rows = rows[rows["seeds"] >= LEAST_SEEDS]
    said = []
    for program, own in rows.groupby("program", sort=False):
        ratio = own["lost_ps"] / own["worst_ps"]
        said.append(f"{program} {ratio.min():.1f} to {ratio.max():.1f} times")
    if not said:
        return ""
    return (
        f"At {count_text(rows['ranks'].max())} ranks the applications lose {join_words(said)} the expected worst "
        "loss of their iterations: below 1 part of the noise is absorbed, since not all wait for all."
    )


Statements = list[tuple[str, str, str, str]]


def _published_finding(statements: Statements) -> Iterator[tuple[str, str]]:
    said = [row for row in statements if row[3] in ("yes", "no")]
    if said:
        held = sum(row[3] == "yes" for row in said)
        yield (
            "published",
            f"{held} of {plural(len(said), 'statement')} of the talk that can be checked here hold; those on systems "
            "rest on assumed sources of noise.",
        )


def _published_table(statements: Statements) -> Iterator[Table]:
    if statements:
        yield Table("Published, and simulated here", ("statement", "published", "here", "holds"), list(statements), 4)


def _figures(groups: Groups, scale: pd.DataFrame) -> Iterator[ReportFigure]:
    if not groups:
        return
    rows = pd.concat([own.assign(title=title) for title, own in groups])
    seeds = int(scale["seeds"].max())
    yield ReportFigure(
        "slowdowns",
        f"Mean slowdown by noise against ranks, with 95 % intervals over {plural(seeds, 'seed')}; 0 is not drawn.",
        partial(plot_noise_slowdowns, rows),
    )
    collective = scale[scale["collective"]]
    if (collective["lost_ps"] > 0).any():
        yield ReportFigure(
            "losses",
            "Collectives: what an operation loses in the mean, against the expected worst loss.",
            partial(plot_noise_losses, collective),
        )


def _regular_figures(timed: pd.DataFrame) -> Iterator[ReportFigure]:
    """Regular noise of several lengths: the published experiment, and what else was simulated of it."""
    for asks, caption in (
        ("scale", "Regular noise: mean slowdown against the length of a detour."),
        ("published", "As Beckman et al. injected it: allreduces of 8 B in a loop, mean slowdown."),
    ):
        rows = regular_rows(timed[timed["asks"] == asks])
        rows = rows[(rows["ranks"] == rows.groupby("program")["ranks"].transform("max")) & (rows["us"] <= MOST_US)]
        if rows.groupby(["program", "bytes", "hertz"])["us"].nunique().max() >= 3:
            titles = [_regular_title(row) for row in row_objects(rows)]
            yield ReportFigure(f"regular-{asks}", caption, partial(plot_regular_noise, rows.assign(title=titles)))


def _regular_title(row: Any) -> str:  # noqa: ANN401 - of pandas
    name = str(row.program).partition("=")[2].replace("_", " ") or f"{row.program}, {size_text(row.bytes)}"
    return f"{name}, {count_text(row.ranks)} ranks"


def _tables(groups: Groups) -> Iterator[Table]:
    headings = ("noise", "takes", "ranks", "without noise", "slowdown", "95 % interval", "median", "most", "lost",
                "expected worst")  # fmt: skip
    for title, rows in groups:
        texts: list[tuple[str, ...]] = [
            (
                str(row.noise), percent_text(row.overhead), count_text(row.ranks), time_text(row.quiet_ps),
                percent_text(row.slowdown), _interval(row), percent_text(row.median), percent_text(row.most),
                time_text(row.lost_ps), time_text(row.worst_ps),
            )
            for row in row_objects(rows.sort_values(["noise", "ranks"], kind="stable"))
        ]  # fmt: skip
        yield Table(title, headings, texts, 1)
    begins: list[tuple[str, ...]] = [
        (title, str(noise), *(_from(bottleneck(own, slowdown)) for slowdown in (TENTH, BOTTLENECK)))
        for title, rows in groups
        for noise, own in rows.groupby("noise", sort=False)
    ]
    if begins:
        caption = (
            "From how many ranks on noise costs at least a tenth, and more time than all else; –: not shown up to the "
            "most ranks"
        )
        yield Table(caption, ("program", "noise", "a tenth", "as much as all else"), begins, 2)


def _from(ranks: int | None) -> str:
    return "–" if ranks is None else count_text(ranks)


def _rests(table: pd.DataFrame) -> list[tuple[str, str]]:
    return [
        ("begin", "all ranks begin at the same time, in phases of their noise that are drawn anew for each seed."),
        (
            "seeds",
            f"{plural(int(table['seeds'].max()), 'seed')} a case at most; intervals of the mean are Student's "
            "over them, widened for skew. Where noise is rare, few seeds may have missed it: the interval does not say "
            "so.",
        ),
        (
            "expected worst",
            "loss: what the slowest of as many ranks loses in a step in which each only computes, in the mean over the "
            "same seeds, times the steps.",
        ),
        *_presets(table),
        *_experiments(table),
    ]


def _presets(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """What the noises rest on that were simulated and are presets."""
    names = {str(noise).removesuffix(SAME) for noise in table["noise"]}
    if presets := [name for name in noise_presets() if name in names]:
        have, fit = ("has", "it fits") if len(presets) == 1 else ("have", "they fit")
        yield (
            "noises",
            f"{join_words(presets)} {have} the published share of time; the sources are assumed, so that {fit} what "
            "was said of the system.",
        )


def _experiments(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """What the experiments rest on that were simulated beside the programs."""
    if (table["asks"] == "published").any():
        yield (
            "published",
            "that 16 and 13 times are those of 1000 Hz of 200 µs is assumed: the talk does not say with which noise. "
            "idlewave study verify simulates both experiments with longer loops, more seeds and a Cray XT's overheads, "
            "so that its factors differ.",
        )
    if (table["asks"] == "network").any():
        yield (
            "networks",
            "the bottleneck is where noise takes more time than all else. idlewave study network has factors of L, g "
            "and G: its 0.1 is what is 10 times as fast here.",
        )
