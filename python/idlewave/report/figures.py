"""The figures of a report with their captions, and their conversion to SVG and PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from idlewave.measure.network.plots.collective_plot import plot_collectives
from idlewave.measure.network.plots.pattern_plot import plot_patterns
from idlewave.measure.noise.detour_plots import plot_detour_lengths, plot_detours
from idlewave.plot_style import STYLE, finished
from idlewave.provenance import Provenance
from idlewave.provenance_in_files import picture_metadata
from idlewave.report import captions
from idlewave.report.computation_plot import plot_computation_sites
from idlewave.report.network_caption import collectives_caption, network_caption, patterns_caption
from idlewave.report.network_plot import plot_network
from idlewave.report.noise_summary import cores_in_seconds, magnitudes
from idlewave.report.parts import Report
from idlewave.report.program_plots import plot_communication, plot_prediction, plot_time
from idlewave.report.report_figure import ReportFigure
from idlewave.report.setting import Setting, setting_of
from idlewave.report.study_plots import plot_run_time, plot_slowdown

if TYPE_CHECKING:
    from idlewave.measure import NoiseMeasurement
    from idlewave.timeline import Timeline
    from idlewave.trace import Trace

DOTS_PER_INCH = 200


def report_figures(report: Report) -> Iterator[ReportFigure]:
    """The figures of the parts that the report has, in the order of the page."""
    setting = setting_of(report)
    if report.noise is not None:
        yield from _noise_figures(report.noise, setting)
    if report.network is not None and report.residuals is not None:
        fit, residuals = report.network.fit, report.residuals
        own = report.network.patterns is not None
        caption = network_caption(fit, residuals, setting, own_parameters=own)
        yield ReportFigure("network", caption, lambda: plot_network(fit, residuals))
    if report.network is not None and report.network.patterns is not None:
        patterns = report.network.patterns
        yield ReportFigure("patterns", patterns_caption(patterns, setting), lambda: plot_patterns(patterns.table))
    if report.network is not None and report.network.collectives is not None:
        collectives = report.network.collectives
        caption = collectives_caption(collectives, setting)
        yield ReportFigure("collectives", caption, lambda: plot_collectives(collectives.table))
    for section in report.sections:
        yield from section.figures
    if report.trace is not None:
        yield from _program_figures(report.trace, setting)
    if report.trace is not None and report.prediction is not None:
        yield _prediction_figure(report.trace, report.prediction, setting)
    if report.study is not None:
        measured = None if report.trace is None else (report.trace.ranks, report.trace.measured_s)
        yield from _study_figures(report.study, measured, setting)


def _noise_figures(noise: NoiseMeasurement, setting: Setting) -> Iterator[ReportFigure]:
    cores = cores_in_seconds(noise)
    caption = captions.detours_caption(noise, setting)
    yield ReportFigure("detours", caption, lambda: plot_detours(noise.detours, cores))
    caption = captions.lengths_caption(noise, setting)
    draw = lambda: plot_detour_lengths(noise.detours, cores, magnitudes(noise))  # noqa: E731
    yield ReportFigure("detour-lengths", caption, draw)


def _program_figures(trace: Trace, setting: Setting) -> Iterator[ReportFigure]:
    communication, time = trace.communication(), trace.time()
    caption = captions.communication_caption(communication, setting)
    yield ReportFigure("communication", caption, lambda: plot_communication(communication, trace.ranks))
    yield ReportFigure("time", captions.time_caption(time, setting), lambda: plot_time(time))
    sites = trace.computation_sites()
    caption = captions.computation_caption(sites, setting)
    yield ReportFigure("computation", caption, lambda: plot_computation_sites(sites))


def _prediction_figure(trace: Trace, prediction: Timeline, setting: Setting) -> ReportFigure:
    by_rank, measured_s, predicted_s = (
        prediction_by_rank(trace, prediction),
        trace.measured_s,
        prediction.max_finish / 1e12,
    )
    caption = captions.prediction_caption(by_rank, measured_s, predicted_s, setting)
    return ReportFigure("prediction", caption, lambda: plot_prediction(by_rank, measured_s, predicted_s))


def prediction_by_rank(trace: Trace, prediction: Timeline) -> pd.DataFrame:
    """rank, measured_s, predicted_s: the run time of each rank as traced and as simulated."""
    measured = trace.run_times()
    return pd.DataFrame(
        {"rank": measured["rank"], "measured_s": measured["seconds"], "predicted_s": prediction.finish / 1e12}
    )


def _study_figures(study: pd.DataFrame, measured: tuple[int, float] | None, setting: Setting) -> Iterator[ReportFigure]:
    yield ReportFigure("slowdown", captions.slowdown_caption(study, setting), lambda: plot_slowdown(study))
    caption = captions.run_time_caption(study, setting, measured=measured)
    yield ReportFigure("run-time", caption, lambda: plot_run_time(study, measured))


def svg_of(figure: Figure, provenance: Provenance | None = None) -> str:
    """`figure` as SVG with its provenance, the same each time: without dates and random names."""
    buffer = io.StringIO()
    with rc_context(STYLE):
        said = picture_metadata("svg", provenance)
        finished(figure).savefig(buffer, format="svg", dpi=DOTS_PER_INCH, metadata=said)
    return buffer.getvalue()


def png_of(figure: Figure, provenance: Provenance | None = None) -> bytes:
    """`figure` as PNG with its provenance, the same each time."""
    buffer = io.BytesIO()
    with rc_context(STYLE):
        said = picture_metadata("png", provenance)
        finished(figure).savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata=said)
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
