"""No single value of a table stretches an axis: it is cut, and a mark at the edge says so; nonsense is drawn, too."""

from __future__ import annotations

import re
from pathlib import Path

import idlewave
import numpy as np
import pytest
from idlewave.plot_limits import Limits, bulk_limits, cut_count
from idlewave.report import plot_detours
from idlewave.report.noise_summary import cores_in_seconds
from long_cases import later_long
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from report_samples import noise
from spoiling import as_it_is, one_far_off, with_nonsense
from spoilt_plots import PLOTS

BOUNDED = {
    ("plot_algorithm_regions", "a cost"),
    ("plot_overtime_correlations", "a correlation"),
    ("plot_contention_correlations", "a coefficient"),
    ("plot_one_sided_overlaps", "a share"),
    ("plot_epidemic", "a run"),
    ("plot_flood", "a loss"),
    ("plot_heat_map", "a detour of 10 s"),
    ("plot_idle_waves", "a lateness"),
    ("plot_detours", "a duration"),
    ("plot_distribution", "a call"),
}
"""Nothing need be cut: of shares and coefficients, which end at 1 anyway; of a median, which one value does not move;
of a time in which nothing happened; of
what is written into cells."""
DEFINED = re.compile(r"^def (plot_\w+)\((?:[^\n]|\n(?!\n))*?\) -> Figure:", re.MULTILINE)
WRAPPERS = {"plot_curves": "plot_network", "plot_fit": "plot_network"}


def drawn(figure: Figure) -> Figure:
    figure.set_layout_engine("none")  # which limits no axis, and takes most of the time
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    return figure


def spans(figure: Figure) -> list[tuple[str, float]]:
    """How far each axis and each scale of colours reaches: decades of a logarithmic one."""
    found: list[tuple[str, float]] = []
    for axes in figure.axes:
        ends = () if hasattr(axes, "_colorbar") else (axes.get_xlim(), axes.get_ylim())
        for (low, high), scale in zip(map(sorted, ends), (axes.get_xscale(), axes.get_yscale()), strict=False):
            log = scale == "log"
            found.append(("log" if log else "linear", float(np.log10(high / low) if log else high - low)))
        for image in axes.images:
            norm = image.norm
            if norm.vmin and norm.vmin < 0 and norm.vmax:
                found.append(("linear", float(norm.vmax - norm.vmin)))
            elif norm.vmin and norm.vmax:
                found.append(("colour", float(np.log10(norm.vmax / norm.vmin))))
    return found


def says_so(figure: Figure) -> bool:
    return cut_count(figure) > 0 or any(
        bar.colorbar.extend != "neither" for axes in figure.axes for bar in axes.images if bar.colorbar is not None
    )


CASES = later_long(PLOTS, lambda name: name[0])
"""Each function that plots, and in `make test-long` each of its columns."""


@pytest.mark.parametrize("name", CASES, ids=" ".join)
def test_one_value_a_million_times_as_large_stretches_no_axis_and_is_marked(name: tuple[str, str]) -> None:
    clean, far = PLOTS[name](as_it_is), PLOTS[name](one_far_off)
    before, after = spans(clean), spans(far)
    assert len(before) == len(after)
    for (kind, narrow), (_, wide) in zip(before, after, strict=True):
        assert wide <= {"linear": 12 * narrow, "log": 2 * narrow + 1, "colour": max(2 * narrow, 5.1)}[kind], name
    assert name in BOUNDED or (says_so(far) and not cut_count(clean)), name


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("name", CASES, ids=" ".join)
def test_zero_negative_and_no_numbers_are_drawn_with_finite_axes(name: tuple[str, str]) -> None:
    figure = drawn(PLOTS[name](with_nonsense))
    for axes in figure.axes:
        assert np.all(np.isfinite([*axes.get_xlim(), *axes.get_ylim()])), name


def test_every_function_that_plots_is_among_them() -> None:
    folder = Path(idlewave.__file__).parent
    defined = {name for file in folder.rglob("*.py") for name in DEFINED.findall(file.read_text(encoding="utf-8"))}
    tried = {name for name, _ in PLOTS}
    assert {WRAPPERS.get(name, name) for name in defined} == tried


def test_values_of_one_kind_are_all_within_the_limits() -> None:
    assert bulk_limits([3.0, 1.0, 2.0]) == Limits(1, 3)
    assert bulk_limits(np.geomspace(1, 1e4, 50), log=True) == Limits(1, pytest.approx(1e4))
    assert bulk_limits([1.34, 1.34, 1.34, 1.33]) == Limits(1.33, 1.34)


def test_a_value_far_from_the_others_is_beyond_the_limits() -> None:
    limits = bulk_limits([1.0, 1.1, 1.2, 1.3, 900.0])
    assert limits == Limits(1.0, 1.3)
    assert limits.outside([0.5, 1.2, np.nan, 900.0, np.inf]) == 3


def test_of_three_values_none_is_called_far_off() -> None:
    assert bulk_limits([1.0, 2.0, 1e9]) == Limits(1.0, 1e9)


def test_nothing_has_limits_too() -> None:
    assert bulk_limits([]) == Limits(0, 1)
    assert bulk_limits([np.nan, -1.0, 0.0], log=True) == Limits(1, 10)


def test_a_mark_says_what_it_stands_for() -> None:
    axes: Axes = plot_detours(one_far_off(noise().detours, "length_ps"), cores_in_seconds(noise())).axes[0]
    texts = {text.get_text() for panel in axes.figure.axes for text in panel.texts}
    assert any(re.fullmatch(r"[\d.,]+\u202f(s|ms)", text) for text in texts)
