"""The caveats of a report: how much was measured, how well it fits, what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, seconds_text, size_text, time_text
from idlewave.measure.network.fitting.quantities import quantities_of
from idlewave.measure.network.plots.curve_plot import LABELS
from idlewave.measure.network.plots.curve_table import residual_percents
from idlewave.report.network_plot import SPREAD
from idlewave.report.study_networks import networks_caveat
from idlewave.report.study_scales import scales
from idlewave.trace_hosts import foreign_cores_text

if TYPE_CHECKING:
    from idlewave.measure import NetworkMeasurement, NoiseMeasurement
    from idlewave.report.parts import Report
    from idlewave.trace import Trace

BUSY = 0.05
"""A foreign load above 5 % is said to disturb the measurement."""


@dataclass(frozen=True)
class Caveat:
    """A topic and its text."""

    topic: str
    text: str


def caveats(report: Report) -> list[Caveat]:
    """All caveats that concern the parts of the report."""
    mixed = report.consistency.contradictions.values()
    found = [Caveat("Mixed parts", sentence) for sentences in mixed for sentence in sentences]
    if report.noise is not None:
        found.append(Caveat("Noise", _noise(report.noise)))
    if report.network is not None:
        found.append(Caveat("Network samples", _samples(report.network)))
    if report.residuals is not None:
        found.append(Caveat("Fit", _fit(report.residuals)))
    if report.foreign_load:
        found.append(Caveat("Other load", load_text(report.foreign_load)))
    if report.trace is not None:
        found.append(Caveat("Program", program_text(report.trace)))
    if report.prediction is not None or report.study is not None:
        found.append(Caveat("Computation", _computation(study=report.study is not None)))
    if report.study is not None:
        found.append(Caveat("Extrapolation", _EXTRAPOLATION + networks_caveat(report.study, report.scope)))
        found.append(Caveat("Seeds", _seeds(report.study)))
    for section in report.sections:
        found += [Caveat(f"{section.topic.capitalize()}: {topic}", text) for topic, text in section.rests]
    return found + [Caveat("Note", note) for note in report.notes]


_EXTRAPOLATION = (
    "Larger scales are made from the traced ranks, not measured. Each copy of the traced ranks keeps its "
    "point-to-point partners inside the copy, collectives span all ranks, and computation is copied "
    "verbatim: "
    "the work per rank stays what it was, and so does its imbalance. Contention inside the network is not "
    "modelled."
)


def _noise(noise: NoiseMeasurement) -> str:
    cores = noise.cores
    if cores.empty:
        return "No core was measured."
    low, high = (float(end) / 1e12 for end in (cores["duration_ps"].min(), cores["duration_ps"].max()))
    length = (
        seconds_text(low) if seconds_text(low) == seconds_text(high) else f"{seconds_text(low)} to {seconds_text(high)}"
    )
    each = "on one core" if len(cores) == 1 else f"on each of {len(cores)} cores"
    resolution = float(cores["resolution_ps"].max())
    return (
        f"{plural(len(noise.detours), 'detour')} recorded in {length} {each}, with a resolution of "
        f"{time_text(resolution)} or better. The sample does not have what happens more rarely than about once in that "
        "time, and a rare long detour moves the overhead by much."
    )


def _samples(network: NetworkMeasurement) -> str:
    samples = network.samples
    table = quantities_of(network.fit)
    if samples.empty or table.empty:
        return "There are no samples."
    least, most = int(table["n"].min()), int(table["n"].max())
    each = count_text(least) if least == most else f"{count_text(least)} to {count_text(most)}"
    sizes = samples["size"]
    return (
        f"{plural(len(samples), 'sample')} at {plural(sizes.nunique(), 'message size')} from "
        f"{size_text(sizes.min())} to {size_text(sizes.max())}, {each} for each quantity and size. Points are medians, "
        f"bars {SPREAD}."
    )


def _fit(residuals: pd.DataFrame) -> str:
    found = residual_percents(residuals)
    relative = found["percent"].abs() / 100
    if relative.empty:
        return "No measured value is above zero, so the fit cannot be judged."
    worst = found.loc[relative == relative.max()].iloc[0]
    series = LABELS.get(str(worst["series"]), str(worst["series"]))
    return (
        f"The fit misses the measured medians of all four quantities by {percent_text(float(relative.median()))} in "
        f"the median of {plural(len(relative), 'point')}, and by {percent_text(float(relative.max()))} at worst "
        f"({series}, {size_text(worst['size'])})."
    )


def load_text(loads: Mapping[str, float]) -> str:
    """What other processes used of the processor time, by step of measuring, and whether that disturbs."""
    listed = ", ".join(f"{percent_text(load)} during {step}" for step, load in loads.items())
    if max(loads.values()) > BUSY:
        advice = "That is enough to disturb the measurement: repeat it on an idle machine."
    else:
        advice = "That is little enough to disregard."
    return f"Other processes used of the processor time {listed}. {advice}"


def program_text(trace: Trace) -> str:
    """What is to be known of a traced run."""
    text = "The program was run once, under the tracer, whose own cost is in the measured time."
    if trace.imported is not None and trace.imported.left_out:
        missing = join_words([f"{count_text(number)} {kind}" for kind, number in trace.imported.left_out.items()])
        text += f" The trace was imported from {trace.imported.format}; not in it are {missing}."
    found = trace.core_shares()
    waited = float(found["core_wait_s"].sum())
    hosts = trace.hosts()
    for host in hosts[(hosts["ranks"] > hosts["usable_cores"]).fillna(False)].itertuples():
        shared = "one core" if host.usable_cores == 1 else f"{host.usable_cores} cores"
        whose = f"Its {host.ranks} ranks" if len(hosts) == 1 else f"{host.ranks} of its ranks"
        text += f" {whose} shared {shared} of {host.host}, and the simulation gives each rank a core of its own."
    if load := foreign_cores_text(hosts):
        text += f" Meanwhile, {load}."
    if found["core_wait_s"].isna().any():
        text += (
            " How long ranks waited for a core while something else had it is not known: such waits count as the "
            "computation or communication that they interrupted."
        )
    elif waited > 0:
        text += (
            f" In {seconds_text(waited)} of all ranks’ time a rank that computed waited for a core, which "
            "something else had; these waits are left out of the computations."
        )
    return text


def _computation(*, study: bool) -> str:
    text = (
        "Computation is the time between the calls of the trace. What interrupted it without taking its core, such as "
        "interrupts, is part of it"
    )
    if not study:
        return f"{text}."
    return f"{text}; the noise added in the study comes on top, and a run “without noise” still has what was traced."


def _seeds(study: pd.DataFrame) -> str:
    counts = pd.Series([len(scale.noisy_s) for scale in scales(study) if scale.noisy_s], dtype=int)
    if counts.empty:
        return "No scale was simulated with noise."
    low, high = int(counts.min()), int(counts.max())
    number = plural(low, "seed") if low == high else f"{low} to {high} seeds"
    return (
        f"Each scale was simulated with {number}; a seed sets where in the recorded noise each rank "
        "starts. Spread over "
        "seeds says nothing of errors that all of them share: those of the trace, of the noise sample, and "
        "of the model."
    )
