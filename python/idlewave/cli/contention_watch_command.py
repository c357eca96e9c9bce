"""``idlewave contention watch``: a trained detector is applied to a running job."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import IdlewaveError, UsageError
from ..escaping import cut
from ..exit_status import FAILED, say_error
from ..formatting import join_words, plain_percent, plural
from .option_types import Count, Lasting, OutputFile, as_json, print_json
from .terminal import say, say_note

if TYPE_CHECKING:
    from ..child_processes import Child
    from ..contention.sampling import ProbeCore
    from ..contention.watch import Watch, WatchedInterval

LOOKS = 10
"""In so many intervals it is looked whether the command has come to the probe's core."""
MODEL = click.Path(dir_okay=False, exists=True, path_type=Path)


@click.command()
@click.option("--pid", type=Count(1, 2**31 - 1), help="Watch this process, until it ends.")
@click.option(
    "--for",
    "seconds",
    type=Lasting(0.001, 1e9),
    metavar="TIME",
    help="End the watch after this time, such as 90s or 12h; a command is waited for.",
)
@click.option(
    "--interval",
    default=1.0,
    type=Lasting(0.001, 3600),
    metavar="TIME",
    help="Time of an interval, such as 500ms.  [default: 1s]",
)
@click.option(
    "--set", "feature_set", default="", help="The feature set whose alarms count: l1, l2 or l3 (default: the best)."
)
@click.option(
    "--victim", default="", help="Compare with the iterations without traffic of this victim of the model, such as cg."
)
@click.option(
    "--calibrate",
    default=0,
    type=Count(0, 10**6),
    help="Number of first intervals, which have to be quiet, that give the baseline.",
)
@click.option("-o", "--output", "target", type=OutputFile(), help="Append a row an interval (JSON lines).")
@as_json
@click.argument("model", type=MODEL)
@click.argument("words", metavar="[-- COMMAND]...", nargs=-1)
def watch(
    model: Path,
    pid: int | None,
    seconds: float | None,
    interval: float,
    feature_set: str,
    victim: str,
    calibrate: int,
    target: Path | None,
    as_json: bool,
    words: tuple[str, ...],
) -> int:
    """Apply a MODEL to a running job: COMMAND behind --, the process of --pid, or whatever runs for the time of --for.

    COMMAND is started on other cores than the probe's, if there are others. Each interval is printed with the
    probability of traffic. The exit status is that of the command; if that is 0 and the watch failed, 1.
    """
    from ..contention.forest import Detector
    from ..contention.sampling import core_beside_command, core_beside_process, sample_probes
    from ..contention.watch import Watch

    if (pid is not None) and words:
        raise UsageError("--pid watches a process, and a command starts one: expected one of them")
    if pid is None and not words and seconds is None:
        raise UsageError("expected a command behind --, --pid, or --for: else nothing ends the watch")
    watched = Watch(Detector.load(model), feature_set, victim, calibrate)
    core = core_beside_command() if words else core_beside_process(pid)
    with ExitStack() as stack:
        results = stack.enter_context(_results(target, watched.chosen_set, prints=not as_json, goes_on=bool(words)))
        job = stack.enter_context(_job(words, pid, core, as_json=as_json))
        say_note(_core_text(core, pid))
        limit = _TimeLimit(math.inf if seconds is None else seconds)
        intervals = watched.intervals(
            sample_probes, interval_s=interval, cpu=core.probe, runs=lambda: job.runs() and not limit.over()
        )
        results.take_all(intervals, job.look)
        status = job.end()
        results.close()
    with results.failure_said("the summary is not printed"):
        _conclude(watched, results, job, status, limit, as_json=as_json)
    return status or (FAILED if results.failures else 0)


class _TimeLimit:
    """The time for which a watch lasts at most."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._end


LINES, ROWS = "intervals are printed no more", "no more rows are written"
"""Where intervals go, by what is said when they cannot go there any more."""


@dataclass
class _Results:
    """Where intervals go as they end, and how many there were of which kind.

    A failure of the watch is raised, unless a command `goes_on` without it: then it is said, once, and `failures` has
    what was said.
    """

    sinks: dict[str, Callable[[WatchedInterval], None]]
    closes: Callable[[], None]
    goes_on: bool
    chosen_set: str
    intervals: int = 0
    judged: int = 0
    """The intervals of which the chosen set says something."""
    alarms: int = 0
    calibrating: int = 0
    missing: int = 0
    failures: list[str] = field(default_factory=list)

    def take_all(self, intervals: Generator[WatchedInterval], look: Callable[[WatchedInterval], None]) -> None:
        """Count the intervals, and pass them on as they end, also to `look`; then the probe has ended."""
        with self.failure_said("the watch ends, which does not end the job"), closing(intervals):
            for found in intervals:
                self.intervals += 1
                self.judged += math.isfinite(found.probabilities[self.chosen_set])
                self.alarms += found.alarm
                self.calibrating += found.calibrating
                self.missing += bool(found.missing)
                for consequence, take in [*self.sinks.items()]:
                    with self.failure_said(f"{consequence}, which does not end the job", consequence):
                        take(found)
                look(found)

    def close(self) -> None:
        """Close the file of rows."""
        with self.failure_said("the last rows may be missing"):
            self.closes()

    @contextmanager
    def failure_said(self, consequence: str, sink: str = "") -> Iterator[None]:
        """Say a failure in the block with what follows from it; a `sink` that failed gets no more intervals."""
        try:
            yield
        except (IdlewaveError, OSError) as error:
            if not self.goes_on:
                raise
            what = "standard output: nobody reads it" if isinstance(error, BrokenPipeError) else str(error)
            self.failures.append(f"{what}; {consequence}")
            say_error(self.failures[-1])
            self.sinks.pop(sink, None)


@contextmanager
def _results(target: Path | None, chosen_set: str, *, prints: bool, goes_on: bool) -> Iterator[_Results]:
    """Intervals go to the file `target`, and, if it `prints`, are printed with the alarms of the chosen set."""
    from ..appended_rows import AppendedRows

    sinks: dict[str, Callable[[WatchedInterval], None]] = {}
    if prints:
        sinks[LINES] = lambda found: say(_line(found, chosen_set))
    if target is None:
        yield _Results(sinks, lambda: None, goes_on, chosen_set)
        return
    with AppendedRows(target, "interval") as rows:
        if rows.removed:
            say_note(f"{target}: its last line was unfinished, and is removed")
        sinks[ROWS] = lambda found: rows.append(found.as_row())
        yield _Results(sinks, rows.close, goes_on, chosen_set)


def _line(found: WatchedInterval, chosen: str) -> str:
    shown = " ".join(
        f"{name} {'  –  ' if math.isnan(value) else f'{value:.3f}'}" for name, value in found.probabilities.items()
    )
    verdict = "quiet baseline" if found.calibrating else f"ALARM ({chosen})" if found.alarm else ""
    clock = time.strftime("%H:%M:%S", time.localtime(found.at))
    return f"{clock}  interval {found.interval}: {shown}  {verdict}".rstrip()


def _core_text(core: ProbeCore, pid: int | None) -> str:
    """Where the probe samples, and whether the job may use that core."""
    probe = f"the probe samples on core {core.probe}"
    if core.job is None:
        return f"{probe}, which whatever is watched may use, too"
    if pid is not None:
        return f"{probe}, which process {pid} may {'use, too' if core.shared else 'not use'}"
    if core.shared:
        return f"{probe}, and so does the command run: this process may use no other"
    return f"{probe}, and the command is started on {_cores_text(core.job)}"


def _cores_text(cores: tuple[int, ...]) -> str:
    """ "core 3", "cores 0 to 2 and 5"."""
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return f"core{'s' if len(cores) > 1 else ''} {join_words(texts)}"


class _Job:
    """What is watched: a command, a process, or nothing that ends."""

    def __init__(self, core: ProbeCore, child: Child | None, runs: Callable[[], bool]) -> None:
        self.core, self.runs = core, runs
        self.shared = core.shared
        """Whether it may use the probe's core, too, as far as that was seen."""
        self._child = child

    def look(self, found: WatchedInterval) -> None:
        """In the first intervals, say it if a process of the command may use the probe's core: launchers bind theirs
        to cores of their own choice."""
        from ..contention.sampling import descendant_on

        if self._child is None or self.shared or found.interval >= LOOKS:
            return
        process = descendant_on(self._child.pid, self.core.probe)
        if process is not None:
            self.shared = True
            say_note(f"process {process} of the command may use core {self.core.probe}, that of the probe, too")

    def end(self) -> int:
        """Wait for the end of the command; returns its exit status as a shell has it, 0 without a command."""
        if self._child is None:
            return 0
        if self._child.poll() is None:
            say_note("the watch has ended, and the job goes on: its end is awaited")
        status = self._child.wait()
        return status if status >= 0 else 128 - status


@contextmanager
def _job(words: tuple[str, ...], pid: int | None, core: ProbeCore, *, as_json: bool) -> Iterator[_Job]:
    from ..child_processes import Child
    from ..contention.sampling import bound_to
    from ..contention.watch import process_runs

    if not words:
        yield _Job(core, None, (lambda: True) if pid is None else process_runs(pid))
        return
    try:
        assert core.job
        with bound_to(core.job):
            child = Child.start(words, stdout=2 if as_json else None)
    except OSError as error:
        raise UsageError(f"{cut(words[0])}: cannot be started: {error.strerror}") from error
    with child:
        yield _Job(core, child, lambda: child.poll() is None)


def _conclude(watched: Watch, results: _Results, job: _Job, status: int, limit: _TimeLimit, *, as_json: bool) -> None:
    if not results.intervals and not results.failures:
        say_note(f"the {'watch' if limit.over() else 'job'} ended before the first interval did")
    if results.missing:
        say_note(f"in {plural(results.missing, 'interval')} values could not be sampled")
    level = watched.detector.alarm_level
    if as_json:
        counts = {name: getattr(results, name) for name in ("intervals", "judged", "alarms", "calibrating", "missing")}
        about = {"set": watched.chosen_set, "alarm_level": level, "core": job.core.probe, "shared_core": job.shared}
        print_json({**counts, **about, "failures": results.failures, "exit_status": status})
    elif LINES in results.sinks:
        alarms = f"{results.alarms} of {plural(results.judged, 'interval')} raised an alarm"
        say(f"{alarms}; at most {plain_percent(level)} of quiet ones like the model's do")
