"""Each function that plots a named study, with a small table of which a column can be spoilt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from idlewave.report.algorithms_plots import plot_algorithm_costs, plot_algorithm_regions, plot_algorithm_times
from idlewave.report.benchmark_error_page import WORDS
from idlewave.report.benchmark_error_plots import plot_benchmark_case, plot_benchmark_errors
from idlewave.report.ft_plots import plot_ft_hidden, plot_ft_links, plot_ft_measured, plot_ft_times
from idlewave.report.idle_wave_plots import plot_idle_waves, plot_wave_decay, plot_wave_fronts
from idlewave.report.line_panels import LinePanels, plot_line_panels
from idlewave.report.machines_plots import plot_machine_gains, plot_machine_noise, plot_machine_times
from idlewave.report.noise_plots import plot_noise_losses, plot_noise_slowdowns, plot_regular_noise
from idlewave.report.thinning_plots import plot_source_costs
from idlewave.report.variation_plots import plot_slowdown_by_start, plot_slowdown_shares
from idlewave.report.verify_plots import plot_verify_allreduce, plot_verify_pop
from matplotlib.figure import Figure
from spoiling import Spoil, spoilt


def algorithm_cells() -> pd.DataFrame:
    """What three choosers choose on four numbers of ranks for three sizes, and what that costs."""
    keys = [(panel, ranks, size) for panel in "abc" for ranks in (2, 4, 8, 16) for size in (8, 64, 512)]
    rows = pd.DataFrame(keys, columns=["panel", "ranks", "bytes"])
    algorithms = np.where(rows["ranks"] * rows["bytes"] > 500, "ring", "bruck")
    return rows.assign(algorithm=algorithms, segment=0, slowdown=rows["ranks"] / 10)


def algorithm_times(spoil: Spoil, column: str) -> pd.DataFrame:
    """Times of three algorithms of four sizes on 64 ranks, without noise and with it."""
    keys = [(name, size) for name in ("bruck", "ring", "linear") for size in (8, 64, 512, 4096)]
    rows = pd.DataFrame(keys, columns=["algorithm", "at"]).assign(axis="bytes", ranks=64)
    times = 1e6 * (1 + np.arange(len(rows)) / 5)
    return spoil(rows.assign(time_ps=times, low_ps=times, median_ps=1.1 * times, high_ps=1.3 * times), column)


def algorithm_costs() -> pd.DataFrame:
    """What two choosers cost for four collectives."""
    rows = pd.DataFrame([(name, chooser) for name in "abcd" for chooser in "xy"], columns=["collective", "chooser"])
    means = 1 + np.arange(len(rows)) / 10
    return rows.assign(mean=means, worst=2 * means)


def benchmark_rows(spoil: Spoil, *scales: int) -> pd.DataFrame:
    """Times of broadcasts that each method reports, of two algorithms on so many ranks."""
    keys = [(name, method, ranks) for name in ("linear", "binomial") for ranks in scales for method in WORDS]
    rows = pd.DataFrame(keys, columns=["algorithm", "method", "ranks"])
    return spoil(rows.assign(measured_ps=1_000_000 * rows["ranks"], true_ps=1_200_000 * rows["ranks"]), "measured_ps")


def panel_rows(spoil: Spoil) -> pd.DataFrame:
    """Two lines of eight points with intervals, for each of two programs."""
    keys = [(program, line, x) for program in ("a", "b") for line in ("c", "d") for x in (1, 2, 4, 8, 16, 32, 64, 128)]
    rows = pd.DataFrame(keys, columns=["program", "line", "x"])
    values = spoil(rows.assign(y=1.0 + 0.01 * rows["x"]), "y")
    return values.assign(low=values["y"] - 0.1, high=values["y"] + 0.1)


def panels(**more: bool) -> LinePanels:
    return LinePanels("program", "line", "x", "y", "x", "y", low="low", high="high", **more)  # type: ignore[arg-type]


def noise_rows() -> pd.DataFrame:
    """Slowdowns of two programs by two noises on eight numbers of ranks."""
    keys = [(title, noise, 2**power) for title in ("a", "b") for noise in ("chic", "jaguar") for power in range(3, 11)]
    rows = pd.DataFrame(keys, columns=["title", "noise", "ranks"])
    slowdown = 0.01 * rows["ranks"] ** 0.5
    lost = 1e6 * slowdown
    return rows.assign(slowdown=slowdown, low=0.9 * slowdown, high=1.1 * slowdown, lost_ps=lost, worst_ps=1.1 * lost)


def source_costs() -> pd.DataFrame:
    """Eight sources of noise."""
    saved = np.linspace(0.3, 0.02, 8)
    intervals = {"low": saved - 0.01, "high": saved + 0.01, "matters": saved > 0.05, "alone": 0.9 * saved}
    return pd.DataFrame({"source": [f"random {place}us" for place in range(8)], "saved": saved, **intervals})


def variation_runs(spoil: Spoil) -> pd.DataFrame:
    """Runs of two numbers of ranks that begin at nine times of a recording."""
    keys = [(ranks, 3_600 * 10**12 * hour) for ranks in (64, 1024) for hour in range(9)]
    runs = pd.DataFrame(keys, columns=["ranks", "offset_ps"])
    return spoil(runs.assign(slowdown=0.1 + runs["offset_ps"] / 3.6e17), "slowdown")


def verify_factors(spoil: Spoil, *frequencies: int) -> pd.DataFrame:
    """How many times as long allreduces take under detours of eight lengths at these frequencies."""
    keys = [(hertz, 25_000_000 * place) for hertz in frequencies for place in range(1, 9)]
    rows = pd.DataFrame(keys, columns=["hertz", "detour_ps"])
    mean = 1 + rows["detour_ps"] / 1e8
    return spoil(
        rows.assign(ranks=rows["detour_ps"] // 25_000_000, mean=mean, least=mean - 0.1, most=mean + 0.1), "mean"
    )


def ft_rows() -> pd.DataFrame:
    """Two exchanges on eight numbers of ranks."""
    ranks = np.tile([64, 128, 192, 256, 320, 384, 448, 512], 2)
    seconds = 1.0 + ranks / 1000
    return pd.DataFrame(
        {
            "machine": "m",
            "exchange": np.repeat(["put", "two-sided"], 8),
            "ranks": ranks,
            "links": 1,
            "seconds": seconds,
            "computation_s": 1.0,
            "communication_s": 0.8,
            "exposed_s": seconds - 1.0,
            "hidden": 0.5 + ranks / 2000,
        }
    )


def ft_compared() -> pd.DataFrame:
    """Measured and predicted times of five exchanges."""
    measured = np.array([1.0, 1.1, 1.2, 1.3, 1.4])
    return pd.DataFrame(
        {
            "problem": "S",
            "ranks": 2,
            "exchange": list("abcde"),
            "measured_s": measured,
            "least_s": measured - 0.1,
            "most_s": measured + 0.1,
            "predicted_s": measured - 0.05,
        }
    )


def idle_waves_plot(spoil: Spoil) -> Figure:
    """The shades of the first rows of a picture."""
    late = np.linspace(0, 1, 200).reshape(20, 10)
    late[0] = spoilt(late[0], spoil)
    return plot_idle_waves({"a": (late, 1e10), "b": (late[::-1], 2e10)}, 20)


def wave_fronts_plot(spoil: Spoil) -> Figure:
    front = pd.DataFrame({"distance": np.arange(1, 30), "arrival_ms": np.arange(29.0)})
    return plot_wave_fronts({"eager": {"a": front, "b": spoil(front, "arrival_ms")}, "rendezvous": {"a": front}})


def wave_decay_plot(spoil: Spoil) -> Figure:
    late = pd.DataFrame({"distance": np.arange(1, 30), "median": np.linspace(1, 0.5, 29)})
    late = late.assign(low=late["median"] - 0.1, high=late["median"] + 0.1)
    return plot_wave_decay([("no noise", late), ("noise", spoil(late, "median"))], "10 to 90 %")


def machine_rows() -> pd.DataFrame:
    """Two programs on eight machines, as they are and with two edits."""
    keys = [(program, f"m{n}", edit) for program in ("a", "b") for n in range(8) for edit in ("", "L=2x", "G=2x")]
    rows = pd.DataFrame(keys, columns=["program", "base", "edit"])
    number = np.arange(len(rows))
    return rows.assign(
        machine=rows["base"] + rows["edit"], seconds=1 + 0.01 * number, gain=0.01 * number, median=0.01 * number + 0.01,
        low=0.01 * number, high=0.01 * number + 0.02,
    )  # fmt: skip


STUDY_PLOTS: dict[tuple[str, str], Callable[[Spoil], Figure]] = {
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
}
"""By function and what is spoilt."""
