"""The sentences of a report, computed from the numbers, without claims that the numbers do not support."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from idlewave.formatting import (
    count_text,
    join_words,
    percent_range,
    percent_text,
    plural,
    seconds_text,
    time_text,
    volume_text,
)
from idlewave.report.noise_summary import noise_summary
from idlewave.report.study_networks import networks_text
from idlewave.report.study_scales import Scale, scales
from idlewave.timed_calls import timed_calls_text
from idlewave.trace import is_in_mpi

if TYPE_CHECKING:
    from idlewave.machine import Machine, Scope
    from idlewave.measure import NoiseMeasurement
    from idlewave.report.parts import Report
    from idlewave.timeline import Timeline
    from idlewave.trace import Trace

NEGLIGIBLE = 0.001
"""Slowdowns below 0.1 % are called negligible."""
MOST_WAITING = 0.05
"""Ranks that waited for a core for more of their time are not compared with a simulation, in which each has its own."""
CLOSE, POOR = 0.02, 0.3
"""Predictions that are off by less than 2 % need no remark; those off by more than 30 % are called too far off."""


def findings(report: Report) -> dict[str, str]:
    """One sentence each for the keys "machine", "overtime", "contention", "remedies", "detection", "program" and
    "scale", as far as the report has these parts."""
    sentences = {}
    if report.machine is not None and report.noise is not None:
        place = "" if report.network is None else report.network.place
        sentences["machine"] = machine_sentence(report.noise, report.machine, place)
    sentences |= _variability(report)
    if report.trace is not None:
        sentences["program"] = program_sentence(report.trace, report.prediction)
    if report.study is not None:
        doubt = "" if report.trace is None else baseline_doubt(report.trace, report.prediction)
        sentences["scale"] = scale_sentence(report.study, report.consistency.noise, report.scope, doubt)
    return {topic: sentence + report.warning(topic) for topic, sentence in sentences.items()}


def _variability(report: Report) -> dict[str, str]:
    if report.overtime is None and report.contention is None:
        return {}
    from idlewave.report.variability_findings import contention_sentences, overtime_sentence

    sentences = {}
    if report.overtime is not None and (sentence := overtime_sentence(report.overtime)):
        sentences["overtime"] = sentence
    return sentences | ({} if report.contention is None else contention_sentences(report.contention))


def machine_sentence(noise: NoiseMeasurement, machine: Machine, place: str = "") -> str:
    """What noise takes of the cores' time and what dominates it; what a message costs.

    `place` says between which ranks the network was measured ("within one node (shared memory)"), if that is known.
    """
    return _sentence(f"{_noise_clause(noise)}; {_network_clause(machine, place)}")


def _noise_clause(noise: NoiseMeasurement) -> str:
    figures = noise_summary(noise)
    place = "the measured core" if figures.cores == 1 else f"the {figures.cores} measured cores"
    if figures.detours == 0 or figures.overhead == 0:
        seconds = float(noise.cores["duration_ps"].max()) / 1e12 if len(noise.cores) else 0.0
        return f"no noise was seen on {place} in {seconds_text(seconds)} of recording"
    text = f"noise takes {percent_text(figures.overhead)} of the time of {place}"
    if percent_text(figures.lowest) != percent_text(figures.highest):
        text += f" ({percent_range(figures.lowest, figures.highest)} by core)"
    if figures.decade is not None:
        text += f", {percent_text(figures.decade_share)} of it in detours of {figures.decade}"
    return f"{text}, the longest lasting {time_text(figures.longest_ps)}"


def _network_clause(machine: Machine, place: str) -> str:
    """The cost of a message; a parameter of 0 is one that the measurement could not distinguish from nothing."""
    p = machine.network.parameters
    latency = f"L = {time_text(p.L)} of latency" if p.L > 0 else "no measurable latency L"
    text = (
        f"a small message costs {latency}{f' {place}' if place else ''}, "
        f"{_overhead('o_s', p.o_s)} to send and {_overhead('o_r', p.o_r)} to receive"
    )
    if p.g > 0:
        text += f", at least g = {time_text(p.g)} apart"
    if p.G > 0:
        return f"{text}, and each further byte G = {time_text(p.G)} ({bandwidth_text(p.G)})"
    return f"{text}, and further bytes cost nothing that could be measured"


def _overhead(name: str, picoseconds: float) -> str:
    return f"{name} = {time_text(picoseconds)}" if picoseconds > 0 else f"no measurable {name}"


def bandwidth_text(G: float) -> str:
    """1/G as a rate, for G > 0 in ps per byte: 100 -> "10 GB/s"."""
    return f"{volume_text(1e12 / G)}/s"


def program_sentence(trace: Trace, prediction: Timeline | None = None) -> str:
    """How much of the ranks’ time is communication, what dominates it, and how well the run is predicted."""
    run = f"on {plural(trace.ranks, 'rank')} the program ran for {seconds_text(trace.measured_s)}"
    parts = [f"{run} and {_communication_clause(trace)}", _pair_clause(trace)]
    if timed := timed_calls_text(trace.timed_one_sided_calls, trace.file_calls):
        parts.append(f"its {timed} are computation in the simulation, for as long as they took")
    if prediction is not None:
        predicted_s, waited = prediction.max_finish / 1e12, percent_text(trace.share_without_core or 0.0)
        parts.append(
            prediction_clause(trace.measured_s, predicted_s)
            if comparable_with_simulation(trace)
            else f"the simulation, in which each rank has a core of its own, predicts {seconds_text(predicted_s)}: in "
            f"the measured run ranks waited for a core for {waited} of their time"
        )
    return _sentence("; ".join(parts))


def comparable_with_simulation(trace: Trace) -> bool:
    """Whether the ranks had their cores for themselves, as simulated ones do."""
    return (trace.share_without_core or 0.0) <= MOST_WAITING


def communication_share(time: pd.DataFrame) -> float:
    """The share of all ranks’ time that is in MPI; 0 if there is no time."""
    total = float(time["seconds"].sum())
    inside = float(time.loc[is_in_mpi(time), "seconds"].sum())
    return inside / total if total > 0 else 0.0


def prediction_error(measured_s: float, predicted_s: float) -> float | None:
    """How far the prediction is off, as a fraction of the measured time; None if no time was measured."""
    return predicted_s / measured_s - 1 if measured_s > 0 else None


def _communication_clause(trace: Trace) -> str:
    share = communication_share(trace.time())
    seconds = trace.totals().groupby("call")["seconds"].sum()
    if share == 0:
        return "spent no measurable time in MPI"
    text = f"spent {percent_text(share)} of its ranks’ time in MPI"
    if not len(seconds) or float(seconds.sum()) <= 0:
        return text
    return f"{text}, {percent_text(float(seconds.max() / seconds.sum()))} of that in {seconds.idxmax()}"


def _pair_clause(trace: Trace) -> str:
    sent = trace.communication().groupby(["source", "destination"])[["bytes", "messages"]].sum()
    messages = int(sent["messages"].sum()) if len(sent) else 0
    if messages == 0:
        return "no point-to-point messages were sent"
    total = float(sent["bytes"].sum())
    if total == 0:
        return f"its {plural(messages, 'point-to-point message')} carried no data"
    most = float(sent["bytes"].max())
    carried = f"point-to-point messages carried {volume_text(total)}"
    if len(sent) == 1:
        (source, destination), *_ = sent.index
        return f"{carried}, all from rank {source} to rank {destination}"
    alike = int((sent["bytes"] >= 0.99 * most).sum())
    if alike > 1:
        busiest = f"the busiest {count_text(alike)} of {plural(len(sent), 'pair')}"
        return f"{carried}, {busiest} {volume_text(most)} each"
    (source, destination), *_ = sent.index[sent["bytes"] == most]
    return f"{carried}, the most ({volume_text(most)}) from rank {source} to rank {destination}"


def prediction_clause(measured_s: float, predicted_s: float) -> str:
    """How the predicted run time compares with the measured one."""
    error = prediction_error(measured_s, predicted_s)
    predicted = seconds_text(predicted_s)
    if error is None:
        return f"the simulation predicts {predicted}, but there is no measured time to compare it with"
    measured = f"the measured {seconds_text(measured_s)}"
    if percent_text(abs(error)) == percent_text(0) or abs(error) < 5e-6:
        return f"the simulation predicts {measured} exactly"
    side = "more" if error > 0 else "less"
    text = f"the simulation predicts {predicted}, {percent_text(abs(error))} {side} than {measured}"
    if abs(error) > POOR:
        return f"{text}, too far off to trust predicted run times"
    return text if abs(error) <= CLOSE else f"{text}, a margin that run times at scale must be given, too"


def baseline_doubt(trace: Trace, prediction: Timeline | None) -> str:
    """Why the simulated run without noise is nothing to compare with; "" if there is no reason to doubt it."""
    error = None if prediction is None else prediction_error(trace.measured_s, prediction.max_finish / 1e12)
    if comparable_with_simulation(trace) and error is not None and abs(error) > POOR:
        return f"the simulation of the traced run itself is off by {percent_text(abs(error))}"
    cores = trace.core_shares()
    shared = int((cores["shared"] & cores["core_wait_s"].isna()).sum())
    if shared:
        return f"{plural(shared, 'rank')} shared cores in the traced run, and waits for a core count as computation"
    return ""


def scale_sentence(
    study: pd.DataFrame, noise: str = "noise", scope: Scope | None = None, baseline_doubt: str = ""
) -> str:
    """The slowdown by noise at each scale with its spread over seeds, whether it grows, and over which networks.

    `noise` is the subject of the sentence; `scope` has the networks between the ranks, None where they are not known.
    With a `baseline_doubt`, the reason why the run without noise is not to be trusted, no slowdown is stated.
    """
    if baseline_doubt:
        return f"What {noise} costs this program is not known: {baseline_doubt}."
    every = scales(study)
    points = [scale for scale in every if scale.slowdowns]
    if not points and any(scale.baseline_s == 0 and scale.noisy_s for scale in every):
        return "Slowdown by noise is not known: the program takes no time without noise."
    if not points:
        return "Slowdown by noise is not known: no scale was simulated both with and without noise."
    seeds = min(len(scale.slowdowns) for scale in points)
    largest = max(max(abs(value) for value in scale.slowdowns) for scale in points)
    over = f"over {plural(seeds, 'seed')}"
    networks = f"; {text}" if (text := networks_text(study, scope)) else ""
    if largest < NEGLIGIBLE:
        where = _span(points)
        return _sentence(
            f"{noise} slows the program by less than {percent_text(NEGLIGIBLE)} {where} "
            f"({over}), which is negligible{networks}"
        )
    listed = join_words([_slowdown(scale, first=scale is points[0]) for scale in _selected(points)])
    single = seeds == 1
    spread = "with one seed, so that its spread is not known" if single else f"median and range {over}"
    effect = "slows the program by" if all(scale.median >= 0 for scale in points) else "changes the run time by"
    return _sentence(f"{noise} {effect} {listed} ({spread}){_trend(points)}{networks}")


def _span(points: list[Scale]) -> str:
    if len(points) == 1:
        return f"on {plural(points[0].ranks, 'rank')}"
    return f"at every scale from {count_text(points[0].ranks)} to {plural(points[-1].ranks, 'rank')}"


def _selected(points: list[Scale]) -> list[Scale]:
    """All points if they are few; else the ends and the worst."""
    if len(points) <= 5:
        return points
    worst = max(points, key=lambda scale: scale.median)
    return [scale for scale in points if scale in (points[0], worst, points[-1])]


def _slowdown(scale: Scale, *, first: bool) -> str:
    low, high = min(scale.slowdowns), max(scale.slowdowns)
    spread = f" ({percent_range(low, high)})" if percent_text(low) != percent_text(high) else ""
    ranks = plural(scale.ranks, "rank") if first else count_text(scale.ranks)
    return f"{percent_text(scale.median)}{spread} on {ranks}"


def _trend(points: list[Scale]) -> str:
    """Growth is claimed only where the ranges over seeds of the smallest and largest scale do not overlap."""
    first, last = points[0], points[-1]
    if len(points) == 1:
        low, high = min(first.slowdowns), max(first.slowdowns)
        return "; with these seeds even its sign is open" if low < 0 < high else ""
    if len(first.slowdowns) == 1 or len(last.slowdowns) == 1:
        side = "more" if last.median > first.median else "less"
        same = abs(last.median - first.median) < NEGLIGIBLE
        return "; it hardly changes with scale" if same else f"; it is {side} on more ranks in this one draw"
    if min(last.slowdowns) > max(first.slowdowns):
        falls = any(later.median < earlier.median for earlier, later in pairwise(points))
        return "; it grows with scale" + (", though not at every step" if falls else "")
    if max(last.slowdowns) < min(first.slowdowns):
        return "; it becomes smaller with scale"
    ends = f"{count_text(first.ranks)} and {count_text(last.ranks)}"
    return f"; between {ends} it changes by no more than the seeds do"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else text
