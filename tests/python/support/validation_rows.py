"""Rows of a validation."""

from __future__ import annotations

from idlewave.validation import COLUMNS


def row(**changes: object) -> dict[str, object]:
    """A replay of a program on two ranks, but for the changes."""
    found: dict[str, object] = dict.fromkeys(COLUMNS, 1)
    found |= {
        "program": "p",
        "size": 0,
        "ranks": 2,
        "traced_ranks": 2,
        "traced_on": "a",
        "simulated_on": "a",
        "error": 0.01,
        "doubt": "",
        "calls": 12_345,
        "speed_ns": float("nan"),
        "pilot": 1.04,
        "pilot_least": 0.97,
        "pilot_most": 2.0,
        "counted": 0.5,
    }
    return found | {"measured_s": 2.0, "measured_least_s": 1.5, "measured_most_s": 2.5} | changes
