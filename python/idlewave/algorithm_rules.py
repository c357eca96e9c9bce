"""Which algorithms an MPI library uses for its collectives, by ranks and size: part of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from .digests import digest_of
from .errors import UsageError
from .escaping import cut
from .field_methods import FieldMethods
from .pattern_bounds import MOST_BYTES, MOST_RANKS

_DEFAULT_SEGMENT: int = _core.PatternCall().segment
_RARE = ("of_all_ranks", "fallback")
"""What a rule is not described by unless it holds: digests stay those of rules that have always been."""


@dataclass(frozen=True, eq=False, repr=False)
class AlgorithmRule(FieldMethods):
    """What a library does for `collective` with at least `ranks` ranks and `bytes` bytes, as `Schedule.pattern` counts
    them.

    Of a collective the rules for the most ranks that a communicator has hold, and of these the one for the most bytes
    that the call has. `reduction_cost` is the computation of a reduction in ns per byte, `call_ns` the CPU time of each
    rank before its first message, and `call_ns_per_byte` what each byte adds to it: the call itself, and copies within
    the rank. `residual` is the largest relative error of the simulation on the times that the rule was fitted to; None
    if it was not fitted. `of_library`: the algorithm was not measured, but is what the library is known to choose.
    `of_all_ranks`: `bytes` are the call's times the number of ranks. `fallback`: the rule holds only where those
    without it choose nothing: where there is none, and where `algorithm` is empty.
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
    of_library: bool = False
    of_all_ranks: bool = False
    fallback: bool = False

    def described(self) -> dict[str, Any]:
        """What of it the simulation depends on, by name."""
        said = asdict(self)
        del said["residual"], said["of_library"]
        return {name: value for name, value in said.items() if name not in _RARE or value}


def core_rules(rules: Iterable[AlgorithmRule]) -> _core.AlgorithmRules:
    """The rules as the compiled core sees them.

    Raises InputError for an unknown name, a negative cost, and two rules for one size; UsageError for a number of ranks
    or bytes out of range.
    """
    rules = tuple(rules)
    for rule in rules:
        for what, value, least, most in (
            ("ranks", rule.ranks, 1, MOST_RANKS),
            ("bytes", rule.bytes, 0, MOST_BYTES),
            ("segment", rule.segment, 0, MOST_BYTES),
        ):
            if not least <= value <= most:
                shown = cut(str(value))
                raise UsageError(
                    f"a rule for {cut(rule.collective)}: expected {what} from {least} to {most}, found {shown}"
                )
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
                rule.of_all_ranks,
                rule.fallback,
            )
            for rule in rules
        ]
    )


def described(rules: Sequence[AlgorithmRule]) -> dict[str, Any]:
    """The rules as an option of a provenance: their digest; nothing without rules."""
    return {"algorithm_rules": digest_of([rule.described() for rule in rules])} if rules else {}
