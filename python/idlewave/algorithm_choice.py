"""Which algorithms collectives follow, who chose them, and how many follow which, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .algorithm_rules import AlgorithmRule, core_rules
from .algorithm_tables import LIBRARIES, rules_in_table
from .errors import InputError, UsageError
from .escaping import cut, name_of
from .formatting import join_words
from .input.files import read_bytes
from .open_mpi_rules import is_open_mpi_file, open_mpi_rules

DEFAULTS = "the default algorithms"


@dataclass(frozen=True)
class AlgorithmChoice:
    """The algorithms of collectives: `named` has those of some, `rules` choose for the others, and `by` says whose
    rules these are. `notes` are sentences on rules that the simulation cannot follow as they are meant."""

    rules: tuple[AlgorithmRule, ...] = ()
    by: str = DEFAULTS
    named: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

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


def choice_named(name: str) -> AlgorithmChoice:
    """What the library of that name (`Library.option`) chooses by itself; or the rules in a file.

    The file is CSV with the columns collective, ranks, bytes and algorithm, and perhaps segment; or the one that Open
    MPI reads (coll_tuned_dynamic_rules_filename). Raises InputError naming the file and its line.
    """
    for library in LIBRARIES:
        if library.option == name:
            return AlgorithmChoice(library.rules(), f"the choices of {library.title}")
    file = Path(name)
    data = read_bytes(file, "rules of algorithms")
    by = f"the rules in {cut(name)}"
    if is_open_mpi_file(file, data):
        found = open_mpi_rules(file, data)
        choice = AlgorithmChoice(found.rules, by, notes=tuple(found.notes()))
    else:
        choice = AlgorithmChoice(rules_in_table(file, data), by)
    try:
        core_rules(choice.rules)  # refuses unknown names
    except (InputError, UsageError) as error:
        raise InputError(f"{name_of(file)}: {error}") from error
    return choice


def rules_named(name: str) -> tuple[AlgorithmRule, ...]:
    """The rules of `choice_named` alone."""
    return choice_named(name).rules


def choice_of_machine(name: str, rules: tuple[AlgorithmRule, ...]) -> AlgorithmChoice:
    """The choice of the `rules` of the machine of that name, if it has some."""
    if not rules:
        return AlgorithmChoice()
    measured = any(rule.residual is not None for rule in rules)
    return AlgorithmChoice(rules, f"the {'measured ' if measured else ''}rules of {cut(name)}")


def _counted(algorithms: Mapping[str, int]) -> str:
    return ", ".join(f"{calls:,} {name}" for name, calls in algorithms.items())
