"""``idlewave check-allocation``: before a job's program, whether its nodes fit what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..formatting import plain, plain_percent
from ..overtime.brief_measurement import measure_allocation, seconds_needed
from ..overtime.defaults import PROBABILITY, SECONDS
from ..overtime.needs import EXAMPLE, parse_needs
from .option_types import FiniteRange, Lasting, as_json, print_json, refuse_given
from .progress import doing
from .rank_options import check_hosts, rank_options
from .terminal import say, say_note, show_table

if TYPE_CHECKING:
    from ..measure.overtime.recording import OvertimeRecording
    from ..overtime.allocation import Verdict

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
UNFIT = 1


@click.command("check-allocation")
@click.option(
    "--needs",
    required=True,
    metavar="NEED,…",
    help=f"What the job needs, such as '{EXAMPLE}'; bandwidth@64KiB>1GB/s names a size of messages.",
)
@click.option(
    "--history",
    type=FOLDER,
    multiple=True,
    help="A recording of idlewave measure overtime on this machine (may be repeated).",
)
@click.option(
    "--for",
    "seconds",
    type=Lasting(seconds_needed(1), 86_400.0),
    default=SECONDS,
    metavar="TIME",
    help=f"How long to measure, such as 20s or 1m.  [default: {SECONDS:g}s]",
)
@rank_options
@click.option("--from", "recorded", type=FOLDER, help="Judge a recording instead, by its last level.")
@click.option(
    "--probability",
    type=FiniteRange(0.0, 1.0, min_open=True, max_open=True),
    default=PROBABILITY,
    show_default=True,
    help="The probability with which each need has to hold over the next hour.",
)
@as_json
@click.pass_context
def check_allocation(
    context: click.Context,
    needs: str,
    history: tuple[Path, ...],
    seconds: float,
    ranks: int,
    hosts: tuple[str, ...] | None,
    mpiexec: str | None,
    recorded: Path | None,
    probability: float,
    as_json: bool,
) -> int:
    """Measure an allocation briefly, and say whether it fits a job's needs over the next hour.

    Rank 0 exchanges with each other rank; where the time of --for is too short for that, with as many as there is time
    for, which is said.

    The exit status is 0 if it fits, 1 if it does not (or an error prevents the answer), 2 for wrong use.
    """
    wanted = parse_needs(needs)
    if recorded is not None:
        refuse_given(context, ("seconds", "ranks", "hosts", "mpiexec"), "--from measures nothing")
    places = check_hosts(context, hosts)
    from ..measure.overtime.recording import read_overtime
    from ..overtime.allocation import check_allocation as check

    past = [read_overtime(folder) for folder in history]
    if recorded is not None:
        now = read_overtime(recorded)
    else:
        from ..mpi import find

        with doing("measuring the allocation"):
            now = measure_allocation(wanted, seconds, ranks, hosts=places, mpi=find(mpiexec))
    found = check(wanted, now, past, probability=probability)
    notes = list(dict.fromkeys([*found.notes, *(note for one in past for note in one.notes)]))
    if as_json:
        print_json(_as_json(found, now, notes))
    else:
        _show(found, now, notes)
    return 0 if found.fit else UNFIT


def _as_json(found: Verdict, now: OvertimeRecording, notes: list[str]) -> dict[str, object]:
    from ..measure.table_rows import records
    from ..overtime.wording import unfit_sentences

    return {
        "fit": found.fit,
        "because": [plain(sentence) for sentence in unfit_sentences(found, _hosts(now))],
        "probability": found.probability,
        "interval": [found.low, found.high],
        "decides": found.decides,
        "needs": records(found.needs),
        "measured": now.name,
        "notes": notes,
    }


def _show(found: Verdict, now: OvertimeRecording, notes: list[str]) -> None:
    from ..overtime.wording import need_rows, unfit_sentences

    show_table(need_rows(found.needs), "Needs, by the worst pair of ranks")
    for note in notes:
        say_note(note)
    for sentence in unfit_sentences(found, _hosts(now)):
        say(f"• {sentence}")
    interval = f"{plain_percent(found.low)} to {plain_percent(found.high)}"
    subject, most = ("it holds", "") if len(found.needs) == 1 else ("all needs hold", "at most ")
    probability = f"{most}{plain_percent(found.probability)} ({interval})"
    verdict = "fit" if found.fit else "unfit"
    say(
        f"{verdict}: {found.decides} decides; the probability that {subject} over the next hour is {probability}",
        bold=True,
    )


def _hosts(now: OvertimeRecording) -> list[str]:
    return [str(host) for host in now.said.get("hosts", [])]
