"""The page of a recording over time: its section alone, in one HTML file with its figures."""

from __future__ import annotations

from pathlib import Path

from idlewave.output import write_text
from idlewave.overtime.analysis import Analysis
from idlewave.provenance import Provenance
from idlewave.report.figures import svg_of
from idlewave.report.overtime_section import TITLE, overtime_section
from idlewave.report.page import placed_figure
from idlewave.report.page_template import page_template


def build_overtime_page(found: Analysis, page: Path) -> list[tuple[str, str]]:
    """Write the page of a recording; returns its findings. Raises OutputError."""
    section = overtime_section(found)
    provenance = Provenance.made("report", TITLE, by="idlewave overtime report")
    placed = {}
    for number, item in enumerate(section.figures, start=1):
        figure = item.draw()
        placed[item.name] = placed_figure(number, item, figure, svg_of(figure, provenance), item.caption)
    text = page_template("overtime.html.j2").render(section=section, figures=placed, provenance=provenance)
    write_text(page, text)
    return section.findings
