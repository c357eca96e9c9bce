"""Calls of a traced run whose data are not simulated, but their time: one-sided communication and files."""

from __future__ import annotations

from dataclasses import dataclass

from .formatting import join_words, plural, seconds_text, volume_text


@dataclass(frozen=True)
class TimedCalls:
    """Some calls of all ranks: their number, the bytes that they moved, and the time that they took in all, s."""

    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0


def timed_calls_notes(one_sided: TimedCalls, files: TimedCalls) -> list[str]:
    """What a schedule lacks, a sentence for each kind of call that the traced run has."""
    kinds = (("one-sided operation", one_sided), ("file operation", files))
    return [
        f"{plural(found.calls, kind)} ({volume_text(found.bytes)}): computation in the simulation, for as long as "
        f"{'it' if found.calls == 1 else 'they'} took, {seconds_text(found.seconds)} over all ranks; the data are not "
        "simulated"
        for kind, found in kinds
        if found.calls
    ]


def timed_calls_text(one_sided: int, files: int) -> str:
    """How many there are of each kind; "" if there are none."""
    kinds = ((one_sided, "one-sided operation"), (files, "file operation"))
    named = [plural(number, kind) for number, kind in kinds if number]
    return join_words(named) if named else ""
