"""Each function that plots, with a table of which a column can be spoilt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from contention_tables import contention_table
from export_tables import op
from export_tables import table as ops_table
from idlewave.contention.correlations import correlation_table
from idlewave.contention.detection_plots import plot_contention_scale, plot_detector_scores, plot_importances
from idlewave.contention.impact_statistics import impact_table
from idlewave.contention.plots import (
    plot_contention_correlations,
    plot_contention_impact,
    plot_contention_remedies,
)
from idlewave.contention.remedies import remedies_of
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
from idlewave.overtime.changes import levels
from idlewave.overtime.correlation import correlations
from idlewave.overtime.prediction import predictions
from idlewave.overtime.series import series_of
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
from idlewave.report.algorithms_plots import plot_algorithm_costs, plot_algorithm_regions, plot_algorithm_times
from idlewave.report.benchmark_error_page import WORDS
from idlewave.report.benchmark_error_plots import plot_benchmark_case, plot_benchmark_errors
from idlewave.report.ft_plots import plot_ft_hidden, plot_ft_links, plot_ft_measured, plot_ft_times
from idlewave.report.line_panels import plot_line_panels
from idlewave.report.machines_plots import plot_machine_gains, plot_machine_noise, plot_machine_times
from idlewave.report.noise_plots import plot_noise_losses, plot_noise_slowdowns, plot_regular_noise
from idlewave.report.noise_summary import cores_in_seconds, magnitudes
from idlewave.report.overtime_plots import (
    plot_overtime,
    plot_overtime_correlations,
    plot_overtime_hours,
    plot_overtime_predictions,
)
from idlewave.report.thinning_plots import plot_source_costs
from idlewave.report.variation_plots import plot_slowdown_by_start, plot_slowdown_shares
from idlewave.report.verify_plots import plot_verify_allreduce, plot_verify_pop
from idlewave.validation.plots import plot_loops, plot_validation
from matplotlib.figure import Figure
from noise_recordings import detours as known_detours
from overtime_recordings import COUNTER, recording_table
from pair_recordings import planted
from report_samples import by_rank, computation_sites, fit, noise, study, trace
from spoiling import Spoil, as_it_is, one_far_off, spoilt
from spoilt_studies import (
    algorithm_cells,
    algorithm_costs,
    algorithm_times,
    benchmark_rows,
    ft_compared,
    ft_rows,
    idle_waves_plot,
    machine_rows,
    noise_rows,
    panel_rows,
    panels,
    source_costs,
    variation_runs,
    verify_factors,
    wave_decay_plot,
    wave_fronts_plot,
)
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


def detector_scores_plot(spoil: Spoil) -> Figure:
    victims, sets = ("stream", "stream-cache", "cg", "stencil", "lj"), ("l1", "l2", "l3")
    rows = [
        (victim, name, *(0.6 + 0.02 * place + shift for shift in (0, -0.05, 0.05) * 2), 0.5, "suffers")
        for place, victim in enumerate(victims)
        for name in sets
    ]
    quantities = [f"{name}{end}" for name in ("oob", "held_out") for end in ("", "_low", "_high")]
    table = pd.DataFrame(rows, columns=["victim", "set", *quantities, "majority", "verdict"])
    return plot_detector_scores(spoil(table, "oob"))


def importances_plot(spoil: Spoil) -> Figure:
    rows = [
        (victim, name, f"probe.latency_{level}_s", 0.01 * place, 0.01 * place - 0.02, 0.01 * place + 0.02)
        for place, victim in enumerate(("stream", "cg", "stencil", "lj"))
        for name, level in (("l1", "l1"), ("l2", "l2"), ("l3", "l3"), ("l3", "dram"))
    ]
    names = ["victim", "set", "column", "importance", "importance_low", "importance_high"]
    return plot_importances(spoil(pd.DataFrame(rows, columns=names), "importance"))


def contention_scale_plot(column: str) -> Callable[[Spoil], Figure]:
    rows = [(2**i, 0.1 + 0.02 * i, 0.08 + 0.02 * i, 0.12 + 0.02 * i) for i in range(10)]
    table = pd.DataFrame(rows, columns=["ranks", "slowdown", "low", "high"])
    return lambda spoil: plot_contention_scale(spoil(table, column), "halo3d")


def programs_plot(spoil: Spoil) -> Figure:
    kinds = ({}, {"simulated_on": "b"}, {"traced_ranks": 1}, {"ranks": 1})
    rows = [row(program=f"p{i}", error=0.02 * i - 0.05, **kind) for i in range(6) for kind in kinds]
    return plot_validation(spoil(pd.DataFrame(rows), "error"))


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


def overtime_table(spoil: Spoil, column: str) -> pd.DataFrame:
    """A recording in which one phase of latency, or one of a counter, is spoilt."""
    table = recording_table(40)
    own = table["test"] == "latency"
    values = table[column].to_numpy(dtype=float, copy=True)
    values[own] = spoil(table[own], column)[column].to_numpy()
    return table.assign(**{column: values})


def overtime_plot(column: str) -> Callable[[Spoil], Figure]:
    def draw(spoil: Spoil) -> Figure:
        table = overtime_table(spoil, column)
        return plot_overtime(table, levels(series_of(table)), [COUNTER])

    return draw


def correlations_plot(spoil: Spoil) -> Figure:
    table = recording_table(40, counters=6)
    names = [name for name in table if name.startswith("counter.")]
    found = correlations(table, series_of(table), names, permutations=50)
    return plot_overtime_correlations(spoil(found, "correlation"))


def predictions_plot(column: str) -> Callable[[Spoil], Figure]:
    table = recording_table(80)
    found = predictions(table, series_of(table), [COUNTER], ahead_s=[0])
    return lambda spoil: plot_overtime_predictions(spoil(found, column))


def contention_impact_plot(column: str) -> Callable[[Spoil], Figure]:
    table = contention_table(
        lambda _v, rate, cores: 1 + cores * rate / 4e9, rates=(1e9, 2e9, 3e9), cores=(1, 2), pairs=2
    )
    impact = impact_table(table, draws=50)
    return lambda spoil: plot_contention_impact(spoil(impact, column))


def contention_correlations_plot(spoil: Spoil) -> Figure:
    table = contention_table(lambda *_: 1.5, pairs=2, iterations=5)
    return plot_contention_correlations(spoil(correlation_table(table, draws=20), "correlation"))


def contention_remedies_plot(column: str) -> Callable[[Spoil], Figure]:
    table = contention_table(lambda _v, rate, cores: 1.0 if cores else 1 + rate / 4e9, cores=(0, 1), pairs=2)
    remedies = remedies_of(table, node_cores=4, draws=50)
    return lambda spoil: plot_contention_remedies(spoil(remedies.table, column), remedies.threshold)


# By function and what is spoilt.
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
    ("plot_contention_impact", "a slowdown"): contention_impact_plot("slowdown"),
    ("plot_contention_impact", "a rate"): contention_impact_plot("achieved_rate_Bps"),
    ("plot_contention_correlations", "a coefficient"): contention_correlations_plot,
    ("plot_contention_remedies", "an overhead"): contention_remedies_plot("overhead"),
    ("plot_patterns", "an error"): patterns_plot("error"),
    ("plot_patterns", "a time"): patterns_plot("median_ps"),
    ("plot_one_sided_times", "a time"): one_sided_plot,
    ("plot_ft_times", "an iteration"): lambda spoil: plot_ft_times(spoil(ft_rows(), "seconds")),
    ("plot_ft_hidden", "a share"): lambda spoil: plot_ft_hidden(spoil(ft_rows(), "hidden")),
    ("plot_ft_links", "a time"): lambda spoil: plot_ft_links(
        spoil(ft_rows().assign(links=ft_rows()["ranks"] // 64), "exposed_s")
    ),
    ("plot_ft_measured", "a run"): lambda spoil: plot_ft_measured(spoil(ft_compared(), "measured_s")),
    ("plot_algorithm_regions", "a cost"): lambda spoil: plot_algorithm_regions(
        spoil(algorithm_cells(), "slowdown"), ["bruck", "linear", "ring"]
    ),
    ("plot_algorithm_times", "a time"): lambda spoil: plot_algorithm_times(algorithm_times(spoil, "time_ps")),
    ("plot_algorithm_times", "a median"): lambda spoil: plot_algorithm_times(algorithm_times(spoil, "median_ps")),
    ("plot_algorithm_costs", "a mean"): lambda spoil: plot_algorithm_costs(spoil(algorithm_costs(), "mean")),
    ("plot_algorithm_costs", "the worst"): lambda spoil: plot_algorithm_costs(spoil(algorithm_costs(), "worst")),
    ("plot_idle_waves", "a lateness"): idle_waves_plot,
    ("plot_wave_fronts", "an arrival"): wave_fronts_plot,
    ("plot_wave_decay", "a lateness"): wave_decay_plot,
    ("plot_machine_times", "a time"): lambda spoil: plot_machine_times(spoil(machine_rows(), "seconds")),
    ("plot_machine_gains", "a gain"): lambda spoil: plot_machine_gains(spoil(machine_rows(), "gain")),
    ("plot_machine_noise", "a slowdown"): lambda spoil: plot_machine_noise(spoil(machine_rows(), "high")),
    ("plot_benchmark_errors", "a time"): lambda spoil: plot_benchmark_errors(benchmark_rows(spoil, 2, 8, 64), WORDS),
    ("plot_benchmark_case", "a time"): lambda spoil: plot_benchmark_case(benchmark_rows(spoil, 8), WORDS),
    ("plot_line_panels", "a value"): lambda spoil: plot_line_panels(panel_rows(spoil), panels()),
    ("plot_line_panels", "a value of a panel"): lambda spoil: plot_line_panels(panel_rows(spoil), panels(shared=False)),
    ("plot_line_panels", "a logarithm"): lambda spoil: plot_line_panels(panel_rows(spoil), panels(log=True)),
    ("plot_noise_losses", "a loss"): lambda spoil: plot_noise_losses(spoil(noise_rows(), "lost_ps")),
    ("plot_noise_losses", "a detour"): lambda spoil: plot_noise_losses(spoil(noise_rows(), "worst_ps")),
    ("plot_noise_slowdowns", "a slowdown"): lambda spoil: plot_noise_slowdowns(spoil(noise_rows(), "slowdown")),
    ("plot_regular_noise", "a slowdown"): lambda spoil: plot_regular_noise(
        spoil(noise_rows().rename(columns={"ranks": "us"}).assign(hertz=10.0), "slowdown")
    ),
    ("plot_source_costs", "a cost"): lambda spoil: plot_source_costs(spoil(source_costs(), "saved")),
    ("plot_slowdown_shares", "a run"): lambda spoil: plot_slowdown_shares(variation_runs(spoil)),
    ("plot_slowdown_by_start", "a run"): lambda spoil: plot_slowdown_by_start(variation_runs(spoil)),
    ("plot_verify_allreduce", "a factor"): lambda spoil: plot_verify_allreduce(
        verify_factors(spoil, 1000, 10), {"measured": 3}
    ),
    ("plot_verify_pop", "a factor"): lambda spoil: plot_verify_pop(verify_factors(spoil, 10)),
    ("plot_one_sided_floods", "a bandwidth"): one_sided_floods_plot("bandwidth"),
    ("plot_one_sided_floods", "a rate"): one_sided_floods_plot("messages_per_s"),
    ("plot_one_sided_overlaps", "a share"): one_sided_overlaps_plot,
    ("plot_detector_scores", "a score"): detector_scores_plot,
    ("plot_importances", "an importance"): importances_plot,
    ("plot_contention_scale", "a slowdown"): contention_scale_plot("slowdown"),
    ("plot_validation", "an error"): programs_plot,
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
    ("plot_overtime", "a phase"): overtime_plot("value"),
    ("plot_overtime", "a counter"): overtime_plot(COUNTER),
    ("plot_overtime_hours", "a phase"): lambda spoil: plot_overtime_hours(overtime_table(spoil, "value")),
    ("plot_overtime_correlations", "a correlation"): correlations_plot,
    ("plot_overtime_predictions", "a prediction"): predictions_plot("predicted"),
    ("plot_overtime_predictions", "what was observed"): predictions_plot("observed"),
    ("plot_epidemic", "a run"): epidemic_plot,
    ("plot_flood", "a loss"): flood_plot("lost"),
    ("plot_flood", "a delay"): flood_plot("delay"),
    ("plot_run", "a rate"): run_plot("committed"),
    ("plot_run", "a time"): run_plot("gvt"),
}
