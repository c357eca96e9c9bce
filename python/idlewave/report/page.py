"""The page: one HTML file with all figures in it, and the same figures as files beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from idlewave.output import OutputFiles
from idlewave.plot_style import WIDTH
from idlewave.report.caveats import caveats
from idlewave.report.figures import inline_svg, png_of, report_figures, svg_of
from idlewave.report.findings import findings
from idlewave.report.page_template import page_template
from idlewave.report.parts import Report
from idlewave.report.provenance_table import provenance_rows
from idlewave.report.report_figure import ReportFigure
from idlewave.report.tables import (
    Table,
    calls_table,
    noise_table,
    parameters_table,
    segments_table,
    study_table,
)

TOPICS = {
    "detours": "machine",
    "detour-lengths": "machine",
    "network": "machine",
    "patterns": "machine",
    "collectives": "machine",
    "communication": "program",
    "time": "program",
    "computation": "program",
    "prediction": "program",
    "slowdown": "scale",
    "run-time": "scale",
}
"""The finding to which each figure belongs, unless it names one itself."""


@dataclass(frozen=True)
class PlacedFigure:
    """A figure for the template: its number, the name of its file, its caption, and its SVG. `wide`: it is wider than a
    column of text."""

    number: int
    name: str
    caption: str
    svg: Markup
    wide: bool = False


def placed_figure(number: int, item: ReportFigure, figure: Figure, svg: str, caption: str) -> PlacedFigure:
    """A figure that was drawn, for the template."""
    wide = bool(figure.get_figwidth() > 1.1 * WIDTH)
    return PlacedFigure(number, item.name, caption, Markup(inline_svg(svg, item.name)), wide)


def build(report: Report, output: Path, on_figure: Callable[[str], None] | None = None) -> Path:
    """Write the page of a report and return its path.

    `output` is the HTML file, or a folder in which it becomes report.html; figures/ with each figure as SVG
    and PNG stands beside it. Both are made if need be, files of the same names are replaced. `on_figure` is
    called with the name of each figure when it is done. Raises OutputError.
    """
    page = output if output.suffix == ".html" else output / "report.html"
    folder = page.parent / "figures"
    placed: dict[str, PlacedFigure] = {}
    with OutputFiles() as files:
        for number, item in enumerate(report_figures(report), start=1):
            figure = item.draw()
            svg = svg_of(figure, report.provenance)
            files.text(folder / f"{item.name}.svg", svg)
            files.open(folder / f"{item.name}.png").write(png_of(figure, report.provenance))
            caption = item.caption + report.warning(item.topic or TOPICS[item.name])
            placed[item.name] = placed_figure(number, item, figure, svg, caption)
            if on_figure is not None:
                on_figure(item.name)
        files.text(page, render(report, placed))
    return page


def render(report: Report, figures: dict[str, PlacedFigure]) -> str:
    """The page as text. `figures` by name; sections whose part is missing are left out."""
    template = page_template("report.html.j2")
    return template.render(
        report=report,
        figures=figures,
        findings=findings(report),
        caveats=caveats(report),
        tables=_tables(report),
        provenance=provenance_rows(report.provenance),
    )


def _tables(report: Report) -> dict[str, Table]:
    tables: dict[str, Table | None] = {}
    if report.machine is not None and report.network is not None:
        intervals = report.network.intervals
        tables["parameters"] = parameters_table(report.machine, intervals, report.network.place)
        tables["segments"] = segments_table(report.machine)
    if report.noise is not None:
        tables["noise"] = noise_table(report.noise.cores)
    if report.trace is not None:
        tables["calls"] = calls_table(report.trace.totals())
    if report.study is not None:
        tables["study"] = study_table(report.study)
    return {name: table for name, table in tables.items() if table is not None}
