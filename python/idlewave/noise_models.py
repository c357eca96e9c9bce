"""Noise, which interrupts a machine's CPUs: a recording of detours. Random ones are in `random_noise`.

During a detour the CPU stands still; docs/model.md says what that does to a simulated rank.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, cast, get_args

from . import _core
from .errors import InputError
from .escaping import quote
from .field_methods import FieldMethods

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .random_noise import EmpiricalLength, MixedNoise, PoissonNoise

    Times = npt.NDArray[np.int64]

Reach = Literal["o_s", "o_r", "O", "calc", "reduction"]
"""The parts of a CPU's work that noise can lengthen: overheads, costs per byte, computation of the application and of
reductions."""
REACHES: tuple[Reach, ...] = get_args(Reach)

MOST_INTERRUPTS = 0.99
"""The largest share of a computation's time that interrupts can have taken."""


def as_times(values: npt.ArrayLike) -> Times:
    """Times in ps as the core takes them. numpy is imported here, because that takes longer than many simulations."""
    import numpy as np

    return np.ascontiguousarray(values, dtype=np.int64)


def buffer_of_times(values: Iterable[int]) -> Times:
    """The same in a buffer of int64, for which numpy is not needed: `Noise` and `EmpiricalLength` have it as an array
    once somebody reads it there."""
    return cast("Times", values if is_buffer_of_times(values) else array("q", values))


def is_buffer_of_times(values: object) -> TypeGuard[array[int]]:
    """Whether these are times in such a buffer; an array of another type is converted as any sequence is."""
    return isinstance(values, array) and values.typecode == "q"


def times_of(record_of_times: Noise | EmpiricalLength, name: str) -> Times:
    """The times of that name, as the core takes them: an array, or the buffer if nobody has read them yet."""
    held = vars(record_of_times).get(f"_{name}")
    return as_times(getattr(record_of_times, name)) if held is None else held


class OfTimes:
    """Has times in ps; a buffer (`buffer_of_times`) is kept beside them until they are read."""

    def __post_init__(self) -> None:
        state = vars(self)
        for name in ("starts", "lengths"):
            if is_buffer_of_times(state.get(name)):
                state[f"_{name}"] = state.pop(name)

    if not TYPE_CHECKING:  # else every name would pass for one that the noise has

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            state = vars(self)
            held = state.get(f"_{name}")
            if held is not None:
                state[name] = as_times(held)
                state.pop(f"_{name}", None)
            if name not in state:  # another thread may have read it meanwhile
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return state[name]


@dataclass(frozen=True, eq=False, repr=False)
class Noise(OfTimes, FieldMethods):
    """The detours of one period, repeated for ever. During a detour the CPU stands still.

    `starts` and `lengths` are int64 arrays in ps, ascending and separate, inside [0, period). `phase` says where in
    the period each rank is at time 0: "random" (drawn from the run's seed), "same" (one draw for all: co-scheduled),
    or a tuple of times in ps, repeated over the ranks.
    """

    starts: Times
    lengths: Times
    period: int
    phase: str | tuple[int, ...] = "random"

    @property
    def overhead(self) -> float:
        """The share of time that detours take."""
        return float(self.lengths.sum()) / self.period

    def detours(self, seed: int, rank: int, until: int) -> tuple[Times, Times]:
        """Starts and lengths, in ps, of the detours of a rank from 0 on that begin before the time `until`, under a
        seed. Of a detour that a rank is in at time 0 the rest counts."""
        import numpy as np

        starts, lengths = as_times(times_of(self, "starts")), as_times(times_of(self, "lengths"))
        periods = np.arange(until // self.period + 3, dtype=np.int64)[:, None] - 1
        begin = (starts + periods * self.period - self._core().phase(seed, rank)).ravel()
        end = begin + np.tile(lengths, len(periods))
        inside = (end > 0) & (begin < until)
        begin, end = np.maximum(begin[inside], 0), end[inside]
        return begin, end - begin

    def _core(self) -> _core.NoiseTrace:
        return _core.NoiseTrace(
            times_of(self, "starts"),
            times_of(self, "lengths"),
            self.period,
            drawn_phase(self.phase) if isinstance(self.phase, str) else _core.Phase.given,
            [] if isinstance(self.phase, str) else list(self.phase),
        )


@dataclass(frozen=True, eq=False, repr=False)
class NoiseOrigin(FieldMethods):
    """Where noise was recorded: the host, and the share of the detours' time for which another task had the core.

    That share is what the system reports as waits for a core; the rest are interrupts, the switches themselves, and
    what the system does not see. None: it was not reported. Host "": not known.
    """

    host: str = ""
    core_wait_share: float | None = None


AnyNoise: TypeAlias = "Noise | PoissonNoise | MixedNoise"


def drawn_phase(name: str) -> _core.Phase:
    """The phase that is drawn from the seed: random or same. Raises InputError for another name."""
    if name not in ("random", "same"):
        raise InputError(f"noise: expected phase random or same, found {quote(name)}")
    return _core.Phase[name]
