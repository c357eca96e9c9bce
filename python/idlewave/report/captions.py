"""Captions that say what a figure shows and what is to be seen in it."""

from __future__ import annotations

from idlewave.measure.noise.detour_plots import MOST_PANELS, MOST_POINTS, shown_cores, thin_detours
from idlewave.report.data import (
    ComparisonData,
    MachineData,
    NetworkData,
    NoiseData,
    ProgramData,
    StudyData,
)
from idlewave.report.findings import communication_share
from idlewave.report.noise import noise_figures
from idlewave.report.plot_program import MOST_BARS, MOST_CELLS
from idlewave.report.scale import scales
from idlewave.report.scope import scope_sentence
from idlewave.wording import (
    count_text,
    percent_range,
    percent_text,
    plural,
    seconds_text,
    size_text,
    time_text,
    volume_text,
)


def detours_caption(noise: NoiseData) -> str:
    """Of `plot_detours`."""
    shown = noise.detours[noise.detours["core"].isin(shown_cores(noise.cores)) & (noise.detours["length_ps"] > 0)]
    if shown.empty:
        return "No detour was recorded."
    longest = time_text(float(shown["length_ps"].max()))
    text = (
        "Each point is a detour: a time in which the core did not run the probe. Above each panel: the share "
        f"of the time that detours took. The longest took {longest}."
    )
    if len(noise.cores) > MOST_PANELS:
        text += f" Of {len(noise.cores)} cores, the {MOST_PANELS} with the highest overhead are shown."
    drawn = len(thin_detours(shown, MOST_POINTS))
    if drawn < len(shown):
        text += (
            f" {count_text(drawn)} of {count_text(len(shown))} detours are drawn: of those that fall on "
            "one spot, "
            "the longest."
        )
    return text


def lengths_caption(noise: NoiseData) -> str:
    """Of `plot_detour_lengths`."""
    figures = noise_figures(noise)
    if figures.decade is None:
        return "No detour was recorded."
    several = "one core"
    if figures.cores > 1:
        points = "single cores" if figures.cores <= MOST_PANELS else f"the {MOST_PANELS} cores with most of it"
        several = f"the mean over the cores; points: {points}"
    return (
        "Left: how many detours have which length, ten bins to a decade. Right: what share of the time "
        "detours of each "
        f"decade take (bars: {several}). Those of {figures.decade} take the most, "
        f"{percent_text(figures.decade_share)} of "
        "all that is lost to noise."
    )


def network_caption(network: NetworkData, machine: MachineData | None) -> str:
    """Of `plot_network`."""
    text = f"Medians (points) and {network.spread} (bars) of what was measured at each message size"
    if machine is None:
        return f"{text}."
    text += "; lines are what the fitted parameters give"
    if machine.S is None:
        text += ". No eager limit was found"
    else:
        limit = size_text(machine.S)
        text += f". Messages above S = {limit} make a rendezvous, which costs two control messages first"
    if machine.residuals is not None and not machine.residuals.empty:
        text += ". Below: by how much the model misses each median"
    return f"{text}."


def communication_caption(program: ProgramData) -> str:
    """Of `plot_communication`."""
    table = program.communication
    messages, volume = int(table["messages"].sum()), float(table["bytes"].sum())
    if messages == 0:
        return "No point-to-point message was sent."
    text = (
        f"Who talks to whom: {plural(messages, 'point-to-point message')} with {volume_text(volume)} in "
        "all; a white "
        "field is a pair that never talked. Collectives are not in it"
    )
    if program.ranks > MOST_CELLS:
        text += f"; a field adds up {-(-program.ranks // MOST_CELLS)} neighbouring ranks"
    return f"{text}."


def time_caption(program: ProgramData) -> str:
    """Of `plot_time`."""
    share = communication_share(program.time)
    inside = program.time[program.time["category"] != "computation"].groupby("rank")["seconds"].sum()
    totals = program.time.groupby("rank")["seconds"].sum()
    shares = (inside.reindex(totals.index, fill_value=0.0) / totals.where(totals > 0)).dropna()
    text = f"How each rank’s time divides. {percent_text(share)} of all ranks’ time is communication"
    if len(shares) > 1 and percent_text(shares.min()) != percent_text(shares.max()):
        text += f", {percent_range(float(shares.min()), float(shares.max()))} by rank"
    if len(totals) > MOST_BARS:
        text += (
            f". Over {plural(len(totals), 'rank')}: median (stroke, number), middle half of the ranks (bar), "
            "least to most (line)"
        )
    return f"{text}."


def prediction_caption(comparison: ComparisonData) -> str:
    """Of `plot_prediction`."""
    how = "with the measured noise added" if comparison.noise else "without added noise"
    text = f"The traced run, simulated on the same ranks {how}, against its measured time"
    error = comparison.error
    if error is not None:
        text += f": the prediction is off by {percent_text(error, signed=True)}"
    usable = comparison.ranks[comparison.ranks["measured_s"] > 0]
    if len(usable) > 1:
        errors = usable["predicted_s"] / usable["measured_s"] - 1
        low, high = percent_text(errors.min(), signed=True), percent_text(errors.max(), signed=True)
        text += f", single ranks by {low}" + ("" if low == high else f" to {high}")
    return f"{text}."


def slowdown_caption(study: StudyData) -> str:
    """Of `plot_slowdown`."""
    points = [scale for scale in scales(study) if scale.slowdowns]
    if not points:
        return "No scale was simulated both with and without noise."
    seeds = [len(scale.slowdowns) for scale in points]
    number = plural(seeds[0], "seed") if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)} seeds"
    last = points[-1]
    return (
        f"How much longer the program runs with {study.noise} than without ({number} at each scale): "
        "median "
        f"(line, numbers), single seeds (points), least to most (band). On {plural(last.ranks, 'rank')} it "
        "is "
        f"{percent_range(min(last.slowdowns), max(last.slowdowns))}.{scope_sentence(study)}"
    )


def run_time_caption(study: StudyData, *, measured: bool) -> str:
    """Of `plot_run_time`."""
    points = [scale for scale in scales(study) if scale.baseline_s is not None or scale.noisy_s]
    text = f"Predicted run time with {study.noise} (median, single seeds, least to most) and without"
    if measured:
        text += "; the diamond is the real run"
    ends = [scale for scale in points if scale.baseline_s is not None]
    if len(ends) > 1:
        first, last = ends[0], ends[-1]
        text += (
            f". Without noise it goes from {seconds_text(first.baseline_s or 0)} on "
            f"{plural(first.ranks, 'rank')} to "
            f"{seconds_text(last.baseline_s or 0)} on {count_text(last.ranks)}"
        )
    return f"{text}.{scope_sentence(study)}"
