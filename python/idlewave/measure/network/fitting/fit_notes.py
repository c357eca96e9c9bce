"""Notes of a fit, in sentences."""

from __future__ import annotations

import numpy as np

from ....formatting import percent_text, percent_tick, time_text
from .fitted_ranges import Range, kept_in
from .observations import Observations
from .page_steps import PageStep
from .range_model import Medians

UNSETTLED = 0.05
"""A median is uncertain if its 95 % interval extends further than this relative distance."""


def remarks(ranges: tuple[Range, ...], steps: list[PageStep]) -> tuple[str, ...]:
    """Notes about the parameters: those that are hidden or zero, and times that are in another parameter or in none."""
    notes = []
    for r in ranges:
        where = f"from {r.first} B on"
        if "g" in r.hidden:
            notes.append(f"g {where} cannot be seen, because the CPU is slower than the network; it is an upper bound.")
        if "G" in r.hidden:
            notes.append(f"G {where} cannot be seen, because the CPU is slower than the network; it is set to O.")
        zero = [h.removesuffix("≈0") for h in r.hidden if h.endswith("≈0")]
        if r.held and zero:
            notes.append(
                f"Held at 0 {where}, which costs the fit {percent_text(r.held)}: {_listed(zero)}. Times grow faster "
                "there than by a line from 0, as where caches no longer hold the messages."
            )
        elif zero:
            notes.extend(
                f"{name} {where} cannot be distinguished from 0 (its interval holds 0) and is 0." for name in zero
            )
        if r.stall > 0:
            notes.append(
                f"A lone receive {where} takes {time_text(r.stall)} more than one of a train: it waits "
                "for the message's memory; that part is in L, not in o_r."
            )
        if r.tail > 0 and kept_in("o_s", r.tail, r.parameters.L) == "g":
            notes.append(
                f"A send call {where} goes on for {time_text(r.tail)} after its message has "
                "left; that part is in g, not in o_s."
            )
        elif r.tail > 0:
            notes.append(
                f"A lone send call {where} takes {time_text(r.tail)} more than one of a train; that part is in L, not "
                "in o_s."
            )
    if steps:
        heights = sorted(s.height for s in steps)
        longer = " to ".join(dict.fromkeys((time_text(heights[0]), time_text(heights[-1]))))
        notes.append(
            f"From {_listed([str(s.size) for s in steps])} B on a message reaches one more page of memory and takes "
            f"{longer} longer: no change of protocol, and part of G."
        )
    return tuple(notes)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def doubts(seen: Observations, medians: Medians) -> tuple[str, ...]:
    """Notes about uncertainty that is due to the samples."""
    notes = []
    steady = int(seen.steady.sum())
    if seen.ran_alike and steady < 0.8 * seen.repetitions:
        notes.append(
            f"The machine changed its speed during the measurement: {seen.repetitions - steady} of {seen.repetitions} "
            "repetitions were set aside because they ran unlike the others."
        )
    if seen.disturbed:
        notes.append(f"{seen.disturbed} of {seen.samples} samples were set aside: a rank lost its core during them.")
    if seen.left_out:
        shown = ", ".join(map(str, seen.left_out[:5])) + (" …" if len(seen.left_out) > 5 else "")
        alike = " that ran alike" if seen.ran_alike else ""
        notes.append(f"{len(seen.left_out)} sizes have too few samples{alike}, and are left out: {shown} B.")
    reach = {name: 1.96 * medians.errors[name] / medians.curves[name] for name in ("half", "gap")}
    unsure = np.any([np.abs(values) > UNSETTLED for values in reach.values()], axis=0)
    if unsure.any():
        notes.append(
            f"At {int(unsure.sum())} of {len(unsure)} sizes the median round trip or gap is uncertain by more than "
            f"{percent_tick(UNSETTLED)}: a longer measurement, or a quieter machine, would tell more."
        )
    return tuple(notes)
