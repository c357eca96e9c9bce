"""The page of a recording over time: its section alone, in one HTML file with its figures."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from idlewave.output import write_text
from idlewave.overtime.analysis import Analysis
from idlewave.provenance import Provenance
from idlewave.report.figures import inline_svg, svg_of
from idlewave.report.overtime_section import TITLE, overtime_section
from idlewave.report.page import PlacedFigure
from idlewave.report.page_template import page_template


def build_overtime_page(found: Analysis, page: Path) -> list[tuple[str, str]]:
    """Write the page of a recording; returns its findings. Raises OutputError."""
    section = overtime_section(found)
    provenance = Provenance.made("report", TITLE, by="idlewave overtime report")
    placed = {}
    for number, item in enumerate(section.figures, start=1):
        svg = svg_of(item.draw(), provenance)
        placed[item.name] = PlacedFigure(number, item.name, item.caption, Markup(inline_svg(svg, item.name)))
    text = page_template("overtime.html.j2").render(section=section, figures=placed, provenance=provenance)
    write_text(page, text)
    return section.findings
