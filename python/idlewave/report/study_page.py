"""The page of a study of cases: findings, figures, and published figures beside its own, in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from idlewave.output import OutputFiles
from idlewave.provenance import Provenance
from idlewave.report.figures import png_of, svg_of
from idlewave.report.page import placed_figure
from idlewave.report.page_template import page_template
from idlewave.report.report_figure import ReportFigure
from idlewave.report.tables import Table

PAGE = "report.html"
FIGURES = "figures"


@dataclass(frozen=True)
class StudyPage:
    """What the page of a study says.

    `about` is a sentence on what was simulated, `findings` and `rests` have a topic and sentences each; `rests` says
    what the numbers rest on.
    """

    title: str
    about: str
    findings: Sequence[tuple[str, str]]
    figures: Sequence[ReportFigure]
    tables: Sequence[Table]
    rests: Sequence[tuple[str, str]]


def write_study_page(page: StudyPage, folder: Path, name: str, sources: tuple[Provenance, ...]) -> Path:
    """Write report.html and the figures beside it into `folder`; returns the page. `name` is the study's, `sources` are
    what it was made from. Raises OutputError."""
    provenance = Provenance.made("report", page.title, by=f"idlewave study {name}", sources=sources)
    placed = []
    path = folder / PAGE
    with OutputFiles() as files:
        for number, item in enumerate(page.figures, start=1):
            figure = item.draw()
            svg = svg_of(figure, provenance)
            files.text(folder / FIGURES / f"{item.name}.svg", svg)
            files.open(folder / FIGURES / f"{item.name}.png").write(png_of(figure, provenance))
            placed.append(placed_figure(number, item, figure, svg, item.caption))
        template = page_template("study.html.j2")
        files.text(path, template.render(page=page, figures=placed, provenance=provenance))
    return path
