"""A figure of a page, before it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ReportFigure:
    """A figure: the name of its file without ending, its caption, and `draw`, which makes it. `topic` is the finding to
    which it belongs."""

    name: str
    caption: str
    draw: Callable[[], Figure]
    topic: str = ""
