"""What a report's numbers rest on: how much was measured, how well it fits, what is left out."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from idlewave.measure.network.plots.curve_plot import LABELS
from idlewave.measure.network.plots.curve_table import residual_percents
from idlewave.report.data import MachineData, NetworkData, NoiseData, ProgramData, ReportData
from idlewave.report.network import quantities
from idlewave.report.scale import scales
from idlewave.report.scope import scope_caveat
from idlewave.wording import count_text, percent_text, plural, seconds_text, size_text

BUSY = 0.05  # a foreign load above 5 % is called out


@dataclass(frozen=True)
class Caveat:
    """A topic and what is to be said about it."""

    topic: str
    text: str


def caveats(data: ReportData) -> list[Caveat]:
    """All that applies to the parts that `data` has."""
    found = [Caveat("Mixed parts", sentence) for sentences in data.mixed.values() for sentence in sentences]
    if data.noise is not None:
        found.append(Caveat("Noise", _noise(data.noise)))
    if data.network is not None:
        found.append(Caveat("Network samples", _samples(data.network)))
    if data.machine is not None:
        found.append(Caveat("Fit", _fit(data.machine)))
    if data.foreign_load:
        found.append(Caveat("Other load", _load(data)))
    if data.program is not None:
        found.append(Caveat("Program", _program(data.program)))
    if data.comparison is not None or data.study is not None:
        found.append(Caveat("Computation", _computation(data)))
    if data.study is not None:
        found.append(Caveat("Extrapolation", _EXTRAPOLATION + scope_caveat(data.study)))
        found.append(Caveat("Seeds", _seeds(data)))
    return found + [Caveat("Note", note) for note in data.notes]


_EXTRAPOLATION = (
    "Larger scales are made from the traced ranks, not measured. Each copy of the traced ranks keeps its "
    "point-to-point partners inside the copy, collectives span all ranks, and computation is copied "
    "verbatim: "
    "the work per rank stays what it was, and so does its imbalance. Contention inside the network is not "
    "modelled."
)


def _noise(noise: NoiseData) -> str:
    cores = noise.cores
    if cores.empty:
        return "No core was measured."
    low, high = float(cores["duration_s"].min()), float(cores["duration_s"].max())
    length = (
        seconds_text(low) if seconds_text(low) == seconds_text(high) else f"{seconds_text(low)} to {seconds_text(high)}"
    )
    each = "on one core" if len(cores) == 1 else f"on each of {len(cores)} cores"
    resolution = float(cores["resolution_ns"].max())
    return (
        f"{plural(len(noise.detours), 'detour')} recorded in {length} {each}, with a resolution of "
        f"{seconds_text(resolution * 1e-9)} or better. What happens more rarely than about once in that "
        "time is not in "
        "the sample, and a rare long detour moves the overhead by much."
    )


def _samples(network: NetworkData) -> str:
    samples = network.samples
    table = quantities(network)
    if samples.empty or table.empty:
        return "There are no samples."
    least, most = int(table["n"].min()), int(table["n"].max())
    each = count_text(least) if least == most else f"{count_text(least)} to {count_text(most)}"
    sizes = samples["size"]
    return (
        f"{plural(len(samples), 'sample')} at {plural(sizes.nunique(), 'message size')} from "
        f"{size_text(sizes.min())} "
        f"to {size_text(sizes.max())}, {each} for each quantity and size. Points are medians, bars "
        f"{network.spread}."
    )


def _fit(machine: MachineData) -> str:
    table = machine.residuals
    if table is None or table.empty:
        return "The residuals of the fitted parameters were not recorded."
    found = residual_percents(table)
    relative = found["percent"].abs() / 100
    if relative.empty:
        return "No measured value is above zero, so the fit cannot be judged."
    worst = found.loc[relative == relative.max()].iloc[0]
    series = LABELS.get(str(worst["series"]), str(worst["series"]))
    return (
        f"The fit misses the measured medians of all four quantities by {percent_text(float(relative.median()))} in "
        "the median of "
        f"{plural(len(relative), 'point')}, and by {percent_text(float(relative.max()))} at worst "
        f"({series}, {size_text(worst['size'])})."
    )


def _load(data: ReportData) -> str:
    listed = ", ".join(f"{percent_text(load)} during {step}" for step, load in data.foreign_load.items())
    busy = max(data.foreign_load.values()) > BUSY
    advice = (
        "That is enough to disturb the measurement: repeat it on an idle machine."
        if busy
        else ("That is little enough to disregard.")
    )
    return f"Other processes used of the processor time {listed}. {advice}"


def _program(program: ProgramData) -> str:
    text = "What is shown is one run under the tracer, whose own cost is in the measured time."
    if program.cores is not None and program.ranks > program.cores:
        shared = "one core" if program.cores == 1 else f"{program.cores} cores"
        text += (
            f" Its {program.ranks} ranks shared {shared}: time in which a rank waited for a core is "
            "counted as the "
            "computation or communication that it interrupted, and the simulation gives each rank a core "
            "of its own."
        )
    return text


def _computation(data: ReportData) -> str:
    text = "Computation is taken from the trace, so it already contains this machine’s noise"
    if data.study is not None:
        study = "the noise added in the study comes on top, and a run “without noise” still has what was traced"
        return f"{text}; {study}."
    return f"{text}."


def _seeds(data: ReportData) -> str:
    points = scales(data.study) if data.study is not None else []
    counts = pd.Series([len(scale.noisy_s) for scale in points if scale.noisy_s], dtype=int)
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
