"""Defaults of the functions of contention, and of the commands that call them. It loads nothing."""

from __future__ import annotations

RATES = (250_000_000, 500_000_000, 1_000_000_000, 2_000_000_000, 4_000_000_000)
"""Rates of the traffic that are measured, bytes per second."""
REMEDIED = "cg"
"""The victim for which remedies are compared."""
TREES = 200
"""Trees of a forest."""
ALARM_LEVEL = 0.01
"""The share of quiet iterations that may raise an alarm."""
REPLICATES = 20
"""Simulations of a program at each number of ranks."""
SEED = 1
