"""The options that all studies of cases have, and what their commands do with them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from ..errors import UsageError
from ..escaping import cut, quote
from ..formatting import plain_time
from ..studies.case_runner import Running, Share, StudyProgress
from ..studies.case_study import CaseStudy
from ..studies.job_array import (
    ARRAY,
    SUBMIT,
    JobArray,
    Scheduler,
    check_cases,
    digest_of_cases,
    read_array,
    write_array,
)
from ..studies.run_study import StudyTable, collect_study, digests_of_tables, run_share_of, run_study
from ..units import parse_count
from .completion import machines
from .option_types import Count, OutputFolder, as_json, print_json
from .progress import doing
from .terminal import errors, progress_bar, say, say_note

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C")
LINE_PERIOD = 60.0
"""Seconds between two lines of progress where the error stream is no terminal, as in the log of a job."""
_OWN = ("folder", "workers", "array", "tasks", "share", "collect", "as_json")
"""The parameters of `case_study_options`."""


def machine_option(default: str, more: str = "") -> Callable[[F], F]:
    """--machine of a study that has a machine of its own unless another is named; `more` is said in its help."""
    return click.option(
        "-m",
        "--machine",
        "machine_name",
        metavar="MACHINE",
        default=default,
        show_default=True,
        shell_complete=machines,
        help=f"The machine: a machine.toml, a folder with one, or a preset. {more}".rstrip(),
    )


def case_study_options(name: str) -> Callable[[F], F]:
    """The options of the study `name`; `run_command` takes their values."""

    def add(command: F) -> F:
        for option in reversed(_options(name)):
            command = option(command)
        return command

    return add


def _options(name: str) -> list[Callable[[Any], Any]]:
    return [
        click.option(
            "-o",
            "--output",
            "folder",
            type=OutputFolder(),
            default=Path(f"study-{name}"),
            show_default=True,
            help="Folder to write: rows as they come, study.parquet, report.html and pictures. What is there already "
            "is not computed again.",
        ),
        click.option(
            "--workers", type=Count(1), help="Cases that run at a time.  [default: one a core, in an array 1]"
        ),
        click.option(
            "--array",
            type=click.Choice([*SUBMIT]),
            help="Write the script of an array of jobs into the folder instead; `idlewave study collect` follows it.",
        ),
        click.option("--tasks", type=Count(1), help="Tasks of the array."),
        click.option(
            "--share",
            metavar="K/N",
            help="Compute the cases whose number modulo N is K, from 0 on, and no table, as a task of the array does.",
        ),
        click.option("--collect", is_flag=True, hidden=True),
        as_json,
    ]


@dataclass(frozen=True)
class CaseStudyOptions:
    """The values of `case_study_options`."""

    folder: Path
    workers: int | None
    array: str | None
    tasks: int | None
    share: str | None
    collect: bool
    as_json: bool

    @property
    def is_for_array(self) -> bool:
        """Whether an array is to be written, or one of its shares computed, and no table."""
        return self.array is not None or self.tasks is not None or self.share is not None


def run_command(
    study: CaseStudy[C], cases: Sequence[C], given: dict[str, Any], show: Callable[[pd.DataFrame], None]
) -> None:
    """What the command of a study does with its cases; `given` has the values of `case_study_options`.

    `show` prints the table.
    """
    options = CaseStudyOptions(**given)
    if options.is_for_array:
        run_for_array(study.name, [StudyTable(study, cases)], options)
        return
    if options.collect:
        table = collect_study(study, cases, options.folder)
    else:
        with _progress(study.name) as show_progress:
            table = run_study(study, cases, options.folder, Running(options.workers, None, show_progress, say_note))
    page = options.folder / "report.html"
    if options.as_json:
        from ..measure.table_rows import records

        print_json({"written": str(page), "rows": records(table)})
        return
    show(table)
    say(f"written: {cut(str(page))}")


def run_for_array(name: str, tables: Sequence[StudyTable[Any]], options: CaseStudyOptions) -> None:
    """Write the array of jobs of the study `name`, or compute the share of a task of it."""
    if (options.array is None) != (options.tasks is None):
        raise UsageError("--array and --tasks belong together")
    if options.array is not None and options.share is not None:
        raise UsageError("expected --array or --share, found both")
    if options.array is not None and options.tasks is not None:
        _write_array(name, tables, options, cast("Scheduler", options.array), options.tasks)
    elif options.share is not None:
        _run_share(name, tables, options, _share_of(options.share))


def _write_array(
    name: str, tables: Sequence[StudyTable[Any]], options: CaseStudyOptions, scheduler: Scheduler, tasks: int
) -> None:
    digests = digests_of_tables(tables)
    cases = len(digests)
    if tasks > cases:
        raise UsageError(f"expected at most as many tasks as cases, {cases:,}, found {tasks:,}")
    array = JobArray(name, _words(), Path.cwd(), tasks, digest_of_cases(digests), options.workers or 1)
    script = write_array(array, options.folder, scheduler)
    if options.as_json:
        print_json({"written": str(script), "cases": cases, "tasks": tasks})
        return
    say(f"written: {cut(str(script))}, {cases:,} cases in {tasks:,} tasks")
    say(f"submit it: {SUBMIT[scheduler]} {cut(str(script))}")
    say(f"then: idlewave study collect {cut(str(options.folder))}")


def _run_share(name: str, tables: Sequence[StudyTable[Any]], options: CaseStudyOptions, share: Share) -> None:
    if (options.folder / ARRAY).is_file():
        check_cases(read_array(options.folder), digests_of_tables(tables), options.folder)
    with _progress(f"{name}, share {share}") as show_progress:
        rows = run_share_of(tables, options.folder, share, Running(options.workers, None, show_progress, say_note))
    if options.as_json:
        print_json({"share": str(share), "written": str(options.folder)})
        return
    say(f"share {share} of {name} is complete: {rows:,} rows")


def _share_of(text: str) -> Share:
    """The share in a text such as 3/8. Raises UsageError."""
    try:
        task, tasks = (parse_count(word) for word in text.split("/"))
    except ValueError:
        raise UsageError(f"expected a share such as 0/8, found {quote(text)}") from None
    return Share(task, tasks)


def _words() -> list[str]:
    """The options and arguments of the present command that say which study this is, as words of a command."""
    context = click.get_current_context()
    found, arguments = list[str](), list[str]()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if not given or parameter.name in _OWN:
            continue
        value = context.params.get(parameter.name or "", True)  # a flag that is none of the function's parameters
        (arguments if isinstance(parameter, click.Argument) else found).extend(_words_of(parameter, value))
    return [*found, *arguments]


def _words_of(parameter: click.Parameter, value: object) -> list[str]:
    """A parameter and its value: an argument by its value, an option by its longest name."""
    if isinstance(parameter, click.Argument):
        return [str(value)]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [max(parameter.opts if value else parameter.secondary_opts, key=len)]
    name = max(parameter.opts, key=len)
    several = value if parameter.multiple and isinstance(value, list | tuple) else [value]
    texts = [",".join(map(str, one)) if isinstance(one, list | tuple) else str(one) for one in several]
    return [word for text in texts for word in (name, text)]


@contextmanager
def _progress(name: str) -> Iterator[Callable[[StudyProgress], None]]:
    """Shows how far a study is: a bar on a terminal, else a line a minute."""
    last = time.monotonic()
    with progress_bar(count=True) as bar, doing(f"the study {name}"):
        task = bar.add_task(name, total=None)

        def show_progress(now: StudyProgress) -> None:
            nonlocal last
            bar.update(task, completed=now.done, total=now.total)
            if sys.stderr.isatty() or time.monotonic() - last < LINE_PERIOD:
                return
            last = time.monotonic()
            left = "" if now.left_s is None else f", about {plain_time(1e12 * now.left_s, 2)} left"
            errors.print(f"{name}: {now.done:,} of {now.total:,} rows{left}")

        yield show_progress
