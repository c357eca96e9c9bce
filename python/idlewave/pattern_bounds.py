"""The most ranks and bytes of a pattern."""

from __future__ import annotations

MOST_RANKS = 2**32 - 2
MOST_BYTES = 2**50
