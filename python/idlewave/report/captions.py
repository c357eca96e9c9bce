"""The captions of figures: what a figure shows, of which machine and program, and what can be seen in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from idlewave.formatting import (
    count_text,
    percent_range,
    percent_text,
    plural,
    seconds_text,
    time_text,
    volume_text,
)
from idlewave.measure.noise.detour_plots import (
    MOST_PANELS,
    MOST_POINTS,
    drawable,
    length_limits,
    shown_cores,
    thin_detours,
)
from idlewave.plot_limits import bulk_limits
from idlewave.report.computation_plot import shown_sites
from idlewave.report.findings import communication_share, prediction_error
from idlewave.report.noise_summary import noise_summary
from idlewave.report.program_plots import MOST_BARS, MOST_CELLS, error_percents
from idlewave.report.setting import Setting
from idlewave.report.study_networks import networks_sentence
from idlewave.report.study_plots import limits_of
from idlewave.report.study_scales import Scale, scales
from idlewave.trace import CORE_WAIT, is_in_mpi

if TYPE_CHECKING:
    from idlewave.measure import NoiseMeasurement

_UNKNOWN = Setting()
_DETOUR = "in which a core did not run the probe, which only reads the clock"


def detours_caption(noise: NoiseMeasurement, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_detours`."""
    shown = drawable(noise.detours, shown_cores(noise.cores))
    if shown.empty:
        return f"No detour was recorded on {setting.place}."
    longest = time_text(float(shown["length_ps"].max()))
    text = (
        f"Noise on {setting.place}: each point is a detour (a time {_DETOUR}), when it began and how long it lasted. "
        f"Above each panel: the share of the core’s time that detours took. The longest took {longest}."
    )
    if len(noise.cores) > MOST_PANELS:
        text += f" Of {len(noise.cores)} cores, the {MOST_PANELS} with the highest overhead are shown."
    thinned = thin_detours(shown, MOST_POINTS)
    if len(thinned) < len(shown):
        text += (
            f" {count_text(len(thinned))} of {count_text(len(shown))} detours are drawn: of those that fall on one "
            "spot, the longest."
        )
    return text + _cut(length_limits(thinned).outside(thinned["length_ps"]), "detour", "length")


def lengths_caption(noise: NoiseMeasurement, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_detour_lengths`."""
    summary = noise_summary(noise)
    if summary.decade is None:
        return f"No detour was recorded on {setting.place}."
    lines, several = "", "of the one core"
    if summary.cores > 1:
        points = "single cores" if summary.cores <= MOST_PANELS else f"the {MOST_PANELS} cores with most of it"
        lines, several = " (a line a core)", f"over the cores; points: {points}"
    return (
        f"Noise on {setting.place}: detours (times {_DETOUR}) by their length. Left: how many there are{lines}, in "
        "ten bins between a length and ten times that. Right: what share of the time the detours of such a range "
        f"take (bars and numbers: the mean {several}). Those of {summary.decade} take the most, "
        f"{percent_text(summary.decade_share)} of all that is lost to noise."
    ) + _cut(_far_detours(noise), "detour", "greatest length")


def _far_detours(noise: NoiseMeasurement) -> int:
    """The number of detours beyond the axis of lengths."""
    shown = drawable(noise.detours, list(noise.cores["core"]))
    return int(length_limits(shown).above(shown["length_ps"]).sum())


def communication_caption(communication: pd.DataFrame, setting: Setting) -> str:
    """The caption of `plot_communication`."""
    ranks = setting.ranks
    messages, volume = int(communication["messages"].sum()), float(communication["bytes"].sum())
    run = f"{setting.run} on {plural(ranks, 'rank')}"
    if messages == 0:
        return f"{_capital(run)} sent no point-to-point message."
    both = " (left) and messages (right)" if ranks <= 8 else ""
    text = (
        f"Who talks to whom in {run}: bytes{both} that the rank of a row sent to the rank of a column; the darker, "
        f"the more, on a logarithmic scale. {_capital(plural(messages, 'point-to-point message'))} carried "
        f"{volume_text(volume)} in all. White: never sent. Messages inside collective operations are not counted"
    )
    if ranks > MOST_CELLS:
        text += f"; a field adds up {-(-ranks // MOST_CELLS)} neighbouring ranks"
    return f"{text}."


def time_caption(time: pd.DataFrame, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_time`."""
    share = communication_share(time)
    inside = time[is_in_mpi(time)].groupby("rank")["seconds"].sum()
    totals = time.groupby("rank")["seconds"].sum()
    shares = (inside.reindex(totals.index, fill_value=0.0) / totals.where(totals > 0)).dropna()
    waits = (time["category"] == CORE_WAIT).any()
    had = f"; {CORE_WAIT} is time outside MPI in which something else had the core" if waits else ""
    what = f"Computation is time outside MPI{had}; everything else is time in MPI"
    text = f"How the measured time of each rank of {setting.run} divides. {what}"
    if len(totals) > MOST_BARS:
        text += (
            f". Over {plural(len(totals), 'rank')}: the median rank (stroke, number), the middle half of the ranks "
            "(bar), from the least to the most (line)"
        )
    elif len(totals) <= 16:
        text += "; the numbers are shares of the rank’s time"
    text += f". {percent_text(share)} of all ranks’ time is in MPI"
    if len(shares) > 1 and percent_text(shares.min()) != percent_text(shares.max()):
        text += f", {percent_range(float(shares.min()), float(shares.max()))} by rank"
    several = totals if len(totals) <= MOST_BARS else time["seconds"]
    return f"{text}." + _cut(bulk_limits(several).outside(several), "time", "length")


def computation_caption(sites: pd.DataFrame, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_computation_sites`."""
    shown = shown_sites(sites)
    if shown.empty:
        return f"No computation of {setting.run} was recorded."
    share = float(shown["share"].sum())
    text = (
        f"How long {setting.run} computes between two calls, by call site: all computations (line), all but a "
        "twentieth at each end (pale), the middle half (dark) and the median (stroke); right, the time of all of them "
        "together, its share, and their number"
    )
    if len(shown) < len(sites):
        text += f". The {len(shown)} that are shown of {count_text(len(sites))} have {percent_text(share)} of it"
    site = "A site is a call with its size and the five calls before it; its label has the last of them, and its name"
    if (shown["cycle_length"] > 1).any():
        site += ". Where the times of a site repeat themselves in a cycle, each position in the cycle has a row"
    return f"{text}. {site}."


def prediction_caption(
    by_rank: pd.DataFrame, measured_s: float, predicted_s: float, setting: Setting = _UNKNOWN
) -> str:
    """The caption of `plot_prediction`."""
    ranks = f" on its {plural(setting.ranks, 'rank')}" if setting.ranks else ""
    text = (
        f"{_capital(setting.run)}{ranks}, as measured and as simulated from its trace, by the LogGOPS parameters of "
        f"{setting.place}, without added noise. Left: the run time. Right: how far each rank’s predicted time is from "
        "its measured time, in percent of that"
    )
    error = prediction_error(measured_s, predicted_s)
    if error is not None:
        text += f". The run’s prediction is off by {percent_text(error, signed=True)}"
    errors = error_percents(by_rank) / 100
    if len(errors) > 1:
        low, high = (percent_text(float(end), signed=True) for end in (errors.min(), errors.max()))
        text += f", single ranks’ by {low}" + ("" if low == high else f" to {high}")
    return f"{text}." + _cut(bulk_limits(100 * errors).outside(100 * errors), "rank", "error")


def slowdown_caption(study: pd.DataFrame, setting: Setting = _UNKNOWN) -> str:
    """The caption of `plot_slowdown`."""
    points = [scale for scale in scales(study) if scale.slowdowns]
    if not points:
        return "No scale was simulated both with and without noise."
    last = points[-1]
    limits = limits_of([np.array(scale.slowdowns) for scale in points])
    cut = sum(limits.outside(scale.slowdowns) for scale in points)
    text = (
        f"How much longer {setting.run} takes with {setting.noise} than without, "
        f"simulated{_extrapolated(setting)}: against the number of ranks, the median over the seeds (line, numbers), "
        f"single seeds (points; {_seeds([len(scale.slowdowns) for scale in points])}), and from the least to the most "
        f"(band). A seed sets where in the recorded noise each rank starts. On {plural(last.ranks, 'rank')} it takes "
        f"{percent_range(min(last.slowdowns), max(last.slowdowns))} longer."
    )
    return text + _cut(cut, "seed") + networks_sentence(study, setting.scope)


def run_time_caption(
    study: pd.DataFrame, setting: Setting = _UNKNOWN, *, measured: tuple[int, float] | None = None
) -> str:
    """The caption of `plot_run_time`; `measured`: ranks and seconds of the real run."""
    points = [scale for scale in scales(study) if scale.baseline_s is not None or scale.noisy_s]
    if not points:
        return "No run was simulated."
    seeds = [len(scale.noisy_s) for scale in points if scale.noisy_s]
    noisy = (
        f"with {setting.noise} (orange; {_seeds(seeds)}: line for the median, points for single ones, band from "
        "the least to the most) and "
        if seeds
        else ""
    )
    text = (
        f"Run time of {setting.run}, simulated{_extrapolated(setting)}, against the number of ranks: {noisy}without "
        "added noise (blue)"
    )
    if measured:
        text += f". The diamond is the real run: {seconds_text(measured[1])} on {plural(measured[0], 'rank')}"
    ends = [scale for scale in points if scale.baseline_s is not None]
    if len(ends) > 1:
        first, last = (seconds_text(end.baseline_s or 0) for end in (ends[0], ends[-1]))
        low, high = plural(ends[0].ranks, "rank"), count_text(ends[-1].ranks)
        same = f"it stays at {first} from {low} to {high}"
        text += f". Without noise {same if first == last else f'it goes from {first} on {low} to {last} on {high}'}"
    groups = [_times(scale) for scale in points]
    return (
        f"{text}."
        + _cut(sum(map(limits_of(groups).outside, groups)), "simulated run")
        + networks_sentence(study, setting.scope)
    )


def _times(scale: Scale) -> np.ndarray:
    return np.array([*scale.noisy_s, *([] if scale.baseline_s is None else [scale.baseline_s])])


def _extrapolated(setting: Setting) -> str:
    return f" from its trace on {plural(setting.ranks, 'rank')}" if setting.ranks else ""


def _seeds(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{plural(low, 'seed') if low == high else f'{low} to {high} seeds'} at each number of ranks"


def _cut(count: int, noun: str, label: str = "") -> str:
    """A sentence on how many values lie beyond the axes, to follow another; "" if none. `label`: the text at a mark."""
    if not count:
        return ""
    verb, what, whose = ("lies", "it", "its") if count == 1 else ("lie", "them", "their")
    beside = f", with {whose} {label}" if label else ""
    return f" {plural(count, noun)} {verb} far beyond the axis, where a triangle marks {what}{beside}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
