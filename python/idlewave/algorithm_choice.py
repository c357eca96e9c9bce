"""Who chose the algorithms of a schedule's collectives, and how many follow which, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .algorithm_rules import LIBRARY_TITLES, NAMED_LIBRARIES, AlgorithmRule
from .escaping import cut
from .formatting import join_words

DEFAULTS = "the default algorithms"


@dataclass(frozen=True)
class AlgorithmChoice:
    """Who chose: `named` the algorithms of some collectives by --algorithm, `by` those of the others."""

    by: str = DEFAULTS
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The end of "collectives by …"."""
        named = [f"{collective}={name}" for collective, name in self.named.items()]
        return f"{self.by}, but {cut(join_words(named))}" if named else self.by

    def sentence(self, uses: Mapping[str, Mapping[str, int]]) -> str:
        """Which algorithms the collectives of a schedule follow, as `Schedule.collectives` has them; empty without
        collectives."""
        counted = [f"{collective}: {_counted(algorithms)}" for collective, algorithms in uses.items()]
        return f"collectives by {self.text}: {'; '.join(counted)}" if counted else ""

    def described(self, uses: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
        """The same for JSON."""
        return {"by": self.by, "named": dict(self.named), "calls": {name: dict(of) for name, of in uses.items()}}


def choice_of(
    named: Mapping[str, str], library: str | None, machine: str | None, rules: Iterable[AlgorithmRule]
) -> AlgorithmChoice:
    """The choice of a command: `library` names rules for all collectives, a library or a file; without it the `rules`
    of the machine of that name choose, if it has some."""
    if library is not None:
        title = LIBRARY_TITLES.get(NAMED_LIBRARIES.get(library, ""))
        return AlgorithmChoice(f"the rules in {cut(library)}" if title is None else f"the choices of {title}", named)
    listed = list(rules)
    if machine is None or not listed:
        return AlgorithmChoice(named=named)
    measured = any(rule.residual is not None for rule in listed)
    return AlgorithmChoice(f"the {'measured ' if measured else ''}rules of {cut(machine)}", named)


def _counted(algorithms: Mapping[str, int]) -> str:
    return ", ".join(f"{calls:,} {name}" for name, calls in algorithms.items())
