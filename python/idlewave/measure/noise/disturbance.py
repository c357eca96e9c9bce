"""Disturbances of the recording of a core, and why it ended early, from the probe's summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...formatting import percent_text, seconds_text
from .foreign_load import FOREIGN, foreign_load
from .noise_recording import dropped_note


def disturbance(summary: Mapping[str, Any]) -> dict[str, Any]:
    """dropped, foreign_load (share of the time), steal_s, throttled (how often the core was slowed down), interrupted.

    `summary`: the probe's summary of a core, merged with that of all cores.
    """
    return {
        "dropped": summary["dropped"],
        "foreign_load": foreign_load(summary),
        "steal_s": summary["steal_s"],
        "throttled": throttled(summary.get("throttled")),
        "interrupted": summary["interrupted"],
    }


def disturbance_notes(core: int, duration_s: float, found: Mapping[str, Any], probe: str = "detour") -> list[str]:
    """Sentences about the disturbances of a core that was recorded for `duration_s` seconds."""
    notes = []
    if found["dropped"]:
        notes.append(dropped_note(core, found["dropped"], probe))
    if found["foreign_load"] > FOREIGN:
        notes.append(
            f"Core {core}: other processes used {percent_text(found['foreign_load'])} of it during the recording."
        )
    if found["steal_s"] > 0:
        notes.append(f"Core {core}: the hypervisor took {seconds_text(found['steal_s'])} during the recording.")
    if found.get("throttled"):
        notes.append(f"Core {core}: slowed down {found['throttled']} times (control group's limit, or heat).")
    if found["interrupted"]:
        notes.append(f"Core {core}: interrupted after {seconds_text(duration_s)}.")
    return notes


def throttled(said: object) -> int:
    """How often a core was slowed down: the sum of the counts in the probe's summary of throttling."""
    if isinstance(said, dict):
        return sum(throttled(value) for key, value in said.items() if not str(key).endswith("_s"))
    return int(said) if isinstance(said, int | float) else 0
