"""A schedule: what each rank computes, sends and receives, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core, memory_needs
from .digests import Files
from .errors import InputError, UsageError
from .escaping import name_of, quote
from .input.files import at_hand
from .lazy_provenance import LazyProvenance, of_extrapolation, of_file, of_jobs, of_text, of_trace
from .memory_limits import memory_for
from .output import make_folder
from .pattern_options import DEFAULT_SEGMENT, PATTERNS, PatternOptions
from .provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd

    from .jobs import Job
    from .trace import Trace

FORMATS = ("goal", "loggopsim", "idg")
"""How a schedule can be in a file: GOAL text, LogGOPSim's binary, Idlewave's binary (docs/goal-format.md)."""

EXTENSIONS = {".goal": "goal", ".bin": "loggopsim", ".idg": "idg"}

MOST_RANKS = 2**32 - 2

COMMENTED = ("goal",)
"""Those of them that have room for what the schedule was made from."""

RankProgress = Callable[[int, int], object]
"""Is called now and then with how many ranks are done, and of how many."""


class Schedule:
    """What each rank does: in memory (GOAL), or made on demand (a traced program, a pattern). Immutable.

    Make one with `load`, `from_goal`, `from_trace` or `pattern`.
    """

    def __init__(
        self,
        core: _core.Graph | _core.Program | _core.Composition,
        name: str,
        made: tuple[str, tuple[Any, ...]],
        lazy_provenance: LazyProvenance,
    ) -> None:
        self._core = core
        self.name = name
        self._made = made
        self.lazy_provenance = lazy_provenance

    def __reduce__(self) -> tuple[Callable[..., Schedule], tuple[Any, ...]]:
        return _make_again, self._made

    @classmethod
    def load(cls, path: str | Path, *, progress: RankProgress | None = None) -> Schedule:
        """Read a schedule: GOAL text, LogGOPSim's binary or Idlewave's binary, told apart by what is in it.

        Raises InputError that names file, line and column, or byte, rank and op, what was expected and what found.
        """
        place = Path(path).absolute()
        lazy_provenance = of_file(str(path), Files([place]))
        with memory_for(f"reading {name_of(str(path))}"), at_hand(path, "a schedule") as file:
            core = _core.read_schedule(file, progress)
        return cls(core, str(path), ("load", (place,)), lazy_provenance)

    @classmethod
    def from_goal(cls, text: str, *, name: str = "GOAL") -> Schedule:
        """Read GOAL text; `name` is what messages call it."""
        with memory_for(f"reading {name_of(name)}"):
            return cls(_core.read_goal(text, name), name, ("from_goal", (text, name)), of_text(name, text))

    @classmethod
    def from_trace(
        cls,
        trace: Trace | str | Path,
        *,
        algorithms: Mapping[str, str] | None = None,
        reduction_cost: float = 0.0,
    ) -> Schedule:
        """The program that a trace is a run of: computation from the gaps between calls, messages with MPI's
        dependencies, collectives replaced by algorithms.

        `algorithms` chooses them by name ({"allreduce": "ring"}); `idlewave.algorithms()` lists them.
        `reduction_cost` is the computation of a reduction, ns per byte. Raises InputError naming rank and call
        where the trace is incomplete or has something that cannot be simulated.
        """
        from .trace import Trace

        if not isinstance(trace, Trace):
            trace = Trace.load(trace)
        with memory_for(f"making a schedule of {name_of(str(trace.directory))}"):
            core = _core.convert(trace.core(), dict(algorithms or {}), _cost(reduction_cost))
        made = (Path(trace.directory).absolute(), dict(algorithms or {}), reduction_cost)
        name = str(trace.directory)
        return cls(core, name, ("from_trace", made), of_trace(name, trace.lazy_provenance, *made[1:]))

    @classmethod
    def pattern(
        cls,
        name: str,
        *,
        ranks: int,
        bytes: int = 1,  # noqa: A002 - the contract's name
        algorithm: str = "",
        reduction_cost: float = 0.0,
        root: int = 0,
        segment: int = DEFAULT_SEGMENT,
        ways: int = 2,
        send_counts: Sequence[int] = (),
        recv_counts: Sequence[int] = (),
        dims: Sequence[int] = (),
        face_bytes: Sequence[int] = (),
        periodic: bool = True,
        compute_ns: int = 0,
        blocks: int = 1,
        sweeps: int = 1,
    ) -> Schedule:
        """One pattern: a collective operation (barrier, bcast, reduce, allreduce, gather, scatter, allgather,
        alltoall, reduce_scatter, scan, exscan), "dissemination", which is the barrier of that name, a halo exchange
        (halo1d, halo2d, halo3d), a wavefront (sweep), or "compute"; `idlewave.patterns()` lists them.

        `bytes` is the vector, or one rank's part, as MPI counts it for the call; `algorithm` as in
        `idlewave.algorithms()`, the first of each if not given. What the others mean stands at `PatternOptions`.
        Raises UsageError that names an option without meaning, InputError that lists what there is where a name is
        unknown.
        """
        from .jobs import Job, Operation

        chosen = PatternOptions(
            root=root,
            segment=segment,
            ways=ways,
            send_counts=tuple(send_counts),
            recv_counts=tuple(recv_counts),
            dims=tuple(dims),
            face_bytes=tuple(face_bytes),
            periodic=periodic,
            compute_ns=compute_ns,
            blocks=blocks,
            sweeps=sweeps,
        )
        operation = Operation(name, bytes=bytes, algorithm=algorithm, reduction_cost=reduction_cost, options=chosen)
        return cls.compose([Job(ranks, [operation])], name=name)

    @classmethod
    def compose(cls, jobs: Sequence[Job], *, ranks: int = 0, name: str = "composition") -> Schedule:
        """Jobs beside each other on a machine of `ranks` ranks (0: as many as they need), each a sequence of
        operations: made on the fly, whatever their number. Ranks of the machine without a job do nothing.

        Raises UsageError where a number has no meaning, InputError where a name is unknown or two jobs want one rank.
        """
        if not jobs:
            raise UsageError("expected at least one job")
        with memory_for("composing jobs"):
            core = _core.compose([job.core() for job in jobs], ranks)
        return cls(core, name, ("compose", (list(jobs), ranks, name)), of_jobs(name, jobs, ranks))

    @property
    def provenance(self) -> Provenance:
        """What it was made from. Large files are read for their digest when it is first asked for."""
        return self.lazy_provenance.provenance

    def identity(self) -> str:
        """A word for its content, `provenance.digests["content"]`; two schedules of one word are the same.

        Raises InputError if the files that it was made of are no longer there, or have changed since.
        """
        content = self.provenance.digests.get("content")
        if content is None:
            problem = self.provenance.options["unknown"]
            raise InputError(f"{name_of(self.name)}: what it was made of can no longer be read: {problem}")
        return content

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return int(self._core.ranks)

    @property
    def least_ops(self) -> int:
        """How many ops all ranks have at least, as far as that is known without making them: 0 of a pattern."""
        return int(getattr(self._core, "least_ops", 0) or getattr(self._core, "ops", 0))

    def extrapolate(self, ranks: int) -> Schedule:
        """The same program on more ranks: so many copies of the traced ranks, side by side.

        A copy's point-to-point messages stay inside it; a collective of all traced ranks spans all copies, one of
        part of them stays inside its copy; computation is as it was traced (weak scaling, as LogGOPSim does it).
        Raises UsageError if this is no traced program, or `ranks` no multiple of the traced ones.
        """
        if not isinstance(self._core, _core.Program):
            raise UsageError(
                f"{name_of(self.name)} is a fixed schedule of {self.ranks} ranks; only a trace can be extrapolated"
            )
        base = int(self._core.base_ranks)
        if ranks < base or ranks % base:
            raise UsageError(f"expected a multiple of the {base} traced ranks, found {ranks}")
        if ranks > MOST_RANKS:
            raise UsageError(f"expected 1 to {MOST_RANKS} ranks, found {ranks}")
        with memory_for(f"extrapolating {name_of(self.name)} to {ranks:,} ranks"):
            core, made = self._core.copies(ranks // base), ("extrapolate", (self, ranks))
        return Schedule(core, self.name, made, of_extrapolation(self.name, self.lazy_provenance, ranks))

    def to_goal(self) -> str:
        """The schedule written out as GOAL text."""
        with memory_for(
            f"writing the GOAL text of {self.ranks:,} ranks", memory_needs.goal_text(self.ranks, self.least_ops)
        ):
            return self._core.to_goal()

    def save(self, path: str | Path, *, to: str | None = None, progress: RankProgress | None = None) -> None:
        """Write the schedule in the format `to`, one of `FORMATS`; if not given, as the extension says: `.goal`,
        `.bin` (LogGOPSim) or `.idg`.

        GOAL text says in a comment what it was made from; the binary forms have no room for that. The file is there
        whole or not at all; folders are made. Raises UsageError if the format is not known,
        InputError if the file cannot be written.
        """
        form = format_for(path, to)
        make_folder(Path(path).absolute().parent)
        said = self.provenance.written(by="idlewave.Schedule.save").to_json() if form in COMMENTED else ""
        with memory_for(f"writing {name_of(str(path))}"):
            self._core.save(str(path), form, progress, said)

    def core(self) -> _core.Graph | _core.Program | _core.Composition:
        """The schedule as the compiled core sees it."""
        return self._core


def _make_again(how: str, arguments: tuple[Any, ...]) -> Schedule:
    """A schedule from what it was made of: so it goes to other processes."""
    if how == "extrapolate":
        schedule, ranks = arguments
        return schedule if schedule.ranks == ranks else schedule.extrapolate(ranks)  # type: ignore[no-any-return]
    if how == "from_goal":
        text, name = arguments
        return Schedule.from_goal(text, name=name)
    if how == "from_trace":
        directory, chosen, cost = arguments
        return Schedule.from_trace(directory, algorithms=chosen, reduction_cost=cost)
    if how == "compose":
        jobs, ranks, name = arguments
        return Schedule.compose(jobs, ranks=ranks, name=name)
    return Schedule.load(*arguments)


def algorithms() -> pd.DataFrame:
    """The algorithms of collective operations: collective, name, source (the paper or MPI that it follows).

    Of each collective the first is the default.
    """
    import pandas as pd

    return pd.DataFrame(_core.algorithms(), columns=["collective", "name", "source"])


def patterns() -> pd.DataFrame:
    """The patterns: name, does (in a sentence), options (that concern it, beside ranks and a collective's algorithm),
    source (the program or paper that it follows; of a collective each algorithm has its own).
    """
    import pandas as pd

    sources = {name: source for name, _, source in _core.patterns()}
    rows = [(name, does, ", ".join(options), sources.get(name, "")) for name, (does, options) in PATTERNS.items()]
    return pd.DataFrame(rows, columns=["name", "does", "options", "source"])


def format_for(path: str | Path, to: str | None = None) -> str:
    """The format in which to write `path`: `to`, or what its extension says. Raises UsageError."""
    if to is None:
        to = EXTENSIONS.get(Path(path).suffix)
        if to is None:
            known = ", ".join(f"{extension} ({name})" for extension, name in EXTENSIONS.items())
            raise UsageError(f"{path}: expected an extension that tells the format, {known}, or the format's name")
    if to not in FORMATS:
        raise UsageError(f"expected a format of {', '.join(FORMATS)}, found {quote(to)}")
    return to


def convert(
    source: str | Path, target: str | Path, *, to: str | None = None, progress: RankProgress | None = None
) -> None:
    """Write a schedule's file in another format, a rank at a time: it need not fit into memory.

    `source` is told by its content, `target` by `to` or its extension, as with `Schedule.load` and `save`; it is there
    whole or not at all. Raises InputError and UsageError as these do.
    """
    form = format_for(target, to)
    make_folder(Path(target).absolute().parent)
    said = ""
    if form in COMMENTED and Path(source).is_file():
        lazy_provenance = of_file(str(source), Files([Path(source).absolute()]))
        said = lazy_provenance.provenance.written(by="idlewave.convert").to_json()
    with memory_for(f"converting {name_of(str(source))}"), at_hand(source, "a schedule") as file:
        _core.convert_schedule(file, str(target), form, progress, said)


def _cost(reduction_cost: float) -> float:
    if not 0 <= reduction_cost < 1e6:
        raise UsageError(f"expected a reduction cost from 0 to 1000000 ns per byte, found {reduction_cost}")
    return reduction_cost
