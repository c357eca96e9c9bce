"""Figures as files: their names are checked before anything is measured for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".pdf", ".svg")


class Picture(click.Path):
    """A file's name that says in what format to draw."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401
        """Refuses other formats before anything is measured or simulated."""
        path = super().convert(value, param, ctx)
        if Path(value).suffix not in PICTURES:
            self.fail(f"expected a name that ends with {', '.join(PICTURES)}, found '{value}'", param, ctx)
        return path


def save_figure(figure: Figure, file: Path) -> None:
    """Write a figure in the style in which it was drawn; folders are made."""
    from matplotlib import rc_context

    from ..plotting import STYLE

    file.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(STYLE):
        figure.savefig(file, dpi=200)
