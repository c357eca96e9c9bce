"""Open MPI's own file of rules (coll_tuned_dynamic_rules_filename), as rules for the simulation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from . import _core
from .algorithm_rules import AlgorithmRule
from .algorithm_tables import OPEN_MPI
from .errors import InputError
from .escaping import name_of
from .formatting import join_words
from .pattern_bounds import MOST_BYTES, MOST_RANKS

COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"),
    *("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
"""By number (COLLTYPE of coll_base_functions.h)."""


@dataclass(frozen=True)
class OpenMpiAlgorithm:
    """An algorithm of Open MPI, and the simulator's; None: it has none that is like it."""

    name: str
    ours: str | None
    nearest: bool = False
    """It is not the same, only the nearest."""


def _same(name: str, ours: str) -> OpenMpiAlgorithm:
    return OpenMpiAlgorithm(name, ours)


def _near(name: str, ours: str) -> OpenMpiAlgorithm:
    return OpenMpiAlgorithm(name, ours, nearest=True)


def _none(name: str) -> OpenMpiAlgorithm:
    return OpenMpiAlgorithm(name, None)


CHOICES = {
    "allgather": (
        *(_none("linear"), _same("bruck", "bruck"), _same("recursive_doubling", "recursive_doubling")),
        *(_same("ring", "ring"), _same("neighbor", "neighbour_exchange"), _same("two_proc", "ring")),
        _near("sparbit", "bruck"),
    ),
    "allreduce": (
        *(_none("basic_linear"), _near("nonoverlapping", "reduce_bcast")),
        *(_same("recursive_doubling", "recursive_doubling"), _same("ring", "ring")),
        *(_near("segmented_ring", "ring"), _same("rabenseifner", "rabenseifner")),
    ),
    "alltoall": (
        *(_same("linear", "linear"), _same("pairwise", "pairwise"), _same("modified_bruck", "bruck")),
        *(_near("linear_sync", "linear"), _same("two_proc", "pairwise")),
    ),
    "barrier": (
        *(_same("linear", "linear"), _none("double_ring"), _near("recursive_doubling", "dissemination")),
        *(_same("bruck", "dissemination"), _same("two_proc", "dissemination"), _same("tree", "tree")),
    ),
    "bcast": (
        *(_same("basic_linear", "linear"), _same("chain", "chain"), _same("pipeline", "chain")),
        *(_near("split_binary_tree", "binary"), _same("binary_tree", "binary"), _same("binomial", "binomial")),
        *(_near("knomial", "binomial"), _near("scatter_allgather", "scatter_allgather")),
        _same("scatter_allgather_ring", "scatter_allgather"),
    ),
    "exscan": (_same("linear", "linear"), _same("recursive_doubling", "recursive_doubling")),
    "gather": (_same("basic_linear", "linear"), _same("binomial", "binomial"), _near("linear_sync", "linear")),
    "reduce": (
        *(_same("linear", "linear"), _same("chain", "pipelined"), _same("pipeline", "pipelined")),
        *(_near("binary", "binomial"), _same("binomial", "binomial"), _near("in-order_binary", "binomial")),
        _same("rabenseifner", "rabenseifner"),
    ),
    "reduce_scatter_block": (
        *(_none("basic_linear"), _none("recursive_doubling")),
        *(_same("recursive_halving", "halving"), _near("butterfly", "halving")),
    ),
    "scan": (_same("linear", "linear"), _same("recursive_doubling", "recursive_doubling")),
    "scatter": (_same("basic_linear", "linear"), _same("binomial", "binomial"), _near("linear_nb", "linear")),
}
"""Of each collective that follows rules, the algorithms by number, from 1 on (coll_tuned_*_decision.c of Open MPI 5.0).
0 is what Open MPI chooses by itself."""
SEGMENTED = frozenset({("bcast", "binary"), ("bcast", "chain"), ("reduce", "pipelined")})
"""The simulator's algorithms that send segments."""
OF_ALL_RANKS = frozenset({"allgather", "alltoall", "gather", "scatter"})
"""Collectives for whose rules Open MPI counts the blocks of all ranks."""
ELEMENT = 8
"""Bytes of the elements that are assumed where Open MPI counts one element a rank, whatever the call has."""
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)")
_VERSION = re.compile(r"rule-file-version-(\d+)")


@dataclass(frozen=True)
class OpenMpiRules:
    """The rules in a file of Open MPI's form."""

    rules: tuple[AlgorithmRule, ...]
    """With Open MPI's own choice for the rest."""
    chosen: tuple[str, ...]
    """The collectives that the file has rules for, and that follow them."""
    nearest: tuple[str, ...]
    """Algorithms for which the nearest one of the simulator stands."""
    unused: tuple[str, ...]
    """Other collectives that the file has rules for."""

    def notes(self) -> list[str]:
        """What a user should know of them, a sentence each."""
        said = [f"Open MPI's rules for {join_words(list(self.chosen)) or 'no collective'}; for all else its own choice"]
        if self.nearest:
            said.append(f"the nearest algorithms stand for {join_words(list(self.nearest))}")
        if self.unused:
            said.append(f"rules for {join_words(list(self.unused))} are not used: no rule chooses for these calls")
        return said


def is_open_mpi_file(file: Path, data: bytes) -> bool:
    """Whether a file of rules has Open MPI's form, by what it begins with: no header of columns."""
    return file.suffix != ".csv" and not data.removeprefix(b"\xef\xbb\xbf").startswith(b"collective")


def open_mpi_rules(file: Path, data: bytes) -> OpenMpiRules:
    """The rules in `file`, whose content is `data`, as Open MPI 5.0 takes them.

    Raises InputError naming the file and the line for what Open MPI would refuse, and for an algorithm that the
    simulator lacks.
    """
    text = data.decode("utf-8", errors="replace")
    if text.lstrip()[:1] == "{":
        raise InputError(
            f"{name_of(file)}: expected Open MPI's rules as numbers (rule-file-version-1 or -2), found those of Open "
            "MPI 6 in JSON, which are not read"
        )
    return _Reader(file, text).read()


class _Reader:
    """Reads the numbers of a file as Open MPI does: what is no number is skipped, '#' begins a comment."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        version = _VERSION.match(text)
        self._version = int(version[1][:9]) if version else 1
        self._text = text[version.end() :] if version else text
        self._numbers = self._each_number()
        self._line = 1
        self._next = next(self._numbers, None)
        self._rules: dict[tuple[str, int, int], AlgorithmRule] = {}
        self._nearest: dict[str, None] = {}

    def read(self) -> OpenMpiRules:
        count = self._number("the number of collectives", len(COLLECTIVES))
        named: dict[str, None] = {}
        for _ in range(count):
            collective = COLLECTIVES[self._number("the number of a collective", len(COLLECTIVES) - 1)]
            named[collective] = None
            self._rules = {key: rule for key, rule in self._rules.items() if key[0] != collective}
            self._read_collective(collective)
        rules = tuple(self._rules.values())
        chosen = tuple(name for name in named if name in CHOICES)
        unused = tuple(name for name in named if name not in CHOICES)
        return OpenMpiRules((*rules, *_own_choice(rules)), chosen, tuple(self._nearest), unused)

    def _read_collective(self, collective: str) -> None:
        communicators: dict[int, list[tuple[int, str, int]]] = {}
        from_ranks = 0
        for i in range(self._number(f"how many communicator sizes {collective} has rules for")):
            from_ranks = max(from_ranks, self._number("the size of a communicator", MOST_RANKS))
            communicators[max(from_ranks, 1) if i else 1] = self._read_messages(collective)  # of equal ones the last
        for ranks, beyond in pairwise([*communicators, MOST_RANKS + 1]):
            self._add(collective, ranks, beyond, communicators[ranks])

    def _read_messages(self, collective: str) -> list[tuple[int, str, int]]:
        """Of each message size: the bytes from which on it holds, the algorithm (empty: Open MPI's choice), segment."""
        found = []
        from_bytes = 0
        for i in range(self._number("how many message sizes there are rules for")):
            size = self._number("the size of a message")
            if i == 0 and size != 0:
                raise self._error(f"expected the first message size of {collective} to be 0, found {size}")
            from_bytes = max(from_bytes, size)
            line, algorithm = self._next_line(), self._number(f"an algorithm of {collective}")
            self._number("the fan of a topology")
            segment = min(self._number("the size of a segment"), MOST_BYTES)
            if self._version > 1 and self._next is not None and self._next[2]:
                self._number("the most requests")
            found.append((from_bytes, *self._algorithm(collective, algorithm, segment, line)))
        return found or [(0, "", 0)]

    def _algorithm(self, collective: str, number: int, segment: int, line: int) -> tuple[str, int]:
        choices = CHOICES.get(collective)
        if number == 0 or choices is None:
            return "", 0
        if number > len(choices):
            self._line = line
            raise self._error(f"expected an algorithm of {collective} from 0 to {len(choices)}, found {number}")
        choice = choices[number - 1]
        if choice.ours is None:
            self._line = line
            raise self._error(
                f"{collective} by algorithm {number} ({choice.name}), to which no algorithm of the simulator is "
                "similar; idlewave algorithms lists those there are"
            )
        segmented = (collective, choice.ours) in SEGMENTED
        if choice.nearest:
            self._nearest[f"{collective} {choice.name} ({choice.ours})"] = None
        return choice.ours, segment if segmented else 0

    def _add(self, collective: str, ranks: int, beyond: int, messages: list[tuple[int, str, int]]) -> None:
        """Add the rules for communicators from `ranks` to below `beyond` ranks; a later one replaces an equal one."""
        if collective not in CHOICES:
            return
        ours = "reduce_scatter" if collective == "reduce_scatter_block" else collective
        for size, algorithm, segment in messages:
            at, least = ranks, min(size, MOST_BYTES)
            if ours == "barrier" and size > 0:
                continue
            if ours in {"scan", "exscan"}:  # what is counted grows with the ranks alone
                at, least = max(ranks, -(-size // ELEMENT)), 0
                if at >= beyond:
                    continue
            total = ours in OF_ALL_RANKS
            self._rules[collective, at, least] = AlgorithmRule(
                ours, algorithm, at, least, segment=segment, of_library=True, of_all_ranks=total
            )

    def _each_number(self) -> Iterator[tuple[int, int, bool]]:
        """Each number with its line, and whether only blanks are between it and the one before on the same line."""
        for number, line in enumerate(self._text.split("\n"), start=1):
            end = None
            content = line.partition("#")[0]
            for found in _NUMBER.finditer(content):
                follows = end is not None and not content[end : found.start()].strip(" \t")
                end = found.end()
                digits = found[0]
                base = 16 if "x" in digits.lower() else 8 if digits.lstrip("+-").startswith("0") else 10
                try:
                    yield number, int(digits[:40], base), follows and digits[0].isdigit()
                except ValueError:
                    self._line = number
                    raise self._error(f"expected a number, found {digits[:40]}") from None

    def _next_line(self) -> int:
        return self._line if self._next is None else self._next[0]

    def _number(self, what: str, most: int = 2**63 - 1) -> int:
        if self._next is None:
            raise self._error(f"expected {what}, and the file ends")
        self._line, value, _ = self._next
        if not 0 <= value <= most:
            raise self._error(f"expected {what}, from 0 to {most}, found {value}")
        self._next = next(self._numbers, None)
        return value

    def _error(self, what: str) -> InputError:
        return InputError(f"{name_of(self._file)}, line {self._line}: {what}")


def _own_choice(rules: tuple[AlgorithmRule, ...]) -> list[AlgorithmRule]:
    """What Open MPI chooses by itself, where `rules` choose nothing."""
    found = _fallbacks()
    known = {rule.collective for rule in found}
    left = {rule.collective for rule in rules if not rule.algorithm} - known
    defaults = dict(reversed([(collective, name) for collective, name, _ in _core.algorithms()]))
    own = {"scan": "linear", "exscan": "linear"}
    return [
        *found,
        *(
            AlgorithmRule(name, own.get(name, defaults[name]), segment=0, of_library=True, fallback=True)
            for name in sorted(left)
        ),
    ]


@cache
def _fallbacks() -> tuple[AlgorithmRule, ...]:
    return tuple(replace(rule, fallback=True) for rule in OPEN_MPI.rules())
