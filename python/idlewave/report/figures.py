"""All figures of a report, with their captions, and how a figure becomes SVG or PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.figure import Figure

from idlewave.carried import picture_metadata
from idlewave.measure.noise.detour_plots import plot_detour_lengths, plot_detours
from idlewave.plotting import STYLE, plain_text
from idlewave.provenance import Provenance
from idlewave.report import captions
from idlewave.report.data import ReportData
from idlewave.report.network import quantities
from idlewave.report.network_caption import network_caption
from idlewave.report.noise import magnitudes
from idlewave.report.plot_network import plot_network
from idlewave.report.plot_program import plot_communication, plot_prediction, plot_time
from idlewave.report.plot_scale import plot_run_time, plot_slowdown
from idlewave.report.setting import setting_of

DOTS_PER_INCH = 200


@dataclass(frozen=True)
class ReportFigure:
    """A figure, its file's name (without ending), and its caption. `draw` makes it when it is needed."""

    name: str
    caption: str
    draw: Callable[[], Figure]


def report_figures(data: ReportData) -> Iterator[ReportFigure]:
    """The figures of the parts that `data` has, in the order of the page."""
    machine, noise, network, program = data.machine, data.noise, data.network, data.program
    comparison, study, setting = data.comparison, data.study, setting_of(data)
    if noise is not None:
        yield ReportFigure(
            "detours",
            captions.detours_caption(noise, setting),
            lambda: plot_detours(noise.detours, noise.cores),
        )
        yield ReportFigure(
            "detour-lengths",
            captions.lengths_caption(noise, setting),
            lambda: plot_detour_lengths(noise.detours, noise.cores, magnitudes(noise)),
        )
    if network is not None:
        yield ReportFigure(
            "network",
            network_caption(network, machine, setting),
            lambda: plot_network(quantities(network), machine, network.spread),
        )
    if program is not None:
        yield ReportFigure(
            "communication",
            captions.communication_caption(program),
            lambda: plot_communication(program.communication, program.ranks),
        )
        yield ReportFigure("time", captions.time_caption(program), lambda: plot_time(program.time))
    if comparison is not None:
        yield ReportFigure(
            "prediction",
            captions.prediction_caption(comparison, setting),
            lambda: plot_prediction(comparison.ranks, comparison.measured_s, comparison.predicted_s),
        )
    if study is not None:
        measured = None if program is None else (program.ranks, program.measured_s)
        yield ReportFigure("slowdown", captions.slowdown_caption(study, setting), lambda: plot_slowdown(study.runs))
        yield ReportFigure(
            "run-time",
            captions.run_time_caption(study, setting, measured=measured),
            lambda: plot_run_time(study.runs, measured),
        )


def svg_of(figure: Figure, provenance: Provenance | None = None) -> str:
    """`figure` as a text of SVG, the same each time: no date, no random names; with what it was made from."""
    buffer = io.StringIO()
    with rc_context(STYLE):
        said = picture_metadata("svg", provenance)
        plain_text(figure).savefig(buffer, format="svg", dpi=DOTS_PER_INCH, metadata=said)
    return buffer.getvalue()


def png_of(figure: Figure, provenance: Provenance | None = None) -> bytes:
    """`figure` as PNG, the same each time; with what it was made from."""
    buffer = io.BytesIO()
    with rc_context(STYLE):
        said = picture_metadata("png", provenance)
        plain_text(figure).savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata=said)
    return buffer.getvalue()


def inline_svg(svg: str, name: str) -> str:
    """`svg` as an element of an HTML page: no prologue, no metadata, ids of its own, any width."""
    view = re.search(r'viewBox="([^"]+)"', svg)
    start = svg.index("<svg")
    body = svg[svg.index(">", start) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = body.replace("xlink:href", "href")
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = body.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    box = view.group(1) if view else "0 0 460 300"
    return f'<svg viewBox="{box}" role="img" aria-labelledby="{name}-caption">{body.strip()}'
