"""Which algorithms an MPI library uses for its collectives, by ranks and size: part of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import _core
from .digests import digest_of
from .errors import InputError, UsageError
from .escaping import name_of, quote
from .field_methods import FieldMethods
from .input.files import decoded, read_bytes
from .native_files import PRESETS
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
                raise UsageError(f"a rule for {rule.collective}: expected {what} from {least} to {most}, found {value}")
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


KNOWN_LIBRARIES = {"Open MPI v5.0": "open-mpi-5.0", "MPICH Version: 5.": "mpich-5"}
"""By the beginning of what MPI_Get_library_version says, the table of its choices in presets/algorithms."""


NAMED_LIBRARIES = {"openmpi": "open-mpi-5.0", "mpich": "mpich-5"}
"""The tables of libraries, by the names that options have for them."""
LIBRARY_TITLES = {"open-mpi-5.0": "Open MPI 5.0", "mpich-5": "MPICH 5"}
"""What sentences call the tables."""


def rules_named(name: str) -> tuple[AlgorithmRule, ...]:
    """What a library of `NAMED_LIBRARIES` chooses by itself; or the rules in a file.

    The file is CSV with the columns collective, ranks, bytes and algorithm, and perhaps segment; or the one that Open
    MPI reads (coll_tuned_dynamic_rules_filename). Raises InputError naming the file and its line.
    """
    if name in NAMED_LIBRARIES:
        return _rules_of(NAMED_LIBRARIES[name])
    file = Path(name)
    data = read_bytes(file, _WHAT)
    if is_open_mpi_file(file, data):
        from .open_mpi_rules import open_mpi_rules

        rules = open_mpi_rules(file, data).rules
    else:
        rules = _rules_in(file, data, of_library=False)
    try:
        core_rules(rules)  # refuses unknown names
    except (InputError, UsageError) as error:
        raise InputError(f"{name_of(file)}: {error}") from error
    return rules


def notes_on_rules(name: str) -> list[str]:
    """What a user of `rules_named` should know of a file that Open MPI reads: a sentence each."""
    if name in NAMED_LIBRARIES:
        return []
    data = read_bytes(name, _WHAT)
    if not is_open_mpi_file(Path(name), data):
        return []
    from .open_mpi_rules import open_mpi_rules

    return open_mpi_rules(Path(name), data).notes()


def is_open_mpi_file(file: Path, data: bytes) -> bool:
    """Whether a file of rules has Open MPI's form, by what it begins with: no header of columns."""
    return file.suffix != ".csv" and not data.removeprefix(b"\xef\xbb\xbf").startswith(b"collective")


_WHAT = "rules of algorithms"


def _rules_of(library: str) -> tuple[AlgorithmRule, ...]:
    file = PRESETS / "algorithms" / f"{library}.csv"
    return _rules_in(file, file.read_bytes(), of_library=True)


def _rules_in(file: Path, data: bytes, *, of_library: bool) -> tuple[AlgorithmRule, ...]:
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


def _rule_in(row: dict[str, Any], where: str, *, of_library: bool) -> AlgorithmRule:
    try:
        return AlgorithmRule(
            row["collective"],
            row["algorithm"] or "?",
            int(row["ranks"]),
            int(row["bytes"]),
            segment=int(row.get("segment") or 0),
            of_library=of_library,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where}: expected collective, ranks, bytes and algorithm, found {quote(str(row))}"
        ) from error


def rules_of_library(library: str) -> tuple[AlgorithmRule, ...]:
    """What a library chooses by itself, without costs of calls: `library` is what its MPI_Get_library_version says.

    Where the simulator lacks an algorithm, the one nearest in its messages stands for it. Empty for a library whose
    choices are not known.
    """
    for begins, name in KNOWN_LIBRARIES.items():
        if " ".join(library.split()).startswith(begins):
            return _rules_of(name)
    return ()
