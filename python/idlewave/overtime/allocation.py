"""Whether an allocation of nodes fits a job: what it measures now, and what the machine's history makes of that.

A need holds over an hour if at least `SHARE` of the phases of that hour meet it. From the history come the ratios of an
hour's value, the one that so many of its phases are not worse than, to the level before that hour; those of the tenth
of moments whose level was nearest to the present one are taken. The share of ratios that leave the need met is the
probability, as far as so many separate hours show it: its interval is the one by Jeffreys' prior, and the estimate lies
in it even where all hours or none met the need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError, UsageError
from ..escaping import cut, printable
from ..formatting import plural, size_text
from .brief_measurement import LEAST_OF_PAIR
from .changes import change_points
from .defaults import PROBABILITY
from .needs import parse_needs
from .series import Series, series_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from ..measure.overtime.recording import OvertimeRecording
    from .needs import Need

SHARE = 0.95
HOUR_S = 3600.0
CONFIDENCE = 0.95
_MOST_PRESENT = 60
"""The present level is that of so many phases at most."""
_MOST_MOMENTS = 500
_NEAREST = 0.1
_LEAST_MOMENTS = 30
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether an allocation fits.

    `needs` has a row for each need: need, test, size, rank and peer (the worst pair, which decides), phases, level
    (median), limit, met (the share of phases that meet it), worse_than (the share of the history's phases that were
    better than the level; NaN without), hours (separate hours of history that the probability rests on), probability
    with its interval low and high, fit. `decides` is the need with the lowest probability of those that make it unfit,
    or else of all. `probability` is the lowest of all needs, with its interval: all of them hold together with at most
    this probability. `notes` says what the verdict does not rest on.
    """

    fit: bool
    probability: float
    low: float
    high: float
    decides: str
    needs: pd.DataFrame
    notes: tuple[str, ...]


def check_allocation(
    needs: str | Sequence[Need],
    now: OvertimeRecording,
    history: Sequence[OvertimeRecording] = (),
    *,
    probability: float = PROBABILITY,
) -> Verdict:
    """Whether `now` meets all needs, such as "latency<3us", and will over the next hour with at least this probability
    each.

    Where no hour of history could show such a probability, the verdict rests on the measurement and, as far as it goes,
    on the history's share of hours; a note says so. Raises InputError if a test was not measured, UsageError without
    needs.
    """
    import pandas as pd

    needs = parse_needs(needs) if isinstance(needs, str) else needs
    if not needs:
        raise UsageError("expected at least one need")
    for recording in (now, *history):
        recording.check_phases()
    present = series_of(now.table)
    notes = [*now.notes, *_of_one_host(now)]
    past = [one for recording in history for one in _comparable(recording, now)]
    rows = [_row(need, _of_need(need, present, now.name), past, probability, notes) for need in needs]
    table = pd.DataFrame(rows)
    deciding = table.sort_values(["fit", "probability", "margin"], kind="stable").iloc[0]
    least = table.sort_values("probability", kind="stable").iloc[0]
    return Verdict(
        bool(table["fit"].all()),
        float(least["probability"]),
        float(least["low"]),
        float(least["high"]),
        str(deciding["need"]),
        table.drop(columns="margin"),
        tuple(dict.fromkeys(notes)),
    )


def _of_one_host(now: OvertimeRecording) -> list[str]:
    """A sentence if no network between nodes was measured."""
    hosts = {str(host) for host in now.said.get("hosts", [])}
    if len(hosts) != 1:
        return []
    return [f"all ranks ran on one host, {cut(printable(hosts.pop()))}: no network between nodes was measured"]


def _comparable(recording: OvertimeRecording, now: OvertimeRecording) -> list[Series]:
    """The series of a history without those of all ranks, if these were others in number."""
    same = _ranks_of(recording) == _ranks_of(now)
    return [one for one in series_of(recording.table) if same or one.rank >= 0]


def _ranks_of(recording: OvertimeRecording) -> object:
    return recording.said.get("settings", {}).get("ranks")


def _of_need(need: Need, series: Sequence[Series], name: str) -> list[Series]:
    """The series of the need's test and size, one a pair."""
    of_test = [one for one in series if one.test == need.test]
    sizes = sorted({one.size for one in of_test})
    if not sizes:
        raise InputError(f"{name}: expected phases of {need.test}, found none")
    size = need.size if need.size is not None else sizes[-1 if need.above else 0]
    if size not in sizes:
        found = ", ".join(size_text(one) for one in sizes)
        raise InputError(f"{name}: expected {need.test} of {size_text(size)}, found {found}")
    return [one for one in of_test if one.size == size]


def _row(
    need: Need, pairs: Sequence[Series], past: Sequence[Series], wanted: float, notes: list[str]
) -> dict[str, object]:
    import numpy as np

    present = [_present(one) for one in pairs]
    medians = [float(np.median(values)) for values in present]
    worst = int(np.argmin(medians) if need.above else np.argmax(medians))
    one, values, level = pairs[worst], present[worst], medians[worst]
    met = float(np.mean([need.holds(value) for value in values]))
    same = [other for other in past if other.test == one.test and other.size == one.size]
    held, hours = _history(need, level, len(values), same)
    share = float(held.mean()) if hours else float(met >= SHARE)
    counted = hours or 1  # the present counts as one hour
    estimate, low, high = _jeffreys(share, counted)
    reachable = hours > 0 and _jeffreys(1.0, hours)[0] >= wanted - _ROUNDING
    if len(values) < LEAST_OF_PAIR:
        notes.append(f"{one.name}: the present level is that of {plural(len(values), 'phase')} only")
    if not hours:
        notes.append(_no_history(need, past, same))
    elif not reachable:
        notes.append(
            f"{need.test}: the history has {plural(hours, 'separate hour')}, too few to show a probability of "
            f"{100 * wanted:g} %: the verdict rests on the share of hours that held"
        )
    likely = (estimate if reachable else share) >= wanted - _ROUNDING
    everything = np.concatenate([other.value for other in same]) if same else np.zeros(0)
    better = everything > level if need.above else everything < level
    return {
        "need": need.text,
        **one.key,
        "phases": len(values),
        "level": level,
        "limit": need.limit,
        "met": met,
        "worse_than": float(better.mean()) if len(everything) else float("nan"),
        "hours": hours,
        "probability": estimate,
        "low": low,
        "high": high,
        "fit": bool(likely and need.holds(level)),
        "margin": level / need.limit if need.above else need.limit / level,
    }


def _no_history(need: Need, past: Sequence[Series], same: Sequence[Series]) -> str:
    if not past:
        why = "there is no history"
    elif not same:
        why = "the history has no such phases"
    else:
        why = "the history has no hour without interruption"
    return f"{need.test}: {why}: the verdict rests on the measurement alone, and the probability is a wide guess"


def _present(one: Series) -> npt.NDArray[np.float64]:
    """The values since performance last changed, or the recording was last continued."""
    values: npt.NDArray[np.float64] = one.value[one.run == one.run[-1]]
    changes = change_points(values)
    begin = int(changes[-1]) if len(changes) else 0
    return values[max(begin, len(values) - _MOST_PRESENT) :]


def _history(need: Need, level: float, width: int, past: Sequence[Series]) -> tuple[npt.NDArray[np.bool_], int]:
    """Whether the need would have held over the hours after moments like the present one, and how many separate hours
    these moments have."""
    import numpy as np

    found = [_ratios(one, width, above=need.above) for one in past]
    moments, before, ratios = (
        np.concatenate([one[column] for one in found]) if found else np.zeros(0) for column in range(3)
    )
    if not len(moments):
        return np.zeros(0, dtype=bool), 0
    nearest = np.argsort(np.abs(np.log(before / level)), kind="stable")
    chosen = nearest[: max(_LEAST_MOMENTS, round(len(nearest) * _NEAREST))]
    values = level * ratios[chosen]
    held = values > need.limit if need.above else values < need.limit
    return held, _separate_hours(np.sort(moments[chosen]))


def _ratios(one: Series, width: int, *, above: bool) -> tuple[npt.NDArray[np.float64], ...]:
    """For moments of a series, s: the moment, the level of the `width` phases before it, and the ratio of the value of
    the hour after it to that."""
    import numpy as np

    starts = one.start_ns / 1e9
    places = _before_whole_hours(one)
    places = places[(places >= width) & (one.run[places - width] == one.run[places])]
    moments, levels, ratios = [], [], []
    for place in places[:: max(1, len(places) // _MOST_MOMENTS)]:
        end = int(np.searchsorted(starts, starts[place] + HOUR_S, side="right"))
        level = float(np.median(one.value[place - width : place]))
        moments.append(starts[place])
        levels.append(level)
        ratios.append(float(np.quantile(one.value[place:end], 1 - SHARE if above else SHARE)) / level)
    return np.array(moments), np.array(levels), np.array(ratios)


def _before_whole_hours(one: Series) -> npt.NDArray[np.int64]:
    """The positions of phases whose run lasts for another hour: one that an interruption cuts short is none."""
    import numpy as np

    ends = one.start_ns + one.length_ns
    end_of_run = ends[np.searchsorted(one.run, one.run, side="right") - 1]
    return np.flatnonzero(one.start_ns + HOUR_S * 1e9 <= end_of_run)


def _separate_hours(moments: npt.NDArray[np.float64]) -> int:
    """How many of the sorted moments are an hour after each other, at least."""
    count, free = 0, -float("inf")
    for moment in moments:
        if moment >= free:
            count, free = count + 1, float(moment) + HOUR_S
    return count


def _jeffreys(share: float, hours: int) -> tuple[float, float, float]:
    """The mean of the posterior of a probability, and its interval, when `share` of so many hours held."""
    from scipy.stats import beta

    posterior = beta(share * hours + 0.5, (1 - share) * hours + 0.5)
    low, high = posterior.interval(CONFIDENCE)
    return float(posterior.mean()), float(low), float(high)
