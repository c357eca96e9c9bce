"""How much of a core other processes used during its recording, from the probe's summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FOREIGN = 0.02
"""A core was under foreign load if others used it for more than this share of the recording."""


def foreign_load(summary: Mapping[str, Any]) -> float:
    """The share of the time in which others used the core; `summary` is the probe's of that core."""
    foreign_s = max(summary["cpu_busy_s"] - summary["own_cpu_s"], 0.0)
    return float(foreign_s / (summary["duration_ns"] * 1e-9)) if summary["duration_ns"] else 0.0
