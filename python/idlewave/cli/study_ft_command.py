"""``idlewave study ft``: NAS FT by messages and by puts, at scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import UsageError
from ..escaping import cut, quote
from ..ft_pattern import EXCHANGES, FT_DOMAINS, FtCosts
from ..measure.table_rows import records
from ..studies.case_runner import Running
from ..studies.ft import measured
from ..studies.ft.settings import LINKS, MOST_LINKS, PROBLEM, RANKS
from ..studies.ft.study import FtStudy, Plan, collect_ft, ft_study, ft_tables
from .case_study_options import CaseStudyOptions, case_study_options, run_for_array
from .completion import machines
from .input_options import load_machine
from .number_lists import counts_from
from .option_types import Count, print_json
from .progress import doing
from .terminal import progress_bar, say, say_note

MOST_NS = 1e6
"""The greatest cost of a point, ns."""


def _chosen(text: str, known: tuple[str, ...], what: str) -> list[str]:
    """The names in a text with commas. Raises UsageError."""
    names = text.split(",")
    for name in names:
        if name not in known or names.count(name) > 1:
            raise UsageError(f"expected {what} of {', '.join(known)}, each once, found {quote(text)}")
    return names


def _text(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _costs(text: str | None) -> FtCosts | None:
    """Four costs of a computation, x, y, z and evolution, or one for all transforms and one for the evolution."""
    if text is None:
        return None
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 4) or not all(0 <= number <= MOST_NS for number in numbers):
        raise UsageError(f"expected the ns of transforms and of the evolution, such as 1.5,10, found {quote(text)}")
    x, y, z, evolution = numbers if len(numbers) == 4 else (*(3 * numbers[:1]), numbers[1])
    return FtCosts(x, y, z, evolution)


@click.command("ft")
@click.option(
    "-m",
    "--machine",
    "machine_name",
    metavar="MACHINE",
    shell_complete=machines,
    help="The measured machine, beside the preset bluegene-p; --measure compares with it.",
)
@click.option(
    "--problem", type=click.Choice([*FT_DOMAINS]), default=PROBLEM, show_default=True, help="Class of the problem."
)
@click.option("--ranks", "sizes", metavar="COUNT,…", default=_text(RANKS), show_default=True, help="Numbers of ranks.")
@click.option(
    "--links",
    metavar="COUNT,…",
    default=_text(LINKS),
    show_default=True,
    help="Links of a node of bluegene-p: all of these on the fewest ranks, the most of them on the others.",
)
@click.option(
    "--exchanges", "ways", metavar="NAME,…", default=",".join(EXCHANGES), show_default=True, help="Exchanges."
)
@click.option(
    "--compute-ns",
    "costs",
    metavar="TRANSFORM,EVOLUTION",
    help="What a rank of the machine computes, ns: for each point and binary logarithm of a line (one number, or three "
    "for x, y and z), and for each point in the evolution.  [default: as in the runs of --measure, or 1,1]",
)
@click.option(
    "--iterations",
    type=Count(1),
    default=1,
    show_default=True,
    help="Iterations to simulate, one after the other; times are those of one, in the mean.",
)
@click.option("--measure", is_flag=True, help="Run FT here, too (examples/ft), and compare it with what is predicted.")
@click.option(
    "--measured-classes",
    "classes",
    metavar="CLASS,…",
    default=",".join(measured.CLASSES),
    show_default=True,
    help="Classes that --measure runs.",
)
@click.option(
    "--measured-ranks",
    "measured_sizes",
    metavar="COUNT,…",
    default=_text(measured.RANKS),
    show_default=True,
    help="Numbers of ranks of these runs.",
)
@click.option("--runs", type=Count(1), default=measured.RUNS, show_default=True, help="Runs of each, alternating.")
@click.option(
    "--mpiexec", metavar="PATH", help="The launcher of the runs.  [default: that of this environment, or in PATH]"
)
@case_study_options("ft")
def study_ft(
    machine_name: str | None,
    problem: str,
    sizes: str,
    links: str,
    ways: str,
    costs: str | None,
    iterations: int,
    measure: bool,
    classes: str,
    measured_sizes: str,
    runs: int,
    mpiexec: str | None,
    **common: Any,  # noqa: ANN401 - of case_study_options
) -> None:
    """Simulate NAS FT by each exchange, on the preset bluegene-p and a measured machine, and write a report.

    Which exchange is the fastest, how much of the communication it hides, and what the others lose. What is in the
    folder from an earlier call is not done again.
    """
    options = CaseStudyOptions(**common)
    if measure and (options.is_for_array or options.collect):
        raise UsageError("--measure runs FT here, and an array of jobs elsewhere: expected one of the two")
    if measure and machine_name is None:
        raise UsageError("--measure compares with the measured machine: expected --machine")
    numbers = sorted(counts_from(links, "numbers of links", 1, such_as=4))
    if numbers[-1] > MOST_LINKS:
        raise UsageError(f"expected up to {MOST_LINKS} links, found {numbers[-1]}")
    plan = Plan(
        machine=None if machine_name is None else load_machine(machine_name),
        costs=_costs(costs),
        problem=problem,
        ranks=sorted(counts_from(sizes, "numbers of ranks", 1, such_as=4)),
        links=numbers,
        exchanges=_chosen(ways, EXCHANGES, "exchanges"),
        iterations=iterations,
        measure=measure,
        mpiexec=mpiexec,
        classes=_chosen(classes, tuple(FT_DOMAINS), "classes"),
        measured_ranks=sorted(counts_from(measured_sizes, "numbers of ranks", 1, such_as=4)),
        runs=runs,
    )
    if options.is_for_array:
        run_for_array("ft", ft_tables(plan), options)
        return
    if options.collect:
        study = collect_ft(plan, options.folder)
    else:
        study = _with_progress(plan, options.folder, options.workers)
    _show(study, options)


def _show(study: FtStudy, options: CaseStudyOptions) -> None:
    """Write the page, and print its findings, or all tables as JSON."""
    with doing("drawing figures"):
        from ..report.ft_page import build_ft_page

        page, findings = build_ft_page(study, options.folder)
    if options.as_json:
        found = {"rows": study.rows, "losses": study.losses, "compared": study.compared}
        tables = {name: records(table) for name, table in found.items()}
        print_json({"written": str(page), "findings": [list(item) for item in findings], **tables})
        return
    for topic, text in findings:
        say(f"• {topic}: {text}")
    say(f"written: {cut(str(page))}")


def _with_progress(plan: Plan, folder: Path, workers: int | None) -> FtStudy:
    with progress_bar(count=True) as progress, doing("the study of FT"):
        task = progress.add_task("study", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(task, completed=done, total=total, description=what)

        return ft_study(plan, folder, show, Running(workers, on_note=say_note))
