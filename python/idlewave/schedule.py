"""A schedule: what each rank computes, sends and receives, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from . import _core
from .errors import InputError, UsageError
from .patterns import DEFAULT_SEGMENT, MOST_BYTES, PatternOptions
from .trace import Trace


class Schedule:
    """What each rank does: in memory (GOAL), or made on demand (a traced program, a pattern). Immutable.

    Make one with `load`, `from_goal`, `from_trace` or `pattern`.
    """

    def __init__(self, core: _core.Graph | _core.Program | _core.Composition, name: str) -> None:
        self._core = core
        self.name = name

    @classmethod
    def load(cls, path: str | Path) -> Schedule:
        """Read a GOAL file. Raises InputError that names file, line, column and what was expected."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{path}: cannot be read as a schedule: {error.strerror}") from error
        return cls.from_goal(text, name=str(path))

    @classmethod
    def from_goal(cls, text: str, *, name: str = "GOAL") -> Schedule:
        """Read GOAL text; `name` is what messages call it."""
        return cls(_core.read_goal(text, name), name)

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
        if not isinstance(trace, Trace):
            trace = Trace.load(trace)
        core = _core.convert(trace.core(), dict(algorithms or {}), _cost(reduction_cost))
        return cls(core, str(trace.directory))

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
        """One collective operation: barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall,
        reduce_scatter, scan, exscan; or "dissemination", which is the barrier of that name.

        `bytes` is the vector, or one rank's part, as MPI counts it for the call; `algorithm` as in
        `idlewave.algorithms()`, the first of each if not given. What the others mean stands at `PatternOptions`.
        Raises UsageError that names an option without meaning, InputError that lists what there is where a name is
        unknown.
        """
        collective = name
        if name == "dissemination":
            if algorithm not in ("", "dissemination"):
                raise UsageError(f"the pattern dissemination is an algorithm itself, so not '{algorithm}'")
            collective, algorithm = "barrier", "dissemination"
        if not 1 <= ranks < 2**32 - 1:
            raise UsageError(f"expected 1 to {2**32 - 2} ranks, found {ranks}")
        if not 0 <= bytes <= MOST_BYTES:
            raise UsageError(f"expected 0 to 2^50 bytes, found {bytes}")
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
        chosen.check(ranks)
        if chosen.given():
            raise UsageError(f"patterns do not take {', '.join(chosen.given())} yet")
        core = _core.pattern(collective, algorithm, ranks, bytes, _cost(reduction_cost))
        return cls(core, name)

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return int(self._core.ranks)

    def extrapolate(self, ranks: int) -> Schedule:
        """The same program on more ranks: so many copies of the traced ranks, side by side.

        A copy's point-to-point messages stay inside it; a collective of all traced ranks spans all copies, one of
        part of them stays inside its copy; computation is as it was traced (weak scaling, as LogGOPSim does it).
        Raises UsageError if this is no traced program, or `ranks` no multiple of the traced ones.
        """
        if not isinstance(self._core, _core.Program):
            raise UsageError(f"{self.name} is a fixed schedule of {self.ranks} ranks; only a trace can be extrapolated")
        base = int(self._core.base_ranks)
        if ranks < base or ranks % base:
            raise UsageError(f"expected a multiple of the {base} traced ranks, found {ranks}")
        return Schedule(self._core.copies(ranks // base), self.name)

    def to_goal(self) -> str:
        """The schedule written out as GOAL text."""
        return self._core.to_goal()

    def save(self, path: str | Path) -> None:
        """Write the schedule as GOAL text. Raises InputError if the file cannot be written."""
        self._core.save(str(path))

    def core(self) -> _core.Graph | _core.Program | _core.Composition:
        """The schedule as the compiled core sees it."""
        return self._core


def algorithms() -> pd.DataFrame:
    """The algorithms of collective operations: collective, name, source (the paper or MPI that it follows).

    Of each collective the first is the default.
    """
    return pd.DataFrame(_core.algorithms(), columns=["collective", "name", "source"])


def _cost(reduction_cost: float) -> float:
    if not 0 <= reduction_cost < 1e6:
        raise UsageError(f"expected a reduction cost from 0 to 1000000 ns per byte, found {reduction_cost}")
    return reduction_cost
