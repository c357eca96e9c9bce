"""The look of figures, which the report shares with whatever else draws (`idlewave.plotting`)."""

from __future__ import annotations

from ..plotting import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PALETTE,
    PURPLE,
    SKY,
    SMALL,
    STYLE,
    VERMILLION,
    WIDTH,
    YELLOW,
    new_figure,
    say_empty,
    spread_labels,
    styled,
    tidy,
)

__all__ = [
    "BLUE",
    "FAINT",
    "GREEN",
    "INK",
    "MUTED",
    "ORANGE",
    "PALETTE",
    "PURPLE",
    "SKY",
    "SMALL",
    "STYLE",
    "VERMILLION",
    "WIDTH",
    "YELLOW",
    "new_figure",
    "say_empty",
    "spread_labels",
    "styled",
    "tidy",
]
