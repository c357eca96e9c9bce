"""``idlewave measure overtime``: latency, bandwidth and allreduce over hours and days, with the network's counters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..formatting import count_text, percent_text, plain_time, plural, si_text, size_text
from ..measure.overtime import OvertimeRecording, measure_overtime, read_overtime
from ..measure.overtime.settings import HIGHER_IS_BETTER
from ..measure.overtime.summary import moved_counters, summary_of
from ..measure.table_rows import records
from ..measurement_parameters import OvertimeParameters
from ..mpi import find
from ..parameters import parameters_of
from .interrupted_measurement import recording_folder
from .option_types import Lasting, Names, OutputFolder, as_json, print_json, refuse_given
from .parameter_options import option_of
from .rank_options import check_hosts, rank_options
from .terminal import progress_bar, say, say_note, show_table

EXISTING = click.Path(file_okay=False, path_type=Path)
_DECLARED = {name: parameter for name, (_, parameter) in parameters_of(OvertimeParameters).items()}
_SHOWN = 20
"""So many counters are shown, those that grew most beside what they grew in idle phases."""


def _lasting(name: str) -> Lasting:
    declared = _DECLARED[name]
    assert declared.least is not None
    assert declared.most is not None
    return Lasting(declared.least, declared.most)


@click.command()
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Record into this folder, or continue what it has.")
@click.option(
    "--for",
    "seconds",
    type=_lasting("seconds"),
    default=_DECLARED["seconds"].default,
    metavar="TIME",
    help="How long: 90s, 30m, 12h, 2d; it ends after an idle phase, and makes each test at least once.  [default: 60s]",
)
@click.option(
    "--phase",
    type=_lasting("phase"),
    default=_DECLARED["phase"].default,
    metavar="TIME",
    help=f"{_DECLARED['phase'].help}, such as 500ms.  [default: 1s]",
)
@option_of(OvertimeParameters, "idle")
@option_of(OvertimeParameters, "sizes")
@rank_options
@option_of(OvertimeParameters, "peers")
@option_of(OvertimeParameters, "seed")
@click.option(
    "--counters",
    type=Names(),
    metavar="A,B,...",
    help="The sources of counters: net, ethtool, ib, cxi, tcp, ucx, libfabric, papi, plug-ins; or none.  [default: all "
    "that are there]",
)
@click.option("--from", "recorded", type=EXISTING, help="Show a recording instead.")
@as_json
@click.pass_context
def overtime(
    context: click.Context,
    folder: Path | None,
    seconds: float,
    phase: float,
    idle: float,
    sizes: tuple[int, ...],
    ranks: int,
    peers: int,
    hosts: tuple[str, ...] | None,
    seed: int,
    counters: list[str] | None,
    mpiexec: str | None,
    recorded: Path | None,
    as_json: bool,
) -> None:
    """Record latency, bandwidth and allreduce in turn, each followed by an idle phase in which the ranks sleep, and
    what the network's counters grew by in each phase.

    It can run for days: rows are appended to the folder, and memory stays constant. After an interrupt the same command
    continues the recording.
    """
    if recorded is not None:
        measuring = tuple(str(parameter.name) for parameter in context.command.params)
        refuse_given(
            context, tuple(name for name in measuring if name not in ("recorded", "as_json")), "--from measures nothing"
        )
        found = read_overtime(recorded)
    else:
        shown_by = {"overtime.json": "idlewave measure overtime --from"}
        places = check_hosts(context, hosts)
        with recording_folder(folder, shown_by) as place, progress_bar() as progress:
            found = measure_overtime(
                place,
                find(mpiexec),
                hosts=places,
                counters=counters,
                progress=progress,
                ranks=ranks,
                seconds=seconds,
                phase=phase,
                idle=idle,
                sizes=sizes,
                peers=peers,
                seed=seed,
            )
    found.check_phases()
    if as_json:
        print_json(_as_json(found))
    else:
        _show(found)


def _show(found: OvertimeRecording) -> None:
    full = summary_of(found)
    table = full[["test", "phases"]].copy()
    pairs = [
        f"{rank} and {peer}" if peer >= 0 else "all" for rank, peer in zip(full["rank"], full["peer"], strict=True)
    ]
    table.insert(1, "ranks", pairs)
    table.insert(2, "size", full["size"].map(size_text))
    for column in ("median", "low", "high"):
        texts = [
            plain_time(value * 1e12, 3) if test not in HIGHER_IS_BETTER else f"{si_text(value)}B/s"
            for test, value in zip(full["test"], full[column], strict=True)
        ]
        table[{"low": "5 %", "high": "95 %"}.get(column, column)] = texts
    table["95 % / 5 %"] = [f"{value:.2f}" for value in full["range"]]
    show_table(table, "The phases' values: latency by half round trips, allreduce by calls")
    counters = moved_counters(found)
    if len(counters):
        most = counters.assign(more=counters["active"] / (counters["idle"] + 1)).nlargest(_SHOWN, "more")
        shown = most[["counter"]].copy()
        for column in ("active", "idle"):
            shown[f"in {column} phases"] = most[column].map(count_text)
        show_table(shown, f"Counters that grew, {len(shown)} of {len(counters)}")
    _say_load(found)
    for note in found.notes:
        say_note(note)


def _say_load(found: OvertimeRecording) -> None:
    rows, load = found.table, found.said.get("load", {})
    lasted = float(rows["length_ns"].sum())
    runs = len(found.said.get("runs", [])) or 1
    say(f"{plural(len(rows), 'phase')} of {plain_time(lasted * 1000)} in {plural(runs, 'run')}")
    if load.get("active") is not None and load.get("idle") is not None:
        say(
            f"own load of a rank: {percent_text(load['active'])} of a CPU in active phases, "
            f"{percent_text(load['idle'])} in idle ones; of what records, {percent_text(load.get('recorder') or 0.0)}"
        )


def _as_json(found: OvertimeRecording) -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "phases": len(found.table),
        "tests": records(summary_of(found)),
        "counters": records(moved_counters(found)),
        "recording": found.said,
        "notes": found.notes,
    }
