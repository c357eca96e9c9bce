"""``idlewave explain``: critical path, wait states, sensitivities and latency tolerance of a schedule on a machine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..checkpoint_parts import check_parts, part_of
from ..formatting import plain_time
from ..kernel import RunConfiguration
from ..machine import Machine
from ..provenance import provenance_entry
from ..sensitivity import Sensitivities, sensitivities
from ..simulation import simulate
from ..tolerance import MOST_SIMULATIONS, LatencyTolerance, latency_tolerance
from .explain_tolerance import tolerance_as_json, tolerance_in_words
from .input_options import load_machine, machine_options, note_scope
from .kernel_options import STATISTICS, check_statistics, write_statistics
from .option_types import Count, as_json, print_json
from .progress import rank_progress, time_progress
from .schedule_source import schedule_from, source_options
from .simulation_options import heading, run_arguments, run_options, simulated_machine
from .terminal import output, say, show_table

if TYPE_CHECKING:
    from ..timeline import Timeline

MOST_ROWS = 10
RUNS = ("recording", "derivatives", "tolerance")
"""The directories of checkpoints: one for each run that the command makes."""


@click.command()
@source_options
@machine_options
@run_options
@STATISTICS
@click.option("--no-tolerance", is_flag=True, help="Leave out the latency tolerance, which takes many simulations.")
@click.option(
    "--most-simulations",
    type=Count(1),
    default=MOST_SIMULATIONS,
    show_default=True,
    help="Limit of simulations for the latency tolerance; more of them make it more exact.",
)
@as_json
def explain(
    source: str,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    no_tolerance: bool,
    most_simulations: int,
    statistics: Path | None,
    as_json: bool,
    **options: object,
) -> None:
    """Explain the simulated time of a schedule FILE, a TRACE or a PATTERN: critical path, waits, sensitivities."""
    machine = load_machine(machine_name, between, node_ranks)
    how = run_arguments(options)
    configuration = RunConfiguration.of(how)
    check_parts(how, RUNS)
    check_statistics(statistics, configuration)
    schedule, _ = schedule_from(source, options, simulated_machine(machine, how))
    note_scope(machine, schedule.ranks)
    with time_progress("simulating") as progress:
        timeline = simulate(schedule, machine, record=True, progress=progress, **part_of(how, RUNS[0]))
    with time_progress("differentiating") as progress:
        slopes = sensitivities(schedule, machine, progress=progress, **part_of(how, RUNS[1]))
    if slopes.run is not None:
        write_statistics(slopes.run, statistics, timeline.provenance)

    def tolerance() -> LatencyTolerance | None:
        if no_tolerance:
            return None
        own = part_of(how, RUNS[2])
        with rank_progress("latency tolerance") as progress:
            return latency_tolerance(schedule, machine, most_simulations=most_simulations, progress=progress, **own)

    if as_json:
        print_json(_as_json(timeline, slopes, tolerance()))
        return
    say(f"{heading(schedule, machine)}: {schedule.ranks} ranks finish after {plain_time(timeline.max_finish, 6)}")
    _print_path(timeline)
    _print_sensitivities(slopes, machine)
    _print_waits(timeline)
    output.file.flush()  # a reader at the other end of a pipe gets the lines before the long search
    found = tolerance()
    if found is not None:
        for line in tolerance_in_words(found, one_sided=machine.one_sided is not None):
            say(line)


def _as_json(timeline: Timeline, slopes: Sensitivities, tolerance: LatencyTolerance | None) -> dict[str, object]:
    found: dict[str, object] = {
        "max_finish_ps": timeline.max_finish,
        "critical_path_ps": timeline.path_division(),
        "slopes": {
            "network": slopes.network,
            "node": slopes.node,
            "shared_buffer": slopes.shared_buffer,
            "one_sided": slopes.one_sided,
            "computation_ps": slopes.computation,
        },
        "wait_states": timeline.wait_states(("call",)).to_dict("records"),
        "matching_queues": _queues(timeline),
    }
    if timeline.provenance is not None:
        found |= provenance_entry(timeline.provenance)
    if tolerance is not None:
        found["latency_tolerance"] = tolerance_as_json(tolerance)
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
        (name.replace("_", " "), plain_time(span, 4), f"{100 * span / whole:.1f} %")
        for name, span in timeline.path_division().items()
        if span > 0
    ]
    ranks = path["rank"].nunique()
    say(f"The critical path has {len(path)} steps on {ranks} ranks, and {hops} messages between them:")
    show_table(pd.DataFrame(rows, columns=["spent on", "time", "share"]), "Critical path")


def _print_sensitivities(slopes: Sensitivities, machine: Machine) -> None:
    found = slopes.to_pandas(machine)
    found = found[found["derivative"] > 0].copy()
    found["share"] = ["" if math.isnan(share) else f"{100 * share:.1f} %" for share in found["share"]]
    show_table(found, "By how much the time grows")


def _print_waits(timeline: Timeline) -> None:
    import pandas as pd

    waits = timeline.wait_states(("call",)).sort_values("wait_ps", ascending=False)
    waits["mean_ps"] = waits["wait_ps"] / len(timeline.finish)
    rows = [
        (row["wait_state"], row["call"], row["ops"], *(plain_time(row[w], 4) for w in ("mean_ps", "longest_ps")))
        for row in waits.head(MOST_ROWS).to_dict("records")
    ]
    show_table(pd.DataFrame(rows, columns=["state", "in", "ops", "mean of a rank", "longest"]), "Waits")
    queues = _queues(timeline)
    say(
        f"{queues['unexpected']} of {queues['messages']} messages were unexpected; at most {queues['most_posted']} "
        f"receives were posted and {queues['most_unexpected']} messages unexpected on a rank at one time"
    )
