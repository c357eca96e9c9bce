"""Jobs, of which schedules are composed on the fly: sequences of operations of all ranks or of groups of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import _core
from .errors import InputError, UsageError
from .escaping import quote
from .field_methods import FieldMethods
from .formatting import unknown_name
from .parameters import checked, completed
from .pattern_options import PATTERNS, RANKS, OperationParameters, PatternOptions

GROUPS = tuple(_core.GroupKind.__members__)
_DEFAULTS = completed(OperationParameters, {})


@dataclass(frozen=True, eq=False, repr=False)
class Operation(FieldMethods):
    """An operation of all ranks of a job: a collective, a halo exchange, a sweep, or "compute" (of `compute_ns`).

    It is done `times` times; with `rotating_root` the root moves on by one rank each time. `group` says which ranks
    take part together: "all"; "blocks" of `group_size` neighbours each; or "strided", the ranks with equal remainder by
    `group_size`, like the rows and columns of a process grid. The other fields are those of `Schedule.pattern`.
    """

    name: str
    bytes: int = _DEFAULTS["bytes"]
    algorithm: str = _DEFAULTS["algorithm"]
    reduction_cost: float = _DEFAULTS["reduction_cost"]
    times: int = 1
    rotating_root: bool = False
    group: str = "all"
    group_size: int = 1
    options: PatternOptions = field(default_factory=PatternOptions)

    def members(self, ranks: int) -> int:
        """The number of ranks in the first group, in a job of `ranks` ranks."""
        if self.group not in GROUPS:
            raise UsageError(f"no group is called {quote(self.group)}; there are {', '.join(GROUPS)}")
        if not 1 <= self.group_size <= ranks:
            raise UsageError(f"expected a group size from 1 to {ranks}, found {self.group_size}")
        if self.group == "all":
            return ranks
        return self.group_size if self.group == "blocks" else -(-ranks // self.group_size)

    def stage(self, ranks: int, tag: int, rules: _core.AlgorithmRules) -> _core.Stage:
        """The operation as the compiled core sees it, in a job of `ranks` ranks; `rules` choose the algorithm of a
        collective that is given none. Raises UsageError, InputError."""
        own = completed(OperationParameters, vars(self))
        if not 1 <= self.times < 2**32:
            raise UsageError(f"expected an operation 1 to 2^32 - 1 times, found {self.times}")
        if self.name not in PATTERNS:
            raise InputError(unknown_name("pattern", self.name, PATTERNS))
        if self.name == "ft":
            raise UsageError("ft is no operation of a job: expected Schedule.pattern('ft', …), or the job of ft_job")
        members = self.members(ranks)
        o = self.options
        name, algorithm = self.name, own["algorithm"]
        o.check(members, matrix=name == "alltoall")
        if name == "dissemination":
            if algorithm not in ("", "dissemination"):
                raise UsageError(f"the pattern dissemination is an algorithm itself, so not {quote(algorithm)}")
            name, algorithm = "barrier", "dissemination"
        stage = _core.Stage(name, algorithm, members, o.core(own["bytes"], own["reduction_cost"]), rules)
        stage.set(self.times, self.rotating_root, _core.GroupKind[self.group], self.group_size, tag)
        return stage


@dataclass(frozen=True, eq=False, repr=False)
class Job(FieldMethods):
    """A job: its ranks do the operations one after another, and the whole sequence `repetitions` times.

    Rank i of the job is rank `first + i * stride` of the machine, or `placement[i]`.
    """

    ranks: int
    operations: Sequence[Operation]
    repetitions: int = 1
    first: int = 0
    stride: int = 1
    placement: Sequence[int] = ()

    def core(self, rules: _core.AlgorithmRules) -> _core.Job:
        """The job as the compiled core sees it; see `Operation.stage`. Raises UsageError, InputError."""
        ranks = checked("ranks", int, RANKS, self.ranks)
        if not 1 <= self.repetitions < 2**32:
            raise UsageError(f"expected 1 to 2^32 - 1 repetitions, found {self.repetitions}")
        for name, value in (
            ("first rank", self.first),
            ("stride", self.stride),
            *(("rank", r) for r in self.placement),
        ):
            if not 0 <= value < 2**32 - 1:
                raise UsageError(f"a job's placement: expected a {name} from 0 to {2**32 - 2}, found {value}")
        if self.stride < 1:
            raise UsageError("a job's placement: expected a stride of at least 1")
        stages = [operation.stage(ranks, tag, rules) for tag, operation in enumerate(self.operations)]
        return _core.Job(ranks, stages, self.repetitions, self.first, self.stride, list(self.placement))
