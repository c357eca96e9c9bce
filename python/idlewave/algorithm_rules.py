"""Which algorithms an MPI library uses for its collectives, by ranks and size: part of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import _core

_DEFAULT_SEGMENT: int = _core.PatternCall().segment


@dataclass(frozen=True)
class AlgorithmRule:
    """What a library does for `collective` with at least `ranks` ranks and `bytes` bytes, as `Schedule.pattern` counts
    them.

    Of a collective the rules for the most ranks that a communicator has hold, and of these the one for the most bytes
    that the call has. `reduction_cost` is the computation of a reduction in ns per byte, `call_ns` the CPU time of each
    rank before its first message, and `call_ns_per_byte` what each byte adds to it: the call itself, and copies within
    the rank. `residual` is the largest relative error of the simulation on the times that the rule was fitted to; None
    if it was not fitted.
    """

    collective: str
    algorithm: str
    ranks: int = 1
    bytes: int = 0
    segment: int = _DEFAULT_SEGMENT
    reduction_cost: float = 0.0
    call_ns: float = 0.0
    call_ns_per_byte: float = 0.0
    residual: float | None = None

    def described(self) -> dict[str, Any]:
        """What of it the simulation depends on, by name."""
        said = asdict(self)
        del said["residual"]
        return said


def core_rules(rules: Iterable[AlgorithmRule]) -> _core.AlgorithmRules:
    """The rules as the compiled core sees them. Raises InputError for an unknown name, and two rules for one size."""
    return _core.AlgorithmRules(
        [
            (
                rule.collective,
                rule.ranks,
                rule.bytes,
                rule.algorithm,
                rule.segment,
                rule.reduction_cost,
                rule.call_ns,
                rule.call_ns_per_byte,
            )
            for rule in rules
        ]
    )


def described(rules: Sequence[AlgorithmRule]) -> dict[str, Any]:
    """The rules as options of a provenance; nothing without rules."""
    return {"algorithm_rules": [rule.described() for rule in rules]} if rules else {}
