"""The caption of the figure of the network: what was measured, what the model is, and what it deliberately leaves "
"out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from idlewave.measure.network.curve_table import Compared, CutOff, aside_parts, compared, cut_off, not_modelled
from idlewave.measure.network.quantities import kept_in
from idlewave.report.data import MachineData, NetworkData
from idlewave.report.network import quantities, rules_of
from idlewave.report.setting import Setting
from idlewave.wording import count_text, join_words, percent_text, plural, size_text, time_text

_MEASURED = (
    "Half round trip: half the time until a message and its answer of the same size have come. Gap: time per "
    "message of "
    "a train. Send and receive overhead: how long the call that sends or receives takes."
)
_MODEL = (
    "Black lines: what the LogGOPS model gives for the same measurement, with the parameters in the tables above. Its "
    "half round trip is o_s + L + o_r (send overhead, latency, receive overhead), its gap is g or an overhead that is "
    "longer, and each byte after the first adds G (gap per byte) or O (overhead per byte)."
)
_CALLS = {
    "o_s": ("a send call", "o_s", "it goes on after its message has left"),
    "o_r": ("a lone receive call", "o_r", "it waits for the message’s memory"),
}
_KEPT = {"g": "the gap g", "L": "the latency L"}


def network_caption(network: NetworkData, machine: MachineData | None, setting: Setting | None = None) -> str:
    """Of `plot_network`."""
    place = (setting or Setting()).place
    seen = compared(quantities(network), None if machine is None else machine.residuals)
    if seen.shown.empty:
        return f"No time above zero was measured of the network of {place}."
    sentences = [
        f"What a message between two ranks costs on {place}, by its size: medians (points) and {network.spread} (pale "
        "bars) of the measurement.",
        _MEASURED,
    ]
    if machine is not None:
        sentences += [_MODEL, _protocol(machine), *_asides(seen, machine), *_unseen(seen, machine)]
    if not seen.residuals.empty:
        sentences.append(_strips(seen))
    return " ".join(sentence for sentence in (*sentences, *_beyond(cut_off(seen))) if sentence)


def _protocol(machine: MachineData) -> str:
    if machine.S is None:
        return "No eager limit S was found: no send waits for its receiver."
    return (
        f"Messages above the eager limit S = {size_text(machine.S)} (dashed) make a rendezvous: a request and a "
        "clear to "
        "send come first."
    )


def _asides(seen: Compared, machine: MachineData) -> list[str]:
    """The parts of calls that the model has not as overhead, a sentence each overhead."""
    rules, sentences = rules_of(machine), []
    for series, (call, letter, why) in _CALLS.items():
        by_parameter: dict[str, list[str]] = {}
        for first, aside in aside_parts(seen.residuals, rules, series):
            kept = kept_in(series, aside, rules.of(first).L / 1000)
            by_parameter.setdefault(kept, []).append(f"{time_text(aside * 1000)} {_sizes(first, rules.ranges)}")
        for kept, parts in by_parameter.items():
            because = f": {why}" if series == "o_r" or kept == "g" else ""
            sentences.append(
                f"Hatched: {call} takes longer than {letter}, by {join_words(parts)}{because}; the model counts "
                "that part "
                f"in {_KEPT[kept]}, not as time of the processor."
            )
    return sentences


def _sizes(first: int, ranges: Sequence[tuple[int, object]]) -> str:
    """A range of sizes in words."""
    later = [begin for begin, _ in ranges if begin > first]
    if later:
        return (
            f"up to {size_text(later[0] - 1)}"
            if first <= 1
            else f"from {size_text(first)} to {size_text(later[0] - 1)}"
        )
    return "at every size" if first <= 1 else f"from {size_text(first)} on"


def _unseen(seen: Compared, machine: MachineData) -> list[str]:
    sizes: pd.Series = seen.shown.loc[seen.shown["series"] == "o_r", "size"]
    if machine.S is None or not not_modelled(rules_of(machine), "o_r", sizes).any():
        return []
    return [
        "Open points: above S a receive call takes part in the transfer itself; that is no receive overhead o_r, "
        "and was "
        "not fitted."
    ]


def _strips(seen: Compared) -> str:
    off = seen.residuals["percent"].abs()
    asides = " with the hatched part" if (seen.residuals["aside_ns"] > 0).any() else ""
    return (
        f"Below each panel: the model{asides} less the measured median, in percent of it; half of the "
        f"{plural(len(off), 'point')} are off by less than {percent_text(float(off.median()) / 100)}."
    )


def _beyond(cut: CutOff) -> list[str]:
    parts = [(cut.medians, "median"), (cut.intervals, "bar"), (cut.residuals, "difference")]
    named = [plural(count, noun) for count, noun in parts if count]
    sentences = []
    if named:
        verb = "reaches" if sum(count for count, _ in parts) == 1 else "reach"
        sentences.append(f"{join_words(named)} {verb} beyond the axes, where a triangle is.")
    if cut.not_positive:
        verb = "is" if cut.not_positive == 1 else "are"
        sentences.append(f"{count_text(cut.not_positive)} of the medians {verb} not above 0 and not drawn.")
    return sentences
