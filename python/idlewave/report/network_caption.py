"""The caption of the figure of the network: measured values, the model, and what the model deliberately leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, size_text, time_text
from idlewave.measure.network.fitting.fitted_ranges import kept_in
from idlewave.measure.network.fitting.quantities import quantities_of
from idlewave.measure.network.plots.curve_table import Compared, CutOff, aside_parts, compared, cut_off, not_modelled
from idlewave.report.network_plot import SPREAD
from idlewave.report.setting import Setting

if TYPE_CHECKING:
    from idlewave.measure import LogGP
    from idlewave.measure.network.fitting.collective_rules import CollectiveFit
    from idlewave.measure.network.fitting.pattern_assessment import PatternFit

_UNKNOWN = Setting()
_PANELS = (
    "Half round trip: half the time until an answer of the same size is back; gap: time per message of a train; "
    "overheads: time in the call that sends or receives."
)
_MODEL = (
    "In the model these are send overhead o_s + latency L + receive overhead o_r; the gap g, or a longer overhead; "
    "o_s; and o_r; each byte after the first adds G, O_s or O_r."
)
_CALLS = {"o_s": "a send", "o_r": "a lone receive"}
_KEPT = {"g": "after the message has left, which counts in the gap g", "L": "which counts in the latency L"}


def network_caption(
    fit: LogGP, residuals: pd.DataFrame, setting: Setting = _UNKNOWN, *, own_parameters: bool = False
) -> str:
    """The caption of `plot_network`. `own_parameters`: the parameters above were fitted to patterns, not to these
    curves."""
    seen = compared(quantities_of(fit), residuals)
    if seen.shown.empty:
        return f"No time above zero was measured of the network of {setting.place}."
    parameters = "parameters fitted to these curves alone" if own_parameters else "the parameters above"
    sentences = [
        f"What a message between two ranks costs on {setting.place}, by its size: measured medians (points), {SPREAD} "
        f"(pale bars), and the LogGOPS model with {parameters}, put through the same measurement (lines).",
        _PANELS,
        _MODEL,
        _protocol(fit),
        _asides(seen, fit),
        _unseen(seen, fit),
    ]
    if not seen.residuals.empty:
        sentences.append(_strips(seen))
    return " ".join(sentence for sentence in (*sentences, *_beyond(cut_off(seen))) if sentence)


def _protocol(fit: LogGP) -> str:
    if fit.S is None:
        return "No eager limit S was found: only synchronous sends wait for their receivers."
    return f"Above the eager limit S = {size_text(fit.S)} a request and a clear to send come first."


def _asides(seen: Compared, fit: LogGP) -> str:
    """The parts of calls that the model does not have as overhead."""
    rules = fit.network
    found: dict[tuple[str, str], list[str]] = {}
    for series in _CALLS:
        for first, aside in aside_parts(seen.residuals, rules, series):
            kept = kept_in(series, aside, rules.of(first).L / 1000)
            found.setdefault((series, kept), []).append(f"{time_text(aside * 1000)} {_sizes(first, rules.ranges)}")
    if not found:
        return ""
    parts = [f"of {_CALLS[series]} {join_words(times)}, {_KEPT[kept]}" for (series, kept), times in found.items()]
    return f"Hatched: time in a call that is no overhead in the model: {'; '.join(parts)}."


def _sizes(first: int, ranges: Sequence[tuple[int, object]]) -> str:
    """A range of sizes in words."""
    later = [begin for begin, _ in ranges if begin > first]
    if not later:
        return "at every size" if first <= 1 else f"from {size_text(first)} on"
    last = size_text(later[0] - 1)
    return f"up to {last}" if first <= 1 else f"from {size_text(first)} to {last}"


def _unseen(seen: Compared, fit: LogGP) -> str:
    sizes: pd.Series = seen.shown.loc[seen.shown["series"] == "o_r", "size"]
    if fit.S is None or not not_modelled(fit.network, "o_r", sizes).any():
        return ""
    return "Open points, not fitted: above S a receive takes part in the transfer itself."


def _strips(seen: Compared) -> str:
    off = seen.residuals["percent"].abs()
    asides = " with the hatched part" if (seen.residuals["aside_ns"] > 0).any() else ""
    return (
        f"Below each panel: the model{asides} less the measured median, in percent of it; half of the "
        f"{plural(len(off), 'point')} are within {percent_text(float(off.median()) / 100)}."
    )


def _beyond(cut: CutOff) -> list[str]:
    parts = [(cut.medians, "median"), (cut.intervals, "bar"), (cut.residuals, "difference")]
    named = [plural(count, noun) for count, noun in parts if count]
    sentences = []
    if named:
        sentences.append(f"Triangles: {join_words(named)} beyond the axes.")
    if cut.not_positive:
        verb = "is" if cut.not_positive == 1 else "are"
        sentences.append(f"{count_text(cut.not_positive)} of the medians {verb} not above 0 and not drawn.")
    return sentences


def patterns_caption(fit: PatternFit, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_patterns` of a fit."""
    count = plural(len(fit.table), "row")
    return (
        f"How far the simulation of {setting.place} is off on patterns of messages between two ranks, by size: "
        f"simulated over measured time, less 1, of {count}; the shaded band is a tenth. A line for each number of "
        "messages on the way at once, or length of the computation before an exchange. A late receiver's time has its "
        "computation in it; that of an exchange after a computation has not."
    )


def collectives_caption(fit: CollectiveFit, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_collectives` of a fit."""
    return (
        f"The time of a call of each collective of {fit.ranks} ranks, by size: measured (medians with 95 % intervals), "
        f"and simulated for {setting.place} with the algorithm that comes nearest. The time of bcast, reduce, gather "
        "and scatter includes that of a barrier which follows each call."
    )
