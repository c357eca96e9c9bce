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
        "repeat_error": 0.02,
        "measured_computation_s": 1.0,
        "simulated_computation_s": 1.0,
        "doubt": "",
        "calls": 12_345,
        "left_out": 0,
        "machine_round_trip_ns": float("nan"),
        "round_trip_ratio": 1.04,
        "round_trip_ratio_least": 0.97,
        "round_trip_ratio_most": 2.0,
        "share_at_speed": 0.5,
    }
    return found | {"measured_s": 2.0, "measured_least_s": 1.5, "measured_most_s": 2.5} | changes
