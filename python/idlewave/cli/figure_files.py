"""Files of figures; their names are checked before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .option_types import OutputFile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".pdf", ".svg")


class Picture(OutputFile):
    """A picture to draw; the ending of its name is the format."""

    def __init__(self) -> None:
        super().__init__(PICTURES)


def save_figure(figure: Figure, file: Path) -> None:
    """Write a figure in the style of `plot_style`, with its provenance; folders are made."""
    from matplotlib import rc_context

    from ..output import output_file
    from ..plot_style import STYLE, finished
    from ..provenance import Provenance
    from ..provenance_in_files import picture_metadata

    form = file.suffix[1:]
    said = picture_metadata(form, Provenance.made("picture", by="idlewave"))
    with rc_context(STYLE), output_file(file) as stream:
        finished(figure).savefig(stream, format=form, dpi=200, metadata=said)
