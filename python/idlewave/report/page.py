"""The page: one HTML file with everything in it, and the same figures as files beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from idlewave.output import OutputFiles
from idlewave.quoting import printable
from idlewave.report.caveats import caveats
from idlewave.report.data import ReportData
from idlewave.report.figures import inline_svg, png_of, report_figures, svg_of
from idlewave.report.findings import findings
from idlewave.report.made_from import made_from
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
    "communication": "program",
    "time": "program",
    "prediction": "program",
    "slowdown": "scale",
    "run-time": "scale",
}
"""The finding to which each figure belongs."""


@dataclass(frozen=True)
class PlacedFigure:
    """A figure as the template needs it: number, name of its file, caption, and the element itself."""

    number: int
    name: str
    caption: str
    svg: Markup


def build(data: ReportData, output: Path, on_figure: Callable[[str], None] | None = None) -> Path:
    """Write the report of `data` and return its path.

    `output` is the HTML file, or a folder in which it becomes report.html; figures/ with each figure as SVG
    and PNG stands beside it. Both are made if need be, files of the same names are replaced. `on_figure` is
    called with the name of each figure when it is done. Raises OutputError.
    """
    page = output if output.suffix == ".html" else output / "report.html"
    folder = page.parent / "figures"
    placed: dict[str, PlacedFigure] = {}
    with OutputFiles() as files:
        for number, item in enumerate(report_figures(data), start=1):
            figure = item.draw()
            svg = svg_of(figure, data.provenance)
            files.text(folder / f"{item.name}.svg", svg)
            files.open(folder / f"{item.name}.png").write(png_of(figure, data.provenance))
            caption = item.caption + data.warning(TOPICS[item.name])
            placed[item.name] = PlacedFigure(number, item.name, caption, Markup(inline_svg(svg, item.name)))
            if on_figure is not None:
                on_figure(item.name)
        files.text(page, render(data, placed))
    return page


def render(data: ReportData, figures: dict[str, PlacedFigure]) -> str:
    """The page as text. `figures` by name; sections whose part is missing are left out."""
    environment = Environment(
        loader=PackageLoader("idlewave.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.j2")
    return template.render(
        data=data,
        figures=figures,
        findings=findings(data),
        caveats=caveats(data),
        tables=_tables(data),
        made_from=made_from(data.provenance),
    )


def _shown(value: object) -> object:
    """Text of data without controls; what the page itself has made stays."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _tables(data: ReportData) -> dict[str, Table]:
    tables: dict[str, Table | None] = {}
    if data.machine is not None:
        tables["parameters"] = parameters_table(data.machine)
        tables["segments"] = segments_table(data.machine)
    if data.noise is not None:
        tables["noise"] = noise_table(data.noise)
    if data.program is not None:
        tables["calls"] = calls_table(data.program)
    if data.study is not None:
        tables["study"] = study_table(data.study)
    return {name: table for name, table in tables.items() if table is not None}
