"""Each figure can be drawn alone, from little, from much and from nothing, and is the same each time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from idlewave import Trace
from idlewave.measure import LogGP, NoiseMeasurement
from idlewave.measure.network.fitting.quantities import residuals_of
from idlewave.report import (
    plot_communication,
    plot_computation_sites,
    plot_detour_lengths,
    plot_detours,
    plot_network,
    plot_prediction,
    plot_run_time,
    plot_slowdown,
    plot_time,
)
from idlewave.report.captions import detours_caption
from idlewave.report.figures import svg_of
from idlewave.report.noise_summary import cores_in_seconds, magnitudes
from long_cases import later_long
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from report_samples import by_rank, computation_sites, fit, no_noise, noise, study, trace


def detours_of(data: NoiseMeasurement) -> Figure:
    return plot_detours(data.detours, cores_in_seconds(data))


def lengths_of(data: NoiseMeasurement) -> Figure:
    return plot_detour_lengths(data.detours, cores_in_seconds(data), magnitudes(data))


def network_of(found: LogGP) -> Figure:
    return plot_network(found, residuals_of(found))


def fit_at(sizes: str) -> LogGP:
    """The fit with the medians of some sizes only."""
    return replace(fit(), medians=fit().medians.query(sizes))


def communication_of(data: Trace) -> Figure:
    return plot_communication(data.communication(), data.ranks)


def prediction(ranks: int, error: float = -0.03) -> Figure:
    return plot_prediction(by_rank(error=error, ranks=ranks), 1.52, 1.52 * (1 + error))


def random_pairs(ranks: int) -> Figure:
    random = np.random.default_rng(9)
    table = pd.DataFrame(random.integers(0, ranks, (20 * ranks, 2)), columns=["source", "destination"])
    volume = (10 ** random.uniform(0, 9, len(table))).astype("int64")
    return plot_communication(table.assign(messages=1, bytes=volume), ranks)


def many_sites(count: int) -> pd.DataFrame:
    """Sites whose computations take 1 ns to 10 s."""
    calls = ("MPI_Waitall", "MPI_Isend", "making a communicator", "MPI_Neighbor collective")
    times = [10 ** (i % 11) for i in range(count)]
    return computation_sites(
        *((calls[i % 4], 3 << i % 20, calls[i % 3], 10**9 // time + 1, float(time)) for i, time in enumerate(times))
    )


FIGURES: dict[str, Callable[[], Figure]] = {
    "detours": lambda: detours_of(noise()),
    "detours, one core": lambda: detours_of(noise(cores=1)),
    "detours, 5 cores": lambda: detours_of(noise(cores=5)),
    "detours, 40 cores": lambda: detours_of(noise(cores=40)),
    "no detours": lambda: detours_of(no_noise()),
    "lengths": lambda: lengths_of(noise()),
    "lengths, 40 cores": lambda: lengths_of(noise(cores=40)),
    "no lengths": lambda: lengths_of(no_noise()),
    "network": lambda: network_of(fit()),
    "no network": lambda: network_of(fit_at("size < 0")),
    "network at one size": lambda: network_of(fit_at("size == 1")),
    "communication, 2 ranks": lambda: communication_of(trace(ranks=2)),
    "communication, 4 ranks": lambda: communication_of(trace()),
    "communication, 16 ranks": lambda: random_pairs(16),
    "communication, 40 ranks": lambda: random_pairs(40),
    "communication, 1,000 ranks": lambda: random_pairs(1000),
    "no communication": lambda: plot_communication(trace().communication().iloc[:0], 4),
    "time": lambda: plot_time(trace().time()),
    "time, 1 rank": lambda: plot_time(trace().time().query("rank == 0")),
    "time, 40 ranks": lambda: plot_time(trace(ranks=40).time()),
    "time, 200 ranks": lambda: plot_time(trace(ranks=200).time()),
    "no time": lambda: plot_time(trace().time().iloc[:0]),
    "computation": lambda: plot_computation_sites(trace().computation_sites()),
    "computation, 30 sites": lambda: plot_computation_sites(many_sites(30)),
    "no computation": lambda: plot_computation_sites(trace().computation_sites().iloc[:0]),
    "prediction": lambda: prediction(4),
    "prediction, far off": lambda: prediction(1, error=-0.8),
    "prediction, 16 ranks": lambda: prediction(16, error=0.1),
    "prediction, 200 ranks": lambda: prediction(200),
    "no prediction": lambda: plot_prediction(by_rank().iloc[:0], 0.0, 0.0),
    "slowdown": lambda: plot_slowdown(study()),
    "slowdown, one seed": lambda: plot_slowdown(study(seeds=1)),
    "slowdown, one scale": lambda: plot_slowdown(study({4: (0.01, 0.001)})),
    "slowdown, huge": lambda: plot_slowdown(study({4: (0.1, 0.01), 64: (0.4, 0.1), 16384: (31.0, 2.0)})),
    "slowdown, none": lambda: plot_slowdown(study({4: (0.0, 0.0), 64: (0.0, 0.0)})),
    "slowdown, tiny": lambda: plot_slowdown(study({4: (1e-6, 1e-7), 64: (2e-6, 1e-7)})),
    "slowdown, negative": lambda: plot_slowdown(study({4: (-0.01, 0.001), 64: (-0.02, 0.001)})),
    "no slowdown": lambda: plot_slowdown(study().query("noise")),
    "run time": lambda: plot_run_time(study(), (4, 1.52)),
    "run time, huge": lambda: plot_run_time(study({4: (0.1, 0.01), 16384: (31.0, 2.0)}), (4, 1.52)),
    "run time, no noise": lambda: plot_run_time(study().query("not noise")),
    "no run time": lambda: plot_run_time(study().iloc[:0]),
}


CASES = later_long(FIGURES, lambda name: name.partition(",")[0])
"""Each kind of figure, and in `make test-long` each of its forms."""


def visible_texts(figure: Figure) -> list[tuple[Text, Bbox]]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    found = []
    for text in figure.findobj(Text):
        if not text.get_visible() or not text.get_text().strip():
            continue
        if isinstance(text.axes, Axes) and not text.axes.get_visible():
            continue
        found.append((text, text.get_window_extent(canvas.get_renderer())))
    return found


@cache
def drawn(name: str) -> tuple[Figure, list[tuple[Text, Bbox]]]:
    figure = FIGURES[name]()
    return figure, visible_texts(figure)


def unused_ticks(axes: Axes) -> list[Text]:
    """Labels of ticks that matplotlib keeps but that lie outside the view."""
    found = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.majorTicks, *axis.minorTicks):
            if not low - 1e-9 * abs(low) <= tick.get_loc() <= high + 1e-9 * abs(high):
                found += [tick.label1, tick.label2]
    return found


@pytest.mark.parametrize("name", CASES)
def test_no_label_is_cut_off_and_no_two_labels_overlap(name: str):
    figure, texts = drawn(name)
    width, height = figure.canvas.get_width_height()
    unused = {id(text) for axes in figure.axes for text in unused_ticks(axes)}
    boxes = []
    for text, box in texts:
        if id(text) in unused:
            continue
        assert box.x0 > -1, text
        assert box.y0 > -1, text
        assert box.x1 < width + 1, text
        assert box.y1 < height + 1, text
        boxes.append((text.get_text(), box))
    for place, (name_one, one) in enumerate(boxes):
        for name_two, two in boxes[place + 1 :]:
            across = min(one.x1, two.x1) - max(one.x0, two.x0)
            down = min(one.y1, two.y1) - max(one.y0, two.y0)
            assert min(across, down) < 2.5, (name_one, name_two)


@pytest.mark.parametrize("name", ["slowdown", "communication, 40 ranks"])
def test_the_same_tables_give_the_same_svg(name: str):
    assert svg_of(FIGURES[name]()) == svg_of(FIGURES[name]())


def test_axes_have_labels_with_units():
    wanted = {
        "detours": ["time since the start of the recording [s]", "length of the detour"],
        "lengths": ["overhead [% of the time]", "detours per bin"],
        "time": ["time [s]", "rank"],
        "computation": ["time of one computation (log)", "time of all ranks [s]"],
        "prediction": ["time [s]", "predicted less measured [%]"],
        "slowdown": ["slowdown by noise [%]", "ranks"],
        "run time": ["run time [s]", "ranks"],
    }
    for name, labels in wanted.items():
        texts = {text.get_text() for text, _ in drawn(name)[1]}
        assert texts.issuperset(labels), name


@pytest.mark.parametrize("name", CASES)
def test_percentages_and_microseconds_are_spelled_one_way(name: str):
    for text, _ in drawn(name)[1]:
        assert not re.search(r"\d ?%|\d ?us\b|\dµs|\d µs", text.get_text()), text


def test_drawing_leaves_the_callers_settings_and_pyplot_alone():
    before = dict(mpl.rcParams)
    loaded = "matplotlib.pyplot" in sys.modules
    plot_slowdown(study())
    svg_of(plot_time(trace().time()))
    assert dict(mpl.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == loaded


def test_of_many_detours_the_longest_are_drawn_and_the_caption_says_so():
    data = noise(cores=2, seconds=80.0)
    figure = detours_of(data)
    points = [collection.get_offsets() for axes in figure.axes for collection in axes.collections]
    assert len(data.detours) > 20_000
    assert sum(map(len, points)) <= 20_000
    drawn = max(float(np.asarray(offsets)[:, 1].max()) for offsets in points)
    assert drawn == pytest.approx(data.detours["length_ps"].max() * 1e-6)
    assert f"of {len(data.detours):,} detours are drawn" in detours_caption(data)


def test_of_many_cores_those_with_the_highest_overhead_are_shown():
    data = noise(cores=12)
    titles = [axes.get_title("left") for axes in detours_of(data).axes]
    highest = data.cores.nlargest(8, "overhead")["core"]
    assert [title.split(":")[0] for title in titles] == [f"core {core}" for core in sorted(highest)]


def test_the_median_of_seeds_is_the_line_and_each_seed_a_point():
    runs = study({4: (0.01, 0.002), 64: (0.03, 0.002)}, seeds=5)
    lines = plot_slowdown(runs).axes[0].lines
    slowdown = runs[runs["noise"]].assign(base=runs["ranks"].map(runs[~runs["noise"]].set_index("ranks")["finish_ps"]))
    expected = (100 * (slowdown["finish_ps"] / slowdown["base"] - 1)).groupby(slowdown["ranks"])
    medians = [line for line in lines if list(line.get_xdata()) == [4, 64]]
    assert np.asarray(medians[0].get_ydata()) == pytest.approx(expected.median().to_numpy())
    assert sum(len(line.get_ydata()) == 5 for line in lines) == 2


def test_numbers_stand_in_the_matrix_up_to_sixteen_ranks():
    few = random_pairs(16).axes[0].texts
    assert len(few) > 100
    assert not random_pairs(17).axes[0].texts


def test_a_study_needs_no_traced_run_to_be_drawn():
    assert "measured" not in {text.get_text() for text in plot_run_time(study()).axes[0].texts}
