"""Each function that plots, with a table of which a column can be spoilt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from export_tables import op
from export_tables import table as ops_table
from idlewave.export import plot_timeline
from idlewave.measure.network.fitting.earlier_methods import METHODS
from idlewave.measure.network.fitting.quantities import residuals_of
from idlewave.measure.network.job.clocks import ClockMeasurement, fit_lines
from idlewave.measure.network.job.latency_levels import find_structure
from idlewave.measure.network.job.pairs import PairMeasurement
from idlewave.measure.network.plots.clock_plots import plot_clocks
from idlewave.measure.network.plots.collective_plot import plot_collectives
from idlewave.measure.network.plots.method_plots import plot_distribution, plot_methods
from idlewave.measure.network.plots.pair_plots import plot_pairs
from idlewave.measure.network.plots.pattern_plot import plot_patterns
from idlewave.measure.noise import noise_plots
from idlewave.measure.noise.compare import maximum_table
from idlewave.measure.noise.ftq import Ftq, FtqCore
from idlewave.measure.noise.fwq import FwqCore
from idlewave.measure.noise.nodes import rank_nodes
from idlewave.measure.noise.noise_recording import Detours
from idlewave.measure.noise.spectrum import detour_spectrum
from idlewave.measure.one_sided.plots import plot_one_sided_floods, plot_one_sided_overlaps, plot_one_sided_times
from idlewave.measure.one_sided.samples import GET_OVERLAP, OVERLAP
from idlewave.pdes.plots import plot_epidemic, plot_flood, plot_run
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
from idlewave.report.noise_summary import cores_in_seconds, magnitudes
from idlewave.validation.plots import plot_loops, plot_validation
from matplotlib.figure import Figure
from noise_recordings import detours as known_detours
from pair_recordings import planted
from report_samples import by_rank, computation_sites, fit, noise, study, trace
from spoiling import Spoil, as_it_is, one_far_off, spoilt
from spoilt_studies import STUDY_PLOTS
from spoilt_variability import VARIABILITY_PLOTS
from validation_rows import row


def runs_of_study(spoil: Spoil) -> pd.DataFrame:
    """Finish times are whole picoseconds, and none is negative: others are refused before anything is drawn."""
    runs = spoil(study(), "finish_ps")
    return runs.assign(finish_ps=np.nan_to_num(runs["finish_ps"], posinf=0, neginf=0).clip(0).astype("int64"))


def detours_plot(spoil: Spoil) -> Figure:
    data = noise()
    return plot_detours(spoil(data.detours, "length_ps"), cores_in_seconds(data))


def late_detours_plot(spoil: Spoil) -> Figure:
    data = noise(cores=5)
    return plot_detours(data.detours, spoil(cores_in_seconds(data), "duration_s"))


def lengths_plot(spoil: Spoil) -> Figure:
    data = noise()
    return plot_detour_lengths(spoil(data.detours, "length_ps"), cores_in_seconds(data), magnitudes(data))


def intervals_plot(column: str) -> Callable[[Spoil], Figure]:
    found = fit()
    return lambda spoil: plot_network(replace(found, medians=spoil(found.medians, column)), residuals_of(found))


def residuals_plot(spoil: Spoil) -> Figure:
    found = fit()
    return plot_network(found, spoil(residuals_of(found).dropna(ignore_index=True), "predicted_ns"))


def communication_plot(spoil: Spoil) -> Figure:
    random = np.random.default_rng(1)
    pairs = pd.DataFrame(random.integers(0, 40, (400, 2)), columns=["source", "destination"]).drop_duplicates()
    return plot_communication(spoil(pairs.assign(messages=1, bytes=random.uniform(1e3, 1e5, len(pairs))), "bytes"), 40)


def sites_plot(column: str) -> Callable[[Spoil], Figure]:
    sites = computation_sites(*(("MPI_Send", 8, "MPI_Recv", 1000 + 10 * i, 1e5 + 1e4 * i) for i in range(9)))
    return lambda spoil: plot_computation_sites(spoil(sites, column))


def prediction_plot(spoil: Spoil) -> Figure:
    return plot_prediction(spoil(by_rank(ranks=8), "predicted_s"), 1.52, 1.47)


def methods_plot(column: str) -> Callable[[Spoil], Figure]:
    sizes, rows = [2**power for power in range(16)], []
    for place, method in enumerate(METHODS):
        for parameter in ("o_s", "o_r", "g", "L"):
            for size in sizes:
                value = (1 + 0.1 * place) * (1e6 + 10.0 * size)
                rows.append((method, parameter, size, value, 0.95 * value, 1.05 * value))
    table = pd.DataFrame(rows, columns=["method", "parameter", "size", "value_ps", "low_ps", "high_ps"])
    return lambda spoil: plot_methods(spoil(table, column))


def distribution_plot(series: str) -> Callable[[Spoil], Figure]:
    """Of many samples one of `series` is far off."""
    random = np.random.default_rng(2)
    rows = []
    for name in ("rtt", "send", "wait", "recv"):
        for size in (1, 64, 1024, 16384):
            rows += [(name, size, 1, 1000.0 + size * random.uniform(1, 1.2), 1e6 * n) for n in range(60)]
    samples = pd.DataFrame(rows, columns=["series", "size", "n", "value_ns", "start_ns"])

    def draw(spoil: Spoil) -> Figure:
        own = samples["series"] == series
        return plot_distribution(pd.concat([samples[~own], spoil(samples[own], "value_ns")], ignore_index=True))

    return draw


def pairs_plot(spoil: Spoil) -> Figure:
    matrix = planted(1, (4, 4), (400, 1200), 0.05)
    a, b = np.triu_indices(len(matrix), 1)
    pairs = spoil(pd.DataFrame({"a": a, "b": b, "latency_ns": matrix[a, b]}), "latency_ns")
    pairs = pairs[np.isfinite(pairs["latency_ns"]) & (pairs["latency_ns"] > 0)]
    filled = np.full(matrix.shape, np.nan)
    filled[pairs["a"], pairs["b"]] = filled[pairs["b"], pairs["a"]] = pairs["latency_ns"]
    probe = {"ranks": [{"host": "here"} for _ in matrix]}
    return plot_pairs(PairMeasurement(pd.DataFrame(), pairs, find_structure(filled), probe))


def patterns_plot(column: str) -> Callable[[Spoil], Figure]:
    rows = [
        (pattern, window, 4**i, 1e5 * window + 4**i, 0.9e5 * window + 4**i, 1.1e5 * window + 4**i, 0.1 * i - 0.3)
        for pattern in ("stream", "both ways")
        for window in (1, 16)
        for i in range(10)
    ]
    names = ["pattern", "window", "size", "median_ps", "low_ps", "high_ps", "error"]
    table = pd.DataFrame(rows, columns=names).assign(delay_ns=0)
    after = table[table["window"] == table["window"].min()].assign(pattern="after computation", window=1)
    table = pd.concat([table, after.assign(delay_ns=10_000), after.assign(delay_ns=10_000_000)], ignore_index=True)
    return lambda spoil: plot_patterns(spoil(table if column == "error" else table.drop(columns="error"), column))


def one_sided_plot(spoil: Spoil) -> Figure:
    rows = [
        (back_end, operation, 4**i, 100.0 * 4**i + 1e5, 90.0 * 4**i + 1e5, 110.0 * 4**i + 1e5)
        for back_end in ("mpi", "rma")
        for operation in ("ping-pong", "acknowledged send", "put", "get", "fence", "call")
        for i in range(10)
    ]
    names = ["back_end", "operation", "size", "median_ps", "low_ps", "high_ps"]
    return plot_one_sided_times(spoil(pd.DataFrame(rows, columns=names), "median_ps"))


def one_sided_floods_plot(column: str) -> Callable[[Spoil], Figure]:
    rows = [
        (back_end, links, 4**i, *(4**i * rate for rate in (1e6, 0.9e6, 1.1e6)), 1e6, 0.9e6, 1.1e6)
        for back_end in ("mpi", "rma")
        for links in (1, 2)
        for i in range(10)
    ]
    quantities = [f"{name}{end}" for name in ("bandwidth", "messages_per_s") for end in ("", "_low", "_high")]
    table = pd.DataFrame(rows, columns=["back_end", "links", "size", *quantities])
    return lambda spoil: plot_one_sided_floods(spoil(table, column))


def one_sided_overlaps_plot(spoil: Spoil) -> Figure:
    rows = [("rma", name, 4**i, 0.08 * i, 0.07 * i, 0.09 * i) for name in (OVERLAP, GET_OVERLAP) for i in range(10)]
    names = ["back_end", "operation", "size", "hidden", "hidden_low", "hidden_high"]
    return plot_one_sided_overlaps(spoil(pd.DataFrame(rows, columns=names), "hidden"))


def programs_plot(column: str) -> Callable[[Spoil], Figure]:
    kinds = ({}, {"simulated_on": "b"}, {"traced_ranks": 1}, {"ranks": 1})
    rows = [row(program=f"p{i}", error=0.02 * i - 0.05, **kind) for i in range(6) for kind in kinds]
    return lambda spoil: plot_validation(spoil(pd.DataFrame(rows), column))


def loops_plot(spoil: Spoil) -> Figure:
    names = ("latency", "allreduce")
    rows = [row(program=name, size=4**i, traced_on="", error=0.05 * i - 0.2) for i in range(8) for name in names]
    return plot_loops(spoil(pd.DataFrame(rows), "error"))


def collectives_plot(column: str) -> Callable[[Spoil], Figure]:
    rows = [
        (name, 4**i, 1e5 + 4**i, 0.9e5 + 4**i, 1.1e5 + 4**i, "ring" if i > 5 else "linear", 1e5 + 4.1**i)
        for name in ("allgather", "alltoall")
        for i in range(10)
    ]
    names = ["collective", "size", "median_ps", "low_ps", "high_ps", "algorithm", "simulated_ps"]
    table = pd.DataFrame(rows, columns=names)
    return lambda spoil: plot_collectives(spoil(table, column))


def clocks_plot(spoil: Spoil) -> Figure:
    random = np.random.default_rng(3)
    tables = []
    for rank in range(1, 9):
        at = np.linspace(0, 1e10, 20)
        tables.append(
            pd.DataFrame(
                {
                    "rank": rank,
                    "at_ns": at.astype("int64"),
                    "offset_ns": (1e5 + rank * 1e-6 * at + random.normal(0, 20, 20)).round(),
                    "error_ns": 100.0 + random.integers(0, 9, 20),
                }
            )
        )
    bursts = pd.concat(tables, ignore_index=True)
    drifting = bursts["rank"] == 8
    drift = spoil(pd.DataFrame({"x": [1e-6 * rank for rank in range(1, 9)]}), "x")["x"].max()
    if drift > 1:
        bursts.loc[drifting, "offset_ns"] += (1e-2 * bursts.loc[drifting, "at_ns"]).round()
    return plot_clocks(ClockMeasurement(bursts, fit_lines(bursts), {"ranks": [{"host": "here"}] * 9}))


def recorded(spoil: Spoil, count: int = 1) -> list[Detours]:
    """Detours of cores; far off: one of 10 s."""
    cores = [known_detours(2.0, [(250.0, 4e-6)], [(300.0, 1e-6)], core=core) for core in range(count)]
    if spoil is as_it_is:
        return cores
    lengths = cores[0].lengths.copy()
    lengths[len(lengths) // 2 :] = 0
    lengths[len(lengths) // 2] = 10**13
    kept = lengths > 0
    spoiled = Detours(cores[0].node, 0, cores[0].starts[kept], lengths[kept], 12 * 10**12)
    return [spoiled, *cores[1:]]


def spectrum_plot(spoil: Spoil) -> Figure:
    spectrum = detour_spectrum(recorded(as_it_is))
    return noise_plots.plot_spectrum(replace(spectrum, power=spoilt(spectrum.power, spoil)))


def ftq_plot(spoil: Spoil) -> Figure:
    losses = [spoilt(np.random.default_rng(core).uniform(0, 1e-3, 2000), spoil) for core in range(3)]
    cores = tuple(FtqCore(core, np.minimum(loss, 1.0), 1e4, (1e4,)) for core, loss in enumerate(losses))
    return noise_plots.plot_ftq(Ftq(cores, 1e-3))


def fwq_plot(spoil: Spoil) -> Figure:
    values = spoilt(1 + np.random.default_rng(5).exponential(0.02, 3000), spoil)
    return noise_plots.plot_fwq([FwqCore(0, values, 10**9)])


def cdf_plot(spoil: Spoil) -> Figure:
    lengths = np.nan_to_num(spoilt(recorded(as_it_is)[0].lengths, spoil), posinf=0, neginf=0).astype("int64")
    return noise_plots.plot_length_cdf({"core 0": lengths})


def maximum_plot(spoil: Spoil) -> Figure:
    return noise_plots.plot_maximum({"here": spoil(maximum_table(recorded(as_it_is)), "expected_ps")})


def nodes_plot(spoil: Spoil) -> Figure:
    cores = [replace(core, node=f"n{place}") for place, core in enumerate(recorded(as_it_is, 8))]
    return noise_plots.plot_nodes(spoil(rank_nodes(cores), "p999_ps"))


def timeline_plot(spoil: Spoil) -> Figure:
    """Far off: the last calc of a rank takes seconds, where all others take microseconds."""
    ends = spoilt(np.full(8, 1e6), spoil) if spoil is one_far_off else np.full(8, 1e6)
    rows = []
    for rank in range(8):
        rows += [op(rank, n, "calc", n * 10**6, (n + 1) * 10**6) for n in range(5)]
        rows.append(op(rank, 5, "calc", 5 * 10**6, 5 * 10**6 + int(ends[rank])))
    return plot_timeline(ops_table(*rows))


def epidemic_plot(spoil: Spoil) -> Figure:
    days = np.arange(50.0)
    ill = 100 * np.exp(-((days - 25) ** 2) / 50)
    whole = {"day": days, "susceptible": 1000 - ill, "recovered": ill, "immune": 0 * ill, "exposed": ill}
    runs = [pd.DataFrame({**whole, "infectious": ill + seed}) for seed in range(8)]
    return plot_epidemic([*runs[:-1], spoil(runs[-1], "infectious")])


def flood_plot(column: str) -> Callable[[Spoil], Figure]:
    rows = [(bots, 0.001 * bots, 0.01 + 1e-4 * bots + 1e-4 * seed) for bots in range(0, 100, 10) for seed in range(5)]
    return lambda spoil: plot_flood(spoil(pd.DataFrame(rows, columns=["bots", "lost", "delay"]), column))


def run_plot(column: str) -> Callable[[Spoil], Figure]:
    seconds = np.arange(1, 101.0)
    series = {"seconds": seconds, "gvt": 1e6 * seconds, "committed": 1e6 * seconds, "rolled_back": 1e5 * seconds}
    return lambda spoil: plot_run(spoil(pd.DataFrame(series), column), 1e-6, "units")


PLOTS: dict[tuple[str, str], Callable[[Spoil], Figure]] = {
    ("plot_detours", "a detour"): detours_plot,
    ("plot_detours", "a duration"): late_detours_plot,
    ("plot_detour_lengths", "a detour"): lengths_plot,
    ("plot_network", "a median"): intervals_plot("median_ps"),
    ("plot_network", "an interval"): intervals_plot("high_ps"),
    ("plot_network", "a residual"): residuals_plot,
    ("plot_communication", "a pair"): communication_plot,
    ("plot_time", "a rank"): lambda spoil: plot_time(spoil(trace(ranks=8).time(), "seconds")),
    ("plot_time", "one of many ranks"): lambda spoil: plot_time(spoil(trace(ranks=200).time(), "seconds")),
    ("plot_computation_sites", "a computation"): sites_plot("max_ns"),
    ("plot_computation_sites", "a total"): sites_plot("total_s"),
    ("plot_prediction", "a rank"): prediction_plot,
    ("plot_slowdown", "a run"): lambda spoil: plot_slowdown(runs_of_study(spoil)),
    ("plot_run_time", "a run"): lambda spoil: plot_run_time(runs_of_study(spoil), (4, 1.52)),
    ("plot_methods", "a value"): methods_plot("value_ps"),
    ("plot_methods", "an interval"): methods_plot("high_ps"),
    ("plot_distribution", "a round trip"): distribution_plot("rtt"),
    ("plot_distribution", "a call"): distribution_plot("send"),
    ("plot_pairs", "a pair"): pairs_plot,
    ("plot_patterns", "an error"): patterns_plot("error"),
    ("plot_patterns", "a time"): patterns_plot("median_ps"),
    ("plot_one_sided_times", "a time"): one_sided_plot,
    ("plot_one_sided_floods", "a bandwidth"): one_sided_floods_plot("bandwidth"),
    ("plot_one_sided_floods", "a rate"): one_sided_floods_plot("messages_per_s"),
    ("plot_one_sided_overlaps", "a share"): one_sided_overlaps_plot,
    ("plot_validation", "an error"): programs_plot("error"),
    ("plot_validation", "a run"): programs_plot("measured_most_s"),
    ("plot_loops", "an error"): loops_plot,
    ("plot_collectives", "a time"): collectives_plot("median_ps"),
    ("plot_collectives", "a simulated time"): collectives_plot("simulated_ps"),
    ("plot_clocks", "a clock"): clocks_plot,
    ("plot_length_cdf", "a detour"): cdf_plot,
    ("plot_spectrum", "a line"): spectrum_plot,
    ("plot_heat_map", "a detour of 10 s"): lambda spoil: noise_plots.plot_heat_map(recorded(spoil, 6)),
    ("plot_ftq", "a quantum"): ftq_plot,
    ("plot_fwq", "a piece"): fwq_plot,
    ("plot_maximum", "a number of ranks"): maximum_plot,
    ("plot_nodes", "a node"): nodes_plot,
    ("plot_timeline", "an op"): timeline_plot,
    ("plot_epidemic", "a run"): epidemic_plot,
    ("plot_flood", "a loss"): flood_plot("lost"),
    ("plot_flood", "a delay"): flood_plot("delay"),
    ("plot_run", "a rate"): run_plot("committed"),
    ("plot_run", "a time"): run_plot("gvt"),
    **STUDY_PLOTS,
    **VARIABILITY_PLOTS,
}
"""By function and what is spoilt; with those of named studies, and of recordings over time and contention."""
