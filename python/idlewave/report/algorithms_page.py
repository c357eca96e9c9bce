"""The page of the study of algorithms: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, size_text, time_text
from idlewave.report.algorithms_plots import plot_algorithm_costs, plot_algorithm_regions, plot_algorithm_times
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.algorithm_costs import (
    LEVEL,
    Call,
    Chooser,
    Cost,
    by_one,
    by_table,
    calls_of,
    cost_of,
    others,
    slower_beyond_chance,
)
from idlewave.studies.decision_tables import (
    NOISY,
    QUIET,
    SURE,
    TOLERANCE,
    UNSURE,
    CollectiveTimes,
    Variant,
    chosen,
    decision_table,
    has_noise,
    missing_in_open_mpi,
    switch_points,
    times_by_collective,
)
from idlewave.studies.published_choices import PUBLISHED, TITLE

HERE, WITH_NOISE = "fastest", "fastest with noise"
"""The panels of the study's own tables."""


def algorithms_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    quiet = times_by_collective(table, QUIET)
    noisy = times_by_collective(table, NOISY) if has_noise(table) else {}
    machine = str(table["machine"].iloc[0])
    return StudyPage(
        title=f"Which algorithms are the fastest on {machine}",
        about="Each collective is simulated by each of its algorithms, alone, from a common beginning until the last "
        "rank has ended. The fastest make decision tables, beside which stand those of MPI libraries.",
        findings=[*_on_all(quiet), *((name, _finding(times, noisy.get(name))) for name, times in quiet.items())],
        figures=list(_figures(quiet, noisy)),
        tables=list(_tables(quiet, noisy)),
        rests=_rests(table, quiet),
    )


def _on_all(quiet: Mapping[str, CollectiveTimes]) -> Iterator[tuple[str, str]]:
    """What other choices cost over the calls of all collectives."""
    calls: dict[str, list[Call]] = {}
    for times in quiet.values():
        for name, choose in others(times).items():
            calls.setdefault(name, []).extend(calls_of(times, choose))
    costs = {name: cost for name, own in calls.items() if (cost := cost_of(own)) is not None}
    if len(quiet) > 1 and costs:
        said = [f"{percent_text(cost.mean)} by {name} ({plural(cost.calls, 'call')})" for name, cost in costs.items()]
        yield "all collectives", f"Other choices take longer in the mean: {join_words(said)}."


def _finding(times: CollectiveTimes, noisy: CollectiveTimes | None) -> str:
    return " ".join(_sentences(times, noisy))


def _sentences(times: CollectiveTimes, noisy: CollectiveTimes | None) -> Iterator[str]:
    rules = decision_table(times)
    used = list(dict.fromkeys(Variant(rule.algorithm, rule.segment).text for rule in rules))
    calls = len(times.ranks) * len(times.sizes)
    if len(used) == 1:
        yield f"For all {plural(calls, 'call')} {used[0]} is as good as any other algorithm."
    else:
        yield f"The table of {plural(len(rules), 'rule')} chooses {join_words(used)}."
        variant, choose = by_one(times)
        cost = cost_of(calls_of(times, choose))
        if cost is not None and cost.slow:
            yield f"Of one algorithm for all calls {variant.text} costs least: {_cost(cost)}."
    for name, choose in others(times).items():
        cost = cost_of(calls_of(times, choose))
        if cost is None:
            continue
        said = f"costs {_cost(cost)}" if cost.slow else f"is as good for {plural(cost.calls, 'call')}"
        lacking = (
            f"; left out: {plural(calls - cost.calls, 'call')} whose algorithm the simulator lacks"
            if cost.calls < calls
            else ""
        )
        yield f"The choice of {name} {said}{lacking}."
    if noisy is not None:
        yield _what_noise_changes(times, noisy)


def _what_noise_changes(times: CollectiveTimes, noisy: CollectiveTimes) -> str:
    longer = [
        noisy.fastest(ranks, size)[1].ps / best - 1
        for ranks in times.ranks
        for size in times.sizes
        if (best := times.fastest(ranks, size)[1].ps)
    ]
    most = max(longer, default=0.0)
    which = f"the fastest algorithms up to {percent_text(most)}" if most > 0 else "none of the fastest algorithms"
    slowest = f"Noise makes {which} slower"
    changed = slower_beyond_chance(noisy, by_table(times))
    if not changed:
        return f"{slowest}, and changes none of the choices beyond chance."
    calls = plural(len(times.ranks) * len(times.sizes), "call")
    worst = max(changed, key=lambda call: call.slowdown)
    variant, _ = noisy.fastest(worst.ranks, worst.size)
    return (
        f"{slowest}, and for {count_text(len(changed))} of {calls} another algorithm than without noise is then the "
        f"faster one beyond chance: at {_where(worst)} {worst.variant.text} takes {percent_text(worst.slowdown)} "
        f"longer than {variant.text}."
    )


def _cost(cost: Cost) -> str:
    worst = cost.worst
    return (
        f"{percent_text(cost.mean)} in the mean over {plural(cost.calls, 'call')}, and at most "
        f"{_slower(worst.slowdown)} ({worst.variant.text}, {_where(worst)})"
    )


def _slower(slowdown: float) -> str:
    return percent_text(slowdown) if slowdown < 1 or math.isinf(slowdown) else f"{1 + slowdown:,.1f} times the time"


def _where(call: Call) -> str:
    ranks = f"{count_text(call.ranks)} ranks"
    return f"{ranks}, {size_text(call.size)}" if call.size else ranks


def region_cells(times: CollectiveTimes, noisy: CollectiveTimes | None) -> pd.DataFrame:
    """The cells of `plot_algorithm_regions`: the table without noise, the one with noise, and those of others.

    What a choice costs is, in the table with noise, what that of the table without noise costs then, beyond chance.
    """
    rows = [_cell(HERE, call, math.nan) for call in calls_of(times, by_table(times))]
    if noisy is not None:
        lost = {(call.ranks, call.size): call.slowdown for call in slower_beyond_chance(noisy, by_table(times))}
        for call in calls_of(noisy, by_table(noisy)):
            rows.append(_cell(WITH_NOISE, call, lost.get((call.ranks, call.size), math.nan)))
    for name, choose in others(times).items():
        calls = calls_of(times, choose)
        rows += [_cell(name, call, math.nan if call.good else call.slowdown) for call in calls]
    return pd.DataFrame(rows)


def _cell(panel: str, call: Call, slowdown: float) -> dict[str, object]:
    return {
        "panel": panel,
        "ranks": call.ranks,
        "bytes": call.size,
        "algorithm": call.variant.algorithm,
        "segment": call.variant.segment if call.variant.segment < call.size else 0,
        "slowdown": slowdown,
    }


def cost_rows(quiet: Mapping[str, CollectiveTimes]) -> pd.DataFrame:
    """The rows of `plot_algorithm_costs`: what others choose, and one algorithm for all calls, without noise."""
    rows = []
    for times in quiet.values():
        choosers: dict[str, Chooser] = {"one algorithm": by_one(times)[1], **others(times)}
        for name, choose in choosers.items():
            cost = cost_of(calls_of(times, choose))
            if cost is not None:
                ratios = {"mean": 1 + cost.mean, "worst": 1 + cost.worst.slowdown}
                rows.append({"collective": times.collective, "chooser": name, **ratios})
    return pd.DataFrame(rows)


def time_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `plot_algorithm_times`: of a collective by size on the most ranks, or by ranks if it has one size; of
    each algorithm those of its best segments."""
    by_size = rows["bytes"].nunique() > 1
    own = rows[rows["ranks"] == rows["ranks"].max()] if by_size else rows
    at = own["bytes" if by_size else "ranks"]
    columns = own[["algorithm", "time_ps", "low_ps", "median_ps", "high_ps"]].assign(at=at)
    best = columns.sort_values("time_ps", kind="stable").groupby(["algorithm", "at"], as_index=False).first()
    return best.sort_values(["algorithm", "at"]).assign(axis="bytes" if by_size else "ranks", ranks=own["ranks"].max())


def _figures(quiet: Mapping[str, CollectiveTimes], noisy: Mapping[str, CollectiveTimes]) -> Iterator[ReportFigure]:
    yield ReportFigure(
        "costs",
        "What other choices cost, and the one algorithm that costs least for all calls: times by those "
        "of the fastest algorithms, without noise; the geometric mean over all numbers of ranks and sizes, and the "
        "worst. One algorithm is the same one, with the same segments, for all calls of a collective. A library is "
        "missing where no rule of its own is known, or none of its algorithms.",
        partial(plot_algorithm_costs, cost_rows(quiet)),
    )
    for name, times in quiet.items():
        yield ReportFigure(
            f"times-{name}",
            f"{name}: times by each algorithm, with the best of its segments; with noise the median, and from the "
            "quantile 5 % to 95 %.",
            partial(plot_algorithm_times, time_rows(times.rows)),
        )
        cells = region_cells(times, noisy.get(name))
        yield ReportFigure(
            f"regions-{name}",
            f"{name}: which algorithm is chosen by ranks and size. In the study's own tables 8k and the like are "
            "segments of so many KiB; a number with % or × says what a library's choice costs, and with noise "
            "what that of the table without noise does. Without a number the choice is as good as the "
            "fastest. Where it is grey the simulator lacks the library's algorithm.",
            partial(plot_algorithm_regions, cells, sorted({variant.algorithm for variant in times.variants})),
        )


def beside_published(times: CollectiveTimes) -> tuple[str, str, str, str] | None:
    """What MPICH chose in 2005, what is the fastest of these algorithms here on the most ranks of a power of two, and
    what the published choice costs over all calls; None where nothing was published, or nothing of it timed."""
    published = PUBLISHED.get(times.collective)
    scales = [ranks for ranks in times.ranks if ranks & (ranks - 1) == 0]
    if published is None or not scales:
        return None
    cost = cost_of(calls_of(times, published.choose))
    if cost is None:
        return None

    def allowed(variant: Variant, _ranks: int) -> bool:
        return variant.algorithm in published.algorithms and not variant.segment

    switches = switch_points(times, scales[-1], allowed)
    first, *others = [variant.algorithm for _, variant in switches]
    here = [first, *(f"{name} from {size:,} B" for name, (size, _) in zip(others, switches[1:], strict=True))]
    return published.text, ", ".join(here), percent_text(cost.mean), _slower(cost.worst.slowdown)


def _tables(quiet: Mapping[str, CollectiveTimes], noisy: Mapping[str, CollectiveTimes]) -> Iterator[Table]:
    published = [(name, row) for name, times in quiet.items() if (row := beside_published(times)) is not None]
    if published:
        yield Table(
            f"{TITLE} (Thakur, Rabenseifner, Gropp), and here: the fastest of the same algorithms on the most ranks of "
            "a power of two; what the published choice costs over all calls beside the fastest of all algorithms",
            ("collective", "published", "here", "mean", "worst"),
            [(name, *row) for name, row in published],
            3,
        )
    yield Table(
        "Decision table, without noise (rules.csv)",
        ("collective", "from ranks", "from bytes", "algorithm", "time", "slower with noise"),
        [row for name, times in quiet.items() for row in _rule_rows(times, noisy.get(name))],
        1,
    )


def _rule_rows(times: CollectiveTimes, noisy: CollectiveTimes | None) -> Iterator[tuple[str, ...]]:
    """A row a rule, with the time of its first call."""
    rules = decision_table(times)
    for rule in rules:
        variant = chosen(rules, rule.ranks, rule.bytes)
        size = max(rule.bytes, times.sizes[0])
        time = times.timed(rule.ranks, size, variant)
        with_noise = None if noisy is None else noisy.timed(rule.ranks, size, variant)
        assert time is not None, "a rule chooses what was timed"
        slower = "–" if with_noise is None or not time.ps else percent_text(with_noise.ps / time.ps - 1)
        where = (f"{rule.ranks:,}", f"{rule.bytes:,}")
        yield times.collective, *where, variant.text, time_text(time.ps), slower


def _rests(table: pd.DataFrame, quiet: Mapping[str, CollectiveTimes]) -> list[tuple[str, str]]:
    seeds = int(table["seeds"].max())
    cost = float(table["reduction_cost"].max())
    noise = (
        f"is drawn with {plural(seeds, 'seed')} for each call, and the mean decides. In the table with noise an "
        f"algorithm within {percent_text(UNSURE)} of the fastest is as good, too, if that is less than {SURE:g} "
        f"standard errors. What noise is said to change has a chance of {percent_text(LEVEL)} for each "
        "collective to be wrong anywhere (Student's t, Holm's correction for all calls)."
        if seeds
        else "is left out."
    )
    lacking = [note for times in quiet.values() for note in missing_in_open_mpi(times)]
    return [
        ("times", "are those of one call alone, which all ranks begin at the same moment."),
        ("choices", f"An algorithm within {percent_text(TOLERANCE)} of the fastest is as good, and makes no rule."),
        ("noise", noise),
        ("switches", "lie where times cross, on lines between the sizes that were simulated."),
        ("reductions", f"cost {cost:g} ns a byte." if cost else "cost no time: --reduction-cost says what they cost."),
        (
            "libraries",
            "choose as they do by themselves where all ranks are alike. Calls are left out for which the simulator has "
            "only an algorithm that is near theirs. MPICH counts elements, here of 4 bytes each, and Open MPI's "
            "vectors have elements of 8.",
        ),
        *(("Open MPI's file", f"{note}.") for note in lacking),
    ]
