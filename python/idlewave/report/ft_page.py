"""The page of the study of FT: findings, figures and tables in one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from idlewave.formatting import count_text, percent_text, seconds_text, si_text, volume_text
from idlewave.output import OutputFiles
from idlewave.provenance import Provenance
from idlewave.report.figures import png_of, svg_of
from idlewave.report.ft_findings import ft_findings, link_rows
from idlewave.report.ft_plots import plot_ft_hidden, plot_ft_links, plot_ft_measured, plot_ft_times
from idlewave.report.page import PlacedFigure, placed_figure
from idlewave.report.page_template import page_template
from idlewave.report.report_figure import ReportFigure
from idlewave.report.tables import Table
from idlewave.studies.ft.losses import WAITS
from idlewave.studies.ft.study import FtStudy

TITLE = "NAS FT by messages and by puts"


def build_ft_page(study: FtStudy, folder: Path) -> tuple[Path, list[tuple[str, str]]]:
    """Write report.html and the figures beside it into `folder`; returns the page and its findings.

    Raises OutputError.
    """
    sentences = ft_findings(study)
    sources = tuple(setting.machine.provenance for setting in study.settings)
    provenance = Provenance.made("report", TITLE, by="idlewave study ft", sources=sources)
    page = folder / "report.html"
    placed = []
    with OutputFiles() as files:
        for number, item in enumerate(_figures(study), start=1):
            figure = item.draw()
            svg = svg_of(figure, provenance)
            files.text(folder / "figures" / f"{item.name}.svg", svg)
            files.open(folder / "figures" / f"{item.name}.png").write(png_of(figure, provenance))
            placed.append(placed_figure(number, item, figure, svg, item.caption))
        tables = [table for table in _tables(study) if table.rows]
        files.text(page, _render(study, sentences, placed, tables, provenance))
    return page, sentences


def _figures(study: FtStudy) -> Iterator[ReportFigure]:
    rows = study.rows
    yield ReportFigure(
        "ft-time",
        "Time of an iteration, by what a rank computes in it. 1 is communication that costs nothing.",
        lambda: plot_ft_times(rows),
    )
    yield ReportFigure(
        "ft-hidden",
        "Communication that is hidden: 1 − (time − computation) / time of the same exchanges without computation.",
        lambda: plot_ft_hidden(rows),
    )
    for machine, group in rows.groupby("machine", sort=False):
        swept = link_rows(group)
        if swept is not None:
            ranks = count_text(int(swept["ranks"].iloc[0]))
            caption = f"Communication of an iteration that is not hidden, on {machine} with {ranks} ranks, by links."
            yield ReportFigure("ft-links", caption, partial(plot_ft_links, swept))
            break
    if len(study.compared):
        caption = "Whole runs without the initial values: predicted on the measured machine, and measured here."
        yield ReportFigure("ft-measured", caption, lambda: plot_ft_measured(study.compared))


def _tables(study: FtStudy) -> Iterator[Table]:
    yield _rows_table(study.rows)
    yield _path_table(study.losses)
    yield _waits_table(study.losses)
    if len(study.compared):
        yield _measured_table(study.compared)
    rows: list[tuple[str, ...]] = [
        (row.what, row.published, row.here, "yes" if row.holds else "no") for row in study.beside
    ]
    yield Table("Transfers: published for Blue Gene/P, and simulated on the preset", ("what", "published", "simulated",
                "holds"), rows, 4)  # fmt: skip


def _rows_table(rows: pd.DataFrame) -> Table:
    headings = ("machine", "exchange", "ranks", "links", "iteration", "computation", "alone", "not hidden", "hidden",
                "messages", "bytes", "simulated in")  # fmt: skip
    texts: list[tuple[str, ...]] = [
        (
            str(r["machine"]), str(r["exchange"]), count_text(r["ranks"]), str(r["links"]),
            seconds_text(r["seconds"], 4), seconds_text(r["computation_s"], 4), seconds_text(r["communication_s"]),
            seconds_text(r["exposed_s"]), percent_text(r["hidden"] + 0.0), si_text(r["messages"]),
            volume_text(r["bytes"]), seconds_text(r["simulation_s"], 2),
        )
        for r in rows.to_dict("records")
    ]  # fmt: skip
    problem = rows["problem"].iloc[0] if len(rows) else ""
    return Table(f"An iteration of class {problem}; alone: the exchanges without computation", headings, texts, 2)


def _path_table(losses: pd.DataFrame) -> Table:
    names = ("seconds", "computation_s", "overhead_s", "gap_s", "wire_bytes_s", "cpu_bytes_s", "latency_s", "control_s")
    headings = ("machine", "exchange", "ranks", "all", "computation", "overhead", "gap", "bytes on the wire",
                "bytes on CPUs", "latency", "of it control messages")  # fmt: skip
    rows = [
        (str(r["machine"]), str(r["exchange"]), count_text(r["ranks"]), *(seconds_text(r[n]) for n in names))
        for r in losses.to_dict("records")
    ]
    return Table("How the critical path of an iteration divides", headings, rows, 2)


def _waits_table(losses: pd.DataFrame) -> Table:
    headings = ("machine", "exchange", *(f"{name}: ops" if i == 0 else name for name in WAITS for i in (0, 1)))
    rows = [
        (
            str(r["machine"]), str(r["exchange"]),
            *(text for name in WAITS for text in (f"{r[f'{name}_ops']:,.4g}", seconds_text(r[f"{name}_s"]))),
        )
        for r in losses.to_dict("records")
    ]  # fmt: skip
    caption = "Wait states in the same simulations: ops of a rank that wait, and how long each in the mean"
    return Table(caption, headings, rows, 2)


def _measured_table(compared: pd.DataFrame) -> Table:
    headings = ("class", "exchange", "ranks", "runs", "predicted", "measured", "least", "most", "error")
    rows = [
        (
            str(r["problem"]), str(r["exchange"]), str(r["ranks"]), str(r["runs"]),
            *(seconds_text(r[name]) for name in ("predicted_s", "measured_s", "least_s", "most_s")),
            percent_text(r["error"], signed=True),
        )
        for r in compared.to_dict("records")
    ]  # fmt: skip
    return Table("Predicted and measured: whole runs without the initial values", headings, rows, 2)


def _render(
    study: FtStudy,
    sentences: list[tuple[str, str]],
    figures: list[PlacedFigure],
    tables: list[Table],
    provenance: Provenance,
) -> str:
    return page_template("ft.html.j2").render(
        title=TITLE,
        findings=sentences,
        figures=figures,
        tables=tables,
        settings=[_setting_text(study, number) for number in range(len(study.settings))],
        provenance=provenance,
    )


def _setting_text(study: FtStudy, number: int) -> tuple[str, str]:
    """The machine, and what a rank computes on it."""
    setting = study.settings[number]
    c = setting.costs
    scope = setting.machine.scope
    text = (
        f"{setting.machine.description or 'measured'}. A rank computes {c.x:.3g}, {c.y:.3g} and {c.z:.3g} ns for each "
        f"point and binary logarithm of a line along x, y and z, and {c.evolution:.3g} ns for each point in the "
        "evolution."
    )
    if len(study.rows) and scope.beyond_node(int(study.rows["ranks"].max())):
        text += " It was measured within a node: the simulation takes all ranks to be as near to each other."
    return setting.name, text
