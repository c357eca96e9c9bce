"""Writes Open MPI's own file of rules (coll_tuned_dynamic_rules_filename); `open_mpi_rules` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from .algorithm_rules import AlgorithmRule
from .formatting import plain, size_text
from .open_mpi_rules import CHOICES, COLLECTIVES, ELEMENT, OF_ALL_RANKS, SEGMENTED

_REDUCE_SCATTER = {"halving": 2, "ring": 3}
"""The algorithms of MPI_Reduce_scatter by their numbers, whose rules the simulation does not use."""


def open_mpi_calls(collective: str, algorithm: str, ranks: int, size: int) -> str | None:
    """The algorithm that sends the messages where Open MPI has chosen this one: it calls another for some calls.

    None: the simulator lacks that one. A vector's elements are counted as if they had 8 bytes.
    """
    power_of_two = 1 << (ranks.bit_length() - 1)
    if (collective, algorithm) == ("allgather", "recursive_doubling") and ranks != power_of_two:
        return "bruck"
    if (collective, algorithm) == ("allreduce", "ring") and size < ELEMENT * ranks:
        return "recursive_doubling"
    if (collective, algorithm) == ("allreduce", "rabenseifner") and size < ELEMENT * power_of_two:
        return None  # a linear reduction and broadcast
    return algorithm


@dataclass(frozen=True)
class OpenMpiCollective:
    """A collective of Open MPI: its name there, and that of the simulator.

    `counts_size`: its rules can differ by the size of a call.
    """

    name: str
    collective: str
    counts_size: bool = True

    def number(self, algorithm: str, ranks: int) -> int | None:
        """The number of the algorithm that is the same as the simulator's, on so many ranks; None: it has none."""
        if self.name == "reduce_scatter":
            return _REDUCE_SCATTER.get(algorithm)
        if (self.name, algorithm) == ("allgather", "recursive_doubling") and ranks & (ranks - 1):
            return None  # `open_mpi_calls` another one there
        same = [
            number
            for number, choice in enumerate(CHOICES[self.name], start=1)
            if choice.ours == algorithm and not choice.nearest and choice.name != "two_proc"
        ]
        return same[-1] if same else None  # a pipeline is the chain whose fan is 1


OPEN_MPI_COLLECTIVES = (
    *(OpenMpiCollective(name, name) for name in ("allgather", "allreduce", "alltoall")),
    OpenMpiCollective("barrier", "barrier", counts_size=False),
    OpenMpiCollective("bcast", "bcast"),
    OpenMpiCollective("exscan", "exscan", counts_size=False),
    *(OpenMpiCollective(name, name) for name in ("gather", "reduce")),
    *(OpenMpiCollective(name, "reduce_scatter") for name in ("reduce_scatter", "reduce_scatter_block")),
    OpenMpiCollective("scan", "scan", counts_size=False),
    OpenMpiCollective("scatter", "scatter"),
)
"""The collectives that a file can choose algorithms for, and that the simulator has."""


def open_mpi_file(tables: Mapping[OpenMpiCollective, Sequence[AlgorithmRule]], notes: Iterable[str] = ()) -> str:
    """The text of the file with these rules, which Open MPI has algorithms for; `notes` are its first comments.

    Of collectives for which Open MPI counts the blocks of all ranks, sizes hold on the ranks of their rules: those on
    numbers of ranks between are by so much shorter as there are more ranks.
    """
    lines = [*(f"# {note}" for note in notes), f"{len(tables)} # collectives"]
    for own, rules in tables.items():
        communicators = [(ranks, list(group)) for ranks, group in groupby(rules, key=lambda rule: rule.ranks)]
        lines += ["", f"{COLLECTIVES.index(own.name)} # {own.name}", f"{len(communicators)} # communicator sizes"]
        for ranks, messages in communicators:
            lines.append(f"{ranks} {len(messages)} # ranks and on, and message sizes")
            lines += [_line(own, rule) for rule in messages]
    return "\n".join([*lines, ""])


def _line(own: OpenMpiCollective, rule: AlgorithmRule) -> str:
    """From so many bytes on: the algorithm, the fan of its topology, and the size of its segments."""
    number = own.number(rule.algorithm, rule.ranks)
    assert number is not None, f"{own.name} by {rule.algorithm}"
    size = rule.bytes * (rule.ranks if rule.collective in OF_ALL_RANKS else 1)
    segment = rule.segment if (rule.collective, rule.algorithm) in SEGMENTED else 0
    in_segments = plain(f" in segments of {size_text(segment)}") if segment else ""
    return f"{size} {number} 0 {segment} # {rule.algorithm}{in_segments}"
