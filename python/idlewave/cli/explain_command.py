"""``idlewave explain``: what a schedule's time on a machine is made of, and what it depends on."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from ..carried import said_of
from ..errors import InputError
from ..sensitivity import LatencyTolerance, Sensitivities, latency_tolerance, sensitivities
from ..simulation import simulate
from ..units import format_time
from .inputs import load_machine, machine_option
from .run import run_arguments, run_options
from .source import schedule_from, source_options
from .terminal import output, show

if TYPE_CHECKING:
    from ..machine import Machine
    from ..schedule import Schedule
    from ..timeline import Timeline

MOST_ROWS = 10
MOST_SIMULATIONS = 300


@click.command()
@source_options
@machine_option
@run_options
@click.option("--no-tolerance", is_flag=True, help="Leave the latency tolerance out, which takes many simulations.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    source: str,
    machine_name: str,
    no_tolerance: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Say what the time of a GOAL file, a trace, or a PATTERN is made of: critical path, waits, sensitivities."""
    machine = load_machine(machine_name)
    how = run_arguments(options)
    schedule = schedule_from(source, options)
    timeline = simulate(schedule, machine, record=True, **how)
    slopes = sensitivities(schedule, machine, **how)
    if as_json:
        click.echo(json.dumps(_as_json(timeline, slopes, None if no_tolerance else _tolerance(schedule, machine, how))))
        return
    output.print(
        f"{schedule.name} on {machine.name}: {schedule.ranks} ranks finish after {format_time(timeline.max_finish, 6)}"
    )
    _print_path(timeline)
    _print_sensitivities(slopes, machine)
    _print_waits(timeline)
    if not no_tolerance:
        _print_tolerance(_tolerance(schedule, machine, how))


def _tolerance(schedule: Schedule, machine: Machine, how: dict[str, Any]) -> LatencyTolerance | str:
    """The latency tolerance, or why it was not found."""
    try:
        return latency_tolerance(schedule, machine, most_simulations=MOST_SIMULATIONS, **how)
    except InputError as error:
        return str(error)


def _as_json(timeline: Timeline, slopes: Sensitivities, tolerance: LatencyTolerance | str | None) -> dict[str, object]:
    found: dict[str, object] = {
        "max_finish_ps": timeline.max_finish,
        "critical_path_ps": timeline.path_division(),
        "slopes": {"network": slopes.network, "node": slopes.node, "computation_ps": slopes.computation},
        "wait_states": timeline.wait_states(("call",)).to_dict("records"),
        "matching_queues": _queues(timeline),
    }
    if timeline.provenance is not None:
        found |= said_of(timeline.provenance)
    if isinstance(tolerance, str):
        found["latency_tolerance_failed"] = tolerance
    elif tolerance is not None:
        found["latency_tolerance_ps"] = {str(growth): most for growth, most in tolerance.tolerance.items()}
        found["latency_breakpoints_ps"] = tolerance.breakpoints
        found["latency_times_ps"] = tolerance.times
        found["latency_convex"] = tolerance.convex
    return found


def _queues(timeline: Timeline) -> dict[str, int]:
    queues = timeline.matching_queues()
    return {
        "messages": int(queues["arrivals"].sum()),
        "unexpected": int(queues["unexpected"].sum()),
        "most_posted": int(queues["most_posted"].max()),
        "most_unexpected": int(queues["most_unexpected"].max()),
    }


def _print_path(timeline: Timeline) -> None:
    import pandas as pd

    whole = timeline.max_finish
    path = timeline.critical_path()
    hops = int((path["until"] == "arrival").sum())
    rows = [
        (name.replace("_", " "), format_time(span, 4), f"{100 * span / whole:.1f} %")
        for name, span in timeline.path_division().items()
        if span > 0
    ]
    ranks = path["rank"].nunique()
    output.print(f"The critical path has {len(path)} steps on {ranks} ranks, and {hops} messages between them:")
    show(pd.DataFrame(rows, columns=["spent on", "time", "share"]), "Critical path")


def _print_sensitivities(slopes: Sensitivities, machine: Machine) -> None:
    found = slopes.to_pandas(machine)
    found = found[found["derivative"] > 0].copy()
    found["share"] = ["" if math.isnan(share) else f"{100 * share:.1f} %" for share in found["share"]]
    show(found, "By how much the time grows")


def _print_tolerance(found: LatencyTolerance | str) -> None:
    if isinstance(found, str):
        output.print(f"The latency that it bears was not found: {found} (--no-noise; --no-tolerance leaves it out)")
        return
    words = [
        f"{100 * growth:g} %: " + ("any latency" if most is None else f"L + {format_time(most, 4)}")
        for growth, most in found.tolerance.items()
    ]
    pieces = len(found.breakpoints) - 1
    output.print(f"The latency that it bears before it takes longer by {'; '.join(words)}")
    output.print(f"({pieces} straight {'piece' if pieces == 1 else 'pieces'}, {found.simulations} simulations)")


def _print_waits(timeline: Timeline) -> None:
    import pandas as pd

    waits = timeline.wait_states(("call",)).sort_values("wait_ps", ascending=False)
    waits["mean_ps"] = waits["wait_ps"] / len(timeline.finish)
    rows = [
        (row["wait_state"], row["call"], row["ops"], *(format_time(row[w], 4) for w in ("mean_ps", "longest_ps")))
        for row in waits.head(MOST_ROWS).to_dict("records")
    ]
    show(pd.DataFrame(rows, columns=["state", "in", "ops", "mean of a rank", "longest"]), "Waits")
    queues = _queues(timeline)
    output.print(
        f"{queues['unexpected']} of {queues['messages']} messages were unexpected; at most {queues['most_posted']} "
        f"receives were posted and {queues['most_unexpected']} messages unexpected on a rank at one time"
    )
