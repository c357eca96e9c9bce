"""Tables of noise that fit on 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..formatting import plain_percent, plain_time
from ..measure import NoiseMeasurement
from ..measure.noise.attribution import counted_sources
from ..measure.noise.detour import DECADES
from ..measure.noise.source_checks import LEAST_MIXED, mixture_note
from ..measure.noise.spectrum import Peak
from .terminal import say, say_note, show_table

MOST_CORES = 16
MOST_ROWS = 12
FEW_LINES = 2
"""Single lines of unknown sources are shown up to this number; more are counted."""
_DECADES = ("<1us", "1-10us", "10-100us", "0.1-1ms", ">1ms")


def show_measurement_tables(found: NoiseMeasurement) -> None:
    """Print two tables with a row a core: figures, and overhead by length of the detours; of many cores the
    noisiest."""
    cores = (
        found.cores.nlargest(MOST_CORES, "overhead").sort_values("core")
        if len(found.cores) > MOST_CORES
        else found.cores
    )
    first = pd.DataFrame(
        {
            "core": cores["core"],
            "t_min": cores["resolution_ps"].map(lambda x: plain_time(x, 3)),
            "detours": cores["detours"] + cores["dropped"],
            "overhead": cores["overhead"].map(plain_percent),
            "median": cores["p50_ps"].map(lambda x: plain_time(x, 3)),
            "99 %": cores["p99_ps"].map(lambda x: plain_time(x, 3)),
            "99.9 %": cores["p999_ps"].map(lambda x: plain_time(x, 3)),
            "longest": cores["longest_ps"].map(lambda x: plain_time(x, 3)),
        }
    )
    which = f", the {MOST_CORES} noisiest of {len(found.cores)} cores" if len(found.cores) > MOST_CORES else ""
    seconds = found.cores["duration_ps"].median() / 1e12
    show_table(first, f"Noise: detours on each core in {seconds:.2f} s{which}")
    second = pd.DataFrame({"core": cores["core"]})
    for name, label in zip(DECADES, _DECADES, strict=True):
        second[label] = cores[f"overhead_{name}"].map(plain_percent)
    second["foreign load"] = cores["foreign_load"].map(plain_percent)
    second["steal"] = cores["steal_s"].map("{:.2f}s".format)
    show_table(second, "Overhead by the detours' length, and what disturbed")
    say(f"overhead of all cores: {plain_percent(found.overhead)}")
    for note in found.notes:
        say_note(note)


def show_peaks(peaks: Sequence[Peak], title: str, false_alarm: float, most: int = MOST_ROWS) -> None:
    """Print a row for each periodic source: frequency, cost, probable source; many unnamed single lines are counted."""
    if not peaks:
        say(f"{title}: none stands out of the noise ({false_alarm:.0%} false alarms)")
        return
    single = [p for p in peaks if len(p.harmonics) == 1 and p.source == "unknown"]
    shown = [p for p in peaks if p not in single] if len(single) > FEW_LINES else list(peaks)
    table = pd.DataFrame(
        [
            (
                f"{p.frequency:.6g} Hz",
                f"±{p.uncertainty:.1g}",
                plain_percent(p.share),
                plain_time(p.length_ps, 2),
                len(p.harmonics),
                p.source,
            )
            for p in shown[:most]
        ],
        columns=["frequency", "1 sigma", "overhead", "each", "lines", "probably"],
    )
    show_table(table, f"{title} ({false_alarm:.0%} false alarms in all)")
    for p in shown[:most]:
        name = f"the source of {p.frequency:.6g} Hz"
        if p.doubt:
            say_note(f"{name} is doubtful: {p.doubt}")
        if p.mixed >= LEAST_MIXED and p.least_ps and p.most_ps:  # from 0 on: the doubt says it
            say_note(mixture_note(name, p.mixed, p.least_ps, p.most_ps))
    if left := len(peaks) - len(shown[:most]):
        say(f"{left} more, most of a single line: sidebands of the noise's ups and downs look so (--json has all)")


def show_causes(causes: pd.DataFrame) -> None:
    """Print a row for each cause."""
    table = pd.DataFrame(
        {
            "cause": causes["cause"],
            "count": causes["count"],
            "total": causes["total_ps"].map(lambda x: plain_time(x, 3)),
            "share": causes["share"].map(plain_percent),
            "median": causes["median_ps"].map(lambda x: plain_time(x, 3)),
            "longest": causes["longest_ps"].map(lambda x: plain_time(x, 3)),
        }
    ).head(MOST_ROWS)
    show_table(table, "What the detours were (share: of the time they took)")


def show_counted(summaries: Sequence[dict[str, Any]], detours: dict[int, int]) -> None:
    """Print the system's counts during the recording, summed over cores."""
    counted = counted_sources(summaries, detours)
    if counted.empty:
        return
    groups = counted.groupby(["source", "meaning"], sort=False)
    total = groups.agg(
        count=("count", "sum"), rate=("rate_per_s", "sum"), most=("most", "max"), steal=("steal_s", "sum")
    )
    total = total.sort_values(["count", "steal"], ascending=False).reset_index().head(MOST_ROWS)
    table = pd.DataFrame(
        {
            "source": total["source"],
            "count": total["count"],
            "a second": (total["rate"] / len(summaries)).map("{:.1f}".format),
            "of detours": total["most"].map(lambda x: f"<{x:.1%}"),
            "what": total["meaning"].map(_short),
        }
    )
    for row in total[total["steal"] > 0].itertuples():
        table.loc[row.Index, "a second"] = f"{row.steal:.2f}s"
    show_table(table, "What the system counted meanwhile (a second and core; at most that part of detours)")


def _short(meaning: str) -> str:
    """The meaning without common words: "Local timer interrupts" -> "Local timer"; for a device its name, the last
    word."""
    words = meaning.removesuffix(" interrupts").split()
    return words[-1] if any(word.startswith(("PCI-", "IO-", "GIC")) for word in words) else " ".join(words)
