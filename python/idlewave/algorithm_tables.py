"""Rules for algorithms in tables of CSV: those of users, and what MPI libraries choose by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .algorithm_rules import AlgorithmRule
from .errors import InputError
from .escaping import cut, name_of, quote
from .input.files import decoded
from .native_files import PRESETS

_BLANKS = " \t"
"""What may surround a number of a table."""


@dataclass(frozen=True)
class Library:
    """An MPI library whose own choices are known.

    `option` is its name on the command line, `title` the one in sentences. `table` is the file of presets/algorithms
    with its choices, without the ending. What its MPI_Get_library_version says begins with `version`.
    """

    option: str
    title: str
    table: str
    version: str

    def rules(self) -> tuple[AlgorithmRule, ...]:
        """What it chooses by itself, without costs of calls.

        Where the simulator lacks an algorithm, the one nearest in its messages stands for it.
        """
        return _rules_of_preset(self.table)

    def own_names(self) -> dict[tuple[str, int, int], str]:
        """The library's own names of the algorithms of these rules, by collective, ranks and bytes."""
        import csv

        text = _preset(self.table).read_text(encoding="utf-8")
        rows = csv.DictReader(text.splitlines())
        return {(row["collective"], int(row["ranks"]), int(row["bytes"])): row["of_library"] for row in rows}


@cache
def _rules_of_preset(table: str) -> tuple[AlgorithmRule, ...]:
    file = _preset(table)
    return rules_in_table(file, file.read_bytes(), of_library=True)


def _preset(table: str) -> Path:
    return PRESETS / "algorithms" / f"{table}.csv"


OPEN_MPI = Library("openmpi", "Open MPI 5.0", "open-mpi-5.0", "Open MPI v5.0")
LIBRARIES = (OPEN_MPI, Library("mpich", "MPICH 5", "mpich-5", "MPICH Version: 5."))


def rules_of_library(version: str) -> tuple[AlgorithmRule, ...]:
    """The rules of the library whose MPI_Get_library_version says `version`; none if its choices are not known."""
    said = " ".join(version.split())
    return next((library.rules() for library in LIBRARIES if said.startswith(library.version)), ())


def rules_in_table(file: Path, data: bytes, *, of_library: bool = False) -> tuple[AlgorithmRule, ...]:
    """The rules in `file`, whose content is `data`: the columns collective, ranks, bytes and algorithm, and perhaps
    segment. Raises InputError naming the file and its line."""
    import csv

    text = decoded(data, name_of(file)).removeprefix("\ufeff")
    rules = []
    try:
        for line, row in enumerate(csv.DictReader(text.splitlines()), start=2):
            rules.append(_rule_in(row, f"{name_of(file)}, line {line}", of_library=of_library))
    except csv.Error as error:
        raise InputError(f"{name_of(file)}, line {len(rules) + 2}: expected columns of CSV: {error}") from error
    if not rules:
        raise InputError(f"{name_of(file)}: expected rules in the columns collective, ranks, bytes and algorithm")
    return tuple(rules)


def rules_table(rules: Iterable[AlgorithmRule]) -> str:
    """The rules as the text of such a table, in which `rules_in_table` finds what they choose."""
    lines = [f"{rule.collective},{rule.ranks},{rule.bytes},{rule.algorithm},{rule.segment}" for rule in rules]
    return "\n".join(["collective,ranks,bytes,algorithm,segment", *lines, ""])


def _rule_in(row: dict[str, Any], where: str, *, of_library: bool) -> AlgorithmRule:
    for name in ("collective", "ranks", "bytes", "algorithm"):
        if row.get(name) is None or (name in ("ranks", "bytes") and not row[name].strip(_BLANKS)):
            raise InputError(f"{where}: expected collective, ranks, bytes and algorithm, found no {name}")
    return AlgorithmRule(
        row["collective"],
        row["algorithm"] or "?",
        _whole(row, "ranks", where),
        _whole(row, "bytes", where),
        segment=_whole(row, "segment", where) if row.get("segment") else 0,
        of_library=of_library,
    )


def _whole(row: dict[str, Any], name: str, where: str) -> int:
    """The whole number in a column."""
    text = row[name].strip(_BLANKS)
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise InputError(f"{where}: {name}: expected a whole number of at most 18 digits, found {quote(cut(text))}")
    return int(text)
