"""Numbers as a reader wants them, which the report shares with other figures (`idlewave.wording`)."""

from __future__ import annotations

from ..wording import (
    MINUS,
    SPACE,
    count_text,
    fixed_seconds_texts,
    join_words,
    percent_number,
    percent_range,
    percent_text,
    plural,
    seconds_text,
    si_text,
    size_text,
    time_text,
    volume_text,
)

__all__ = [
    "MINUS",
    "SPACE",
    "count_text",
    "fixed_seconds_texts",
    "join_words",
    "percent_number",
    "percent_range",
    "percent_text",
    "plural",
    "seconds_text",
    "si_text",
    "size_text",
    "time_text",
    "volume_text",
]
