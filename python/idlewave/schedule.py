"""A schedule: what each rank computes, sends and receives, and in which order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, get_args

from . import _core, memory_needs
from .algorithm_rules import AlgorithmRule, core_rules
from .cold_caches import ColdCaches, core_of
from .digests import Files
from .errors import InputError, UsageError
from .escaping import name_of, quote
from .formatting import unknown_name
from .input.files import at_hand
from .lazy_provenance import LazyProvenance, of_extrapolation, of_file, of_jobs, of_structure, of_text, of_trace
from .memory_limits import memory_for
from .output import make_folder
from .parameters import parameters_of, takes
from .pattern_options import (
    MOST_RANKS,
    PATTERNS,
    AllPatternParameters,
    FtExchange,
    FtParameters,
    FtProblem,
    PatternOptions,
    PatternParameters,
    TraceParameters,
)
from .provenance import Provenance
from .structure import Computation, Structure
from .timed_calls import TimedCalls

if TYPE_CHECKING:
    import pandas as pd

    from .jobs import Job
    from .trace import Trace

FORMATS = tuple(_core.ScheduleFormat.__members__)
"""The file formats of schedules: GOAL text, LogGOPSim's binary, Idlewave's binary (docs/goal-format.md)."""

EXTENSIONS = {".goal": "goal", ".bin": "loggopsim", ".idg": "idg"}

COMMENTED = ("goal",)
"""The formats that can carry provenance."""

ALGORITHM_COLUMNS = ("collective", "name", "source")
PATTERN_COLUMNS = ("name", "does", "options", "source")

DIMENSIONS = 3
"""The dimensions of the largest grid on which ranks can lie."""

RankProgress = Callable[[int, int], object]
"""Is called from time to time with the number of ranks done, and of all ranks."""


class Schedule:
    """The ops of each rank: in memory (GOAL), or made on demand (a traced program, a pattern). Immutable.

    Make one with `load`, `from_goal`, `from_trace` or `pattern`.
    """

    def __init__(
        self,
        core: _core.Graph | _core.Program | _core.ThreadedProgram | _core.Composition,
        name: str,
        made: tuple[str, tuple[Any, ...]],
        lazy_provenance: LazyProvenance,
        *,
        smaller: Sequence[Schedule] | None = None,
        computation: Computation = "fitted",
        structure: Structure | None = None,
    ) -> None:
        self._core = core
        self.name = name
        self._made = made
        self.lazy_provenance = lazy_provenance
        self._smaller = smaller
        self._computation = computation
        self.structure = structure

    def __reduce__(self) -> tuple[Callable[..., Schedule], tuple[Any, ...]]:
        return _make_again, self._made

    @classmethod
    def load(cls, path: str | Path, *, progress: RankProgress | None = None) -> Schedule:
        """Read a schedule: GOAL text, LogGOPSim's binary or Idlewave's binary; the content decides.

        Raises InputError that names file, line and column, or byte, rank and op, what was expected and what found.
        """
        place = Path(path).absolute()
        lazy_provenance = of_file(str(path), Files([place]))
        with memory_for(f"reading {name_of(str(path))}"), at_hand(path, "a schedule") as file:
            core = _core.read_schedule(file, progress)
        return cls(core, str(path), ("load", (place,)), lazy_provenance)

    @classmethod
    def from_goal(cls, text: str, *, name: str = "GOAL") -> Schedule:
        """Read GOAL text; messages call it `name`."""
        with memory_for(f"reading {name_of(name)}"):
            return cls(_core.read_goal(text, name), name, ("from_goal", (text, name)), of_text(name, text))

    @classmethod
    @takes(TraceParameters)
    def from_trace(
        cls,
        trace: Trace | str | Path,
        *,
        algorithms: Mapping[str, str] | None = None,
        rules: Sequence[AlgorithmRule] = (),
        cold_caches: ColdCaches | None = None,
        **options: Unpack[TraceParameters],
    ) -> Schedule:
        """The traced program: computation from the times between calls, messages with the dependencies of MPI,
        collectives replaced by algorithms.

        `algorithms` chooses them by name ({"allreduce": "ring"}); `idlewave.algorithms()` lists them. `rules`, such as
        `machine.algorithm_rules`, choose for the other collectives whose ranks have equal counts. `cold_caches`,
        such as `machine.cold_caches`, are the extra time of messages after a computation; None: there is none.
        Raises InputError naming rank and call if the trace is incomplete, unless it may be cut, or has a call that
        cannot be simulated, or naming the time of `cold_caches` that cannot be.
        """
        from .computation_options import core_of as computation_core
        from .run_points import run_point
        from .trace import Trace

        reduction_cost = options["reduction_cost"]
        if not isinstance(trace, Trace):
            trace = Trace.load(trace)
        with memory_for(f"making a schedule of {name_of(str(trace.directory))}"):
            core = _core.convert(
                trace.core(),
                dict(algorithms or {}),
                reduction_cost,
                core_rules(rules),
                core_of(cold_caches),
                options["wildcards"] != "keep",
                options["gaps"] == "wall",
                options["cut"],
                run_point(options["begin"], "begin"),
                run_point(options["end"], "end"),
                computation_core(options),
            )
        made = (dict(algorithms or {}), tuple(rules), cold_caches, options)
        name = str(trace.directory)
        again = ("from_trace", (Path(trace.directory).absolute(), *made))
        return cls(core, name, again, of_trace(name, trace.lazy_provenance, *made))

    @classmethod
    @takes(AllPatternParameters)
    def pattern(
        cls, name: str, *, ranks: int, rules: Sequence[AlgorithmRule] = (), **options: Unpack[AllPatternParameters]
    ) -> Schedule:
        """One pattern: a collective operation (barrier, bcast, reduce, allreduce, gather, scatter, allgather,
        alltoall, reduce_scatter, scan, exscan), "dissemination", which is the barrier of that name, a halo exchange
        (halo1d, halo2d, halo3d), a wavefront (sweep), slabs that are exchanged (slabs_two_sided, …), NAS FT (ft), or
        "compute"; `idlewave.patterns()` lists them.

        `bytes` is the size of the vector, or of the part of a rank, as MPI counts it for the call. `rules`, such as
        `machine.algorithm_rules`, choose the algorithm of a collective that is given none. Raises UsageError that names
        an option out of range, InputError that lists the known names for an unknown name.
        """
        from .jobs import Job, Operation

        given: dict[str, Any] = dict(options)
        ft = {option: given.pop(option) for option in parameters_of(FtParameters)}
        own = PatternOptions(**{option: given.pop(option) for option in parameters_of(PatternParameters)})
        job = _ft_job(ranks, own.dims, **ft) if name == "ft" else Job(ranks, [Operation(name, **given, options=own)])
        return cls.compose([job], name=name, rules=rules)

    @classmethod
    def compose(
        cls,
        jobs: Sequence[Job],
        *,
        ranks: int = 0,
        name: str = "composition",
        rules: Sequence[AlgorithmRule] = (),
    ) -> Schedule:
        """Jobs beside each other on a machine of `ranks` ranks (0: as many as they need), made on the fly.

        Each job is a sequence of operations. Ranks without a job do nothing. `rules` choose the algorithms of
        collectives that are given none and whose ranks have equal counts. Raises UsageError if a number has no meaning,
        InputError if a name is unknown or two jobs share a rank.
        """
        if not jobs:
            raise UsageError("expected at least one job")
        with memory_for("composing jobs"):
            chosen = core_rules(rules)
            core = _core.compose([job.core(chosen) for job in jobs], ranks)
        made = (list(jobs), ranks, name, tuple(rules))
        return cls(core, name, ("compose", made), of_jobs(name, jobs, ranks, rules))

    @property
    def provenance(self) -> Provenance:
        """Its provenance. Large files are read for their digest when it is first needed."""
        return self.lazy_provenance.provenance

    def identity(self) -> str:
        """The digest of its content, `provenance.digests["content"]`; schedules with the same digest are the same.

        Raises InputError if the files that it was made from were removed or changed.
        """
        content = self.provenance.digests.get("content")
        if content is None:
            problem = self.provenance.options["unknown"]
            raise InputError(f"{name_of(self.name)}: its files can no longer be read: {problem}")
        return content

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return int(self._core.ranks)

    @property
    def wildcard_receives(self) -> int:
        """The number of receives of the traced run that named no source; 0 if it was made of no trace."""
        return int(getattr(self._core, "wildcard_receives", 0))

    @property
    def unknown_receives(self) -> int:
        """The number of receives without a source whose message the trace does not have, as an imported one may not;
        they take the first with their tag that comes."""
        return int(getattr(self._core, "unknown_receives", 0))

    @cached_property
    def collectives(self) -> dict[str, dict[str, int]]:
        """Of the schedule of a trace how many collectives follow which algorithm, by collective: {"allreduce":
        {"recursive_doubling": 120, "ring": 3}}. A call of all ranks of a communicator is one; those of windows and
        files are among them. Empty for other schedules, and for one that was continued by its structure."""
        found: dict[str, dict[str, int]] = {}
        uses = self._core.collective_uses() if hasattr(self._core, "collective_uses") else ()
        for collective, algorithm, calls in uses:
            found.setdefault(collective, {})[algorithm] = calls
        return found

    @property
    def cut(self) -> tuple[int, int] | None:
        """How many calls it is made of, and how many were recorded, if it was made of a trace that ended early or of a
        stretch of one (`begin`, `end`)."""
        used, recorded = getattr(self._core, "cut", (0, 0))
        return (int(used), int(recorded)) if recorded else None

    @property
    def one_sided(self) -> TimedCalls:
        """The puts, gets and accumulates of the traced run, which have no messages here; the time is that of locks and
        flushes, too. Without calls if it was made of no trace."""
        return self._timed_calls("one_sided")

    @property
    def files(self) -> TimedCalls:
        """The same of the calls of files."""
        return self._timed_calls("files")

    def _timed_calls(self, name: str) -> TimedCalls:
        calls, size, ns = getattr(self._core, name, (0, 0, 0))
        return TimedCalls(int(calls), int(size), ns / 1e9)

    @property
    def least_ops(self) -> int:
        """A lower bound of the number of ops of all ranks, without making them: 0 for a pattern."""
        return int(getattr(self._core, "least_ops", 0) or getattr(self._core, "ops", 0))

    def by_structure(self, smaller: Sequence[Schedule] = (), *, computation: Computation = "fitted") -> Schedule:
        """The same traced program, which `extrapolate` continues by its structure instead of by copies.

        `smaller` are schedules of traces of the same program on fewer ranks. Whom a rank exchanges messages with is
        recognised in this schedule: neighbours on a grid of one to three dimensions, partners in a hypercube or a
        transpose, all others in turn, parents and children in a binary tree, or rank 0 and its workers. Each of
        `smaller` must be what that structure gives for its number of ranks, call by call. Sizes follow laws of the
        grid, to the byte or else to 5 %. With `computation="fitted"` so does computation, to 30 %; with "traced" it
        stays as in this schedule. Raises UsageError if a schedule is of no trace, or one of `smaller` has as many ranks
        or more.
        """
        for schedule in (self, *smaller):
            _check_traced(schedule)
            core = schedule.core()
            if isinstance(core, _core.ThreadedProgram):
                raise InputError(
                    f"{name_of(schedule.name)}: rank {core.first_threaded_rank} calls MPI in several threads: expected "
                    "one thread a rank, to continue a program by its structure; copies of the ranks can be simulated"
                )
        for schedule in smaller:
            if schedule.ranks >= self.ranks:
                raise UsageError(
                    f"expected smaller runs than that with {self.ranks} ranks, found {name_of(schedule.name)} with "
                    f"{schedule.ranks}"
                )
        if computation not in get_args(Computation):
            raise UsageError(unknown_name("computation", computation, get_args(Computation)))
        made = ("by_structure", (self, tuple(smaller), computation))
        return Schedule(
            self._core, self.name, made, self.lazy_provenance, smaller=tuple(smaller), computation=computation
        )

    def extrapolate(self, ranks: int, *, dims: Sequence[int] = ()) -> Schedule:
        """The same program on more ranks: copies of the traced ranks side by side, or after `by_structure` its
        structure continued.

        Copies: point-to-point messages stay inside a copy. A collective of all traced ranks spans all copies; a
        collective of some of them stays inside its copy. Computation is as it was traced (weak scaling, as in
        LogGOPSim).

        Structure: `dims` are the ranks along each dimension; if there are none, the grid is as near to a square as the
        traced ones are. `structure` of the result says what was found.

        Raises UsageError if this is no traced program, or `ranks` no multiple of the traced ranks for copies;
        InputError that says what does not fit if no structure was recognised, or a size or a time follows no law.
        """
        _check_traced(self)
        if not 1 <= ranks <= MOST_RANKS:
            raise UsageError(f"expected 1 to {MOST_RANKS} ranks, found {ranks}")
        if self._smaller is not None:
            return self._continued(ranks, self._smaller, tuple(dims))
        base = int(self._core.base_ranks)  # type: ignore[union-attr]
        if ranks < base or ranks % base:
            raise UsageError(f"expected a multiple of the {base} traced ranks, found {ranks}")
        if dims:
            raise UsageError("copies of the traced ranks lie on no grid; dims belong to by_structure")
        with memory_for(f"extrapolating {name_of(self.name)} to {ranks:,} ranks"):
            core, made = self._core.copies(ranks // base), ("extrapolate", (self, ranks))  # type: ignore[union-attr]
        return Schedule(core, self.name, made, of_extrapolation(self.name, self.lazy_provenance, ranks))

    def _continued(self, ranks: int, smaller: Sequence[Schedule], dims: tuple[int, ...]) -> Schedule:
        if len(dims) > DIMENSIONS or any(extent < 1 for extent in dims) or (dims and math.prod(dims) != ranks):
            raise UsageError(f"expected dims whose product is {ranks}, found {' x '.join(map(str, dims))}")
        grid = [*dims, *[1] * (DIMENSIONS - len(dims))] if dims else [0] * DIMENSIONS
        runs = [cast("_core.Program", schedule.core()) for schedule in (*smaller, self)]
        with memory_for(f"extrapolating {name_of(self.name)} to {ranks:,} ranks"):
            found = _core.extrapolate(runs, ranks, grid, self._computation == "fitted")
        sources = [schedule.lazy_provenance for schedule in (self, *smaller)]
        return Schedule(
            found.program,
            self.name,
            ("continued", (self, ranks, dims)),
            of_structure(self.name, sources, {"ranks": ranks, "dims": list(dims), "computation": self._computation}),
            structure=Structure.of(found),
        )

    def to_goal(self) -> str:
        """The schedule written out as GOAL text."""
        with memory_for(
            f"writing the GOAL text of {self.ranks:,} ranks", memory_needs.goal_text(self.ranks, self.least_ops)
        ):
            return self._core.to_goal()

    def save(self, path: str | Path, *, to: str | None = None, progress: RankProgress | None = None) -> None:
        """Write the schedule in the format `to`, one of `FORMATS` (default: by the extension, `.goal`, `.bin` for
        LogGOPSim, or `.idg`).

        GOAL text has its provenance in a comment; the binary formats have none. The file is complete or not there at
        all; folders are made. Raises UsageError if the format is unknown, InputError if the file cannot be written.
        """
        form = format_for(path, to)
        make_folder(Path(path).absolute().parent)
        said = self.provenance.written(by="idlewave.Schedule.save").to_json() if form in COMMENTED else ""
        with memory_for(f"writing {name_of(str(path))}"):
            self._core.save(str(path), _core.ScheduleFormat[form], progress, said)

    def core(self) -> _core.Graph | _core.Program | _core.ThreadedProgram | _core.Composition:
        """The schedule as the compiled core sees it."""
        return self._core


def _check_traced(schedule: Schedule) -> None:
    if schedule.structure is not None:
        raise UsageError(f"{name_of(schedule.name)} was continued by its structure; continue the schedule of its trace")
    if not isinstance(schedule.core(), _core.Program | _core.ThreadedProgram):
        raise UsageError(
            f"{name_of(schedule.name)} is a fixed schedule of {schedule.ranks} ranks; only a trace can be extrapolated"
        )


def _make_again(how: str, arguments: tuple[Any, ...]) -> Schedule:
    """Make a schedule again in another process, from what it was made of."""
    if how == "by_structure":
        schedule, smaller, computation = arguments
        return schedule.by_structure(smaller, computation=computation)  # type: ignore[no-any-return]
    if how == "continued":
        schedule, ranks, dims = arguments
        return schedule.extrapolate(ranks, dims=dims)  # type: ignore[no-any-return]
    if how == "extrapolate":
        schedule, ranks = arguments
        return schedule if schedule.ranks == ranks else schedule.extrapolate(ranks)  # type: ignore[no-any-return]
    if how == "from_goal":
        text, name = arguments
        return Schedule.from_goal(text, name=name)
    if how == "from_trace":
        directory, chosen, rules, cold, options = arguments
        return Schedule.from_trace(directory, algorithms=chosen, rules=rules, cold_caches=cold, **options)
    if how == "compose":
        jobs, ranks, name, rules = arguments
        return Schedule.compose(jobs, ranks=ranks, name=name, rules=rules)
    return Schedule.load(*arguments)


def algorithms() -> pd.DataFrame:
    """The algorithms of collective operations: collective, name, source (the paper or MPI that it follows).

    The first one of each collective is the default.
    """
    import pandas as pd

    return pd.DataFrame(algorithm_rows(), columns=list(ALGORITHM_COLUMNS))


def algorithm_rows() -> list[tuple[str, str, str]]:
    """The rows of the table that `algorithms` returns."""
    return _core.algorithms()


def _ft_job(
    ranks: int,
    grid: Sequence[int],
    *,
    problem: FtProblem,
    exchange: FtExchange,
    iterations: int,
    transform_ns: float,
    point_ns: float,
) -> Job:
    from .ft_pattern import FtCosts, ft_job, ft_shape

    return ft_job(
        ft_shape(problem, ranks, grid),
        exchange,
        iterations,
        FtCosts(transform_ns, transform_ns, transform_ns, point_ns),
    )


def patterns() -> pd.DataFrame:
    """The patterns: name, does (in a sentence), options (its own, beside ranks and the algorithm of a collective),
    source (the program or paper that it follows; the algorithms of a collective have their own).
    """
    import pandas as pd

    return pd.DataFrame(pattern_rows(), columns=list(PATTERN_COLUMNS))


def pattern_rows() -> list[tuple[str, str, str, str]]:
    """The rows of the table that `patterns` returns."""
    sources = {name: source for name, _, source in _core.patterns()}
    return [(name, does, ", ".join(options), sources.get(name, "")) for name, (does, options) in PATTERNS.items()]


def format_for(path: str | Path, to: str | None = None) -> str:
    """The format in which to write `path`: `to`, or the one of its extension. Raises UsageError."""
    if to is None:
        to = EXTENSIONS.get(Path(path).suffix)
        if to is None:
            known = ", ".join(f"{extension} ({name})" for extension, name in EXTENSIONS.items())
            raise UsageError(f"{path}: expected an extension of a known format, {known}, or the format's name")
    if to not in FORMATS:
        raise UsageError(f"expected a format of {', '.join(FORMATS)}, found {quote(to)}")
    return to


def convert(
    source: str | Path, target: str | Path, *, to: str | None = None, progress: RankProgress | None = None
) -> None:
    """Convert the file of a schedule to another format rank by rank, so that it need not fit into memory.

    The content of `source` decides its format; that of `target` is `to`, or the one of its extension, as in
    `Schedule.save`. The file is complete or not there at all. Raises InputError and UsageError as `Schedule` does.
    """
    form = format_for(target, to)
    make_folder(Path(target).absolute().parent)
    said = ""
    if form in COMMENTED and Path(source).is_file():
        lazy_provenance = of_file(str(source), Files([Path(source).absolute()]))
        said = lazy_provenance.provenance.written(by="idlewave.convert").to_json()
    with memory_for(f"converting {name_of(str(source))}"), at_hand(source, "a schedule") as file:
        _core.convert_schedule(file, str(target), _core.ScheduleFormat[form], progress, said)
