"""The figure of the network holds like against like: a model that fits shows it in all four quantities, and what it
deliberately leaves out of the overheads is hatched and said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from emulated_samples import emulate, parameters
from idlewave.measure import LogGP, estimate
from idlewave.measure.network import Network
from idlewave.measure.network.fitting.fitted_ranges import kept_in
from idlewave.measure.network.fitting.quantities import QUANTITIES, quantities_of, residuals_of
from idlewave.measure.network.plots.curve_plot import HATCH, LABELS, plot_fit
from idlewave.measure.network.plots.curve_table import compared, residual_percents
from idlewave.report import plot_network
from idlewave.report.captions import (
    communication_caption,
    detours_caption,
    lengths_caption,
    prediction_caption,
    run_time_caption,
    slowdown_caption,
    time_caption,
)
from idlewave.report.figures import report_figures
from idlewave.report.network_caption import network_caption
from idlewave.report.setting import Setting, run_text, setting_of
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from report_samples import by_rank, noise, sample, study, trace
from report_samples import fit as made_fit

FAST, SLOW = parameters(0.30, 0.05, 0.10, 0.15, 0.0001), parameters(0.30, 0.05, 0.15, 0.95, 0.0001)
BUFFERED = Network(((1, FAST), (257, SLOW)), 4096)
"""From 257 B on a send call lasts `CALL_NS`, which is longer than its message is on the way."""
CALL_NS = 900.0


@pytest.fixture(scope="module")
def fit() -> LogGP:
    """Of a machine as Open MPI's shared memory is: the call goes on after its message has left."""
    samples = emulate(BUFFERED, seed=1, scatter=0.003, new_series=True)
    chosen = (samples["series"] == "paced") & samples["size"].between(257, 4096)
    samples.loc[chosen, "value_ns"] += (samples.loc[chosen, "n"] - 1) * (CALL_NS - SLOW.o_s / 1000)
    return estimate(samples)


def panels(figure: Figure) -> dict[str, Axes]:
    names = {label: series for series, label in LABELS.items()}
    return {names[axes.get_title("left")]: axes for axes in figure.axes if axes.get_title("left") in names}


def hatched(axes: Axes) -> bool:
    return any(isinstance(item, PolyCollection) and item.get_hatch() == HATCH for item in axes.collections)


def test_a_fit_meets_all_four_quantities_when_like_is_held_against_like(fit: LogGP) -> None:
    table = residual_percents(residuals_of(fit))
    for series in QUANTITIES:
        own = table[table["series"] == series]
        assert len(own) > 20, series
        assert own["percent"].abs().median() < 2, series
        assert own["percent"].abs().max() < 15, series


def test_a_part_of_a_call_that_is_no_overhead_is_told_apart_from_a_misfit(fit: LogGP) -> None:
    table = residuals_of(fit)
    sends = table[(table["series"] == "o_s") & table["size"].between(257, 4096)]
    assert sends["measured_ns"].median() == pytest.approx(CALL_NS, rel=0.05)
    assert sends["predicted_ns"].max() < CALL_NS / 2
    assert (sends["predicted_ns"] + sends["aside_ns"]).median() == pytest.approx(CALL_NS, rel=0.05)
    assert set(table.loc[table["series"].isin(["half_rtt", "gap"]), "aside_ns"]) == {0.0}


def test_a_rendezvous_receive_is_measured_but_not_compared(fit: LogGP) -> None:
    beyond = residuals_of(fit).query("series == 'o_r' and size > 4096")
    assert len(beyond) > 5
    assert beyond["predicted_ns"].isna().all()


def test_the_gap_is_predicted_for_a_train_as_long_as_the_measured_one(fit: LogGP) -> None:
    trains = fit.predictions[fit.predictions["series"] == "train"].set_index("size")
    trips = fit.predictions[fit.predictions["series"] == "rtt"].set_index("size")
    expected = (trains["predicted_ps"] - trips["predicted_ps"]) / (trains["n"] - 1) / 1000
    found = residuals_of(fit).query("series == 'gap'").set_index("size")["predicted_ns"]
    assert found.to_numpy() == pytest.approx(expected.reindex(found.index).to_numpy())


def test_each_quantity_has_a_panel_and_a_strip_of_residuals(fit: LogGP) -> None:
    figure = plot_network(fit, residuals_of(fit))
    shown = panels(figure)
    assert list(shown) == list(QUANTITIES)
    strips = [axes for axes in figure.axes if axes not in shown.values()]
    assert len(strips) == 4
    for axes in strips:
        points = [line for line in axes.lines if line.get_marker() == "o" and len(np.asarray(line.get_xdata())) > 20]
        assert len(points) == 1
    assert sum(axes.get_ylabel() == "model less\nmeasured [%]" for axes in strips) == 2


def test_only_the_part_left_out_of_an_overhead_is_hatched(fit: LogGP) -> None:
    shown = panels(plot_fit(fit))
    assert [series for series, axes in shown.items() if hatched(axes)] == ["o_s"]
    texts = [text.get_text() for text in plot_fit(fit).legends[0].get_texts()]
    assert "in the call, not in the model’s overhead" in texts


def test_the_caption_says_how_much_is_left_out_of_which_overhead_and_where_it_counts(fit: LogGP) -> None:
    text = network_caption(fit, residuals_of(fit), Setting("node-17")).replace("\u202f", " ")
    (hidden,) = [sentence for sentence in text.split(". ") if sentence.startswith("Hatched")]
    assert "from 257 B to 4 KiB" in hidden
    assert "in the gap g" in hidden
    tail = next(r for r in fit.ranges if r.first == 257).tail
    assert f"a send {round(tail / 1000)} ns" in hidden
    assert "on node-17" in text
    assert "Open points, not fitted: above S" in text


def test_what_is_left_out_counts_in_the_gap_if_the_call_outlasts_its_message_else_in_the_latency() -> None:
    assert kept_in("o_s", aside=900.0, latency=300.0) == "g"
    assert kept_in("o_s", aside=100.0, latency=300.0) == "L"
    assert kept_in("o_r", aside=900.0, latency=300.0) == "L"


def test_the_caption_counts_what_reaches_beyond_the_axes() -> None:
    whole = made_fit()
    table = whole.medians.copy()
    table.loc[40, "high_ps"] *= 1e6
    table.loc[60, ["median_ps", "high_ps"]] *= 1e6
    table.loc[80, "median_ps"] = -5.0
    text = network_caption(replace(whole, medians=table), residuals_of(whole))
    assert "Triangles: 1 median and 1 bar beyond the axes." in text
    assert "1 of the medians is not above 0 and not drawn." in text
    assert "Triangles" not in network_caption(whole, residuals_of(whole))


def test_nothing_measured_is_said_in_the_caption_as_in_the_figure() -> None:
    whole = made_fit()
    empty = replace(whole, medians=whole.medians.iloc[:0])
    text = network_caption(empty, residuals_of(empty))
    assert text == "No time above zero was measured of the network of the measured machine."
    assert compared(quantities_of(empty)).shown.empty


def test_residuals_without_the_column_are_of_a_model_that_leaves_nothing_out() -> None:
    table = pd.DataFrame({"series": ["gap"], "size": [8], "measured_ns": [200.0], "predicted_ns": [210.0]})
    found = residual_percents(table)
    assert found["percent"].tolist() == pytest.approx([5.0])
    assert found["aside_ns"].tolist() == [0.0]


def test_every_caption_names_the_machine_or_the_program_it_is_of() -> None:
    data = sample()
    setting = setting_of(data)
    assert (setting.machine, setting.command) == ("two cores", trace().command)
    run = run_text(trace().command)
    for figure in report_figures(data):
        assert setting.machine in figure.caption or run in figure.caption, figure.name


def test_a_command_is_named_without_its_folders_and_not_at_any_length() -> None:
    assert run_text("/opt/mpi/bin/mpiexec -n 4 /home/me/halo2d 2048") == "the program (mpiexec -n 4 halo2d 2048)"
    assert run_text("") == "the program"
    assert len(run_text("./a " + "x" * 500)) < 90


def test_captions_do_not_need_to_know_where_they_are_of() -> None:
    for text in (
        detours_caption(noise()),
        lengths_caption(noise()),
        communication_caption(trace().communication(), Setting(ranks=4)),
        time_caption(trace().time()),
        prediction_caption(by_rank(), 1.52, 1.47),
        slowdown_caption(study()),
        run_time_caption(study()),
    ):
        assert "the measured machine" in text or "the program" in text.lower()
        assert text.endswith(".")


def test_a_detour_of_ten_seconds_is_said_to_be_beyond_the_axis() -> None:
    data = noise()
    far = data.detours.copy()
    far.loc[100, "length_ps"] = 10**13
    text = detours_caption(replace(data, detours=far))
    assert "The longest took 10\u202fs." in text
    assert "1 detour lies far beyond the axis" in text
    assert "beyond" not in detours_caption(data)
