"""Chakra execution traces (MLCommons) as schedules: the nodes of each rank with their dependencies, as GOAL text.

A trace is a graph and no record of calls: nodes without a path between them may run at the same time. Computations
become calcs, those of the device on one CPU and those of the host on another; sends and receives become messages, and
collectives the messages of an algorithm. The files are read twice, a node after the other: first for the groups of the
collectives, then for the ops.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ..errors import InputError
from ..escaping import name_of, quote
from .chakra_collectives import KINDS, Collectives
from .chakra_file import Node, NodeFile
from .files_of_ranks import files_of_ranks

_INVALID, _METADATA, _LOAD, _STORE, _COMPUTATION, _SEND, _RECEIVE, _COLLECTIVE = range(8)
_DEVICE, _HOST, _COMMUNICATION, _MEMORY, _INSTANT = range(5)
"""The CPUs of the ops of a rank; the last one is of ops that take no time."""
_MOST_BYTES = 2**50
_MOST_MICROS = 9 * 10**12
_FIRST_TAG = 1 << 30
"""The first tag of collectives; the tags of messages lie below."""
_MOST_COLLECTIVES = 1 << 31


def is_chakra(source: Path) -> bool:
    """Whether a file has the name of one of a Chakra trace."""
    return source.suffix == ".et"


def write_chakra(source: Path, target: IO[bytes], algorithms: Mapping[str, str]) -> tuple[int, int, Counter[str]]:
    """Write the trace with the file `source` of a rank as GOAL text. Returns the number of ranks, that of nodes, and
    what was left out.

    Raises InputError that names file and byte if a file is missing, is none of Chakra, or has a node without meaning;
    LibraryError without the package protobuf.
    """
    files = [NodeFile(path) for path in _files_of_ranks(source)]
    groups = _groups(files)
    collectives = Collectives(algorithms)
    left_out: Counter[str] = Counter()
    nodes = 0
    target.write(f"num_ranks {len(files)}\n".encode())
    for rank, file in enumerate(files):
        target.write(f"\nrank {rank} {{\n".encode())
        ops = _RankOps(file, rank, len(files), groups, collectives, left_out)
        for line in ops.lines():
            target.write(line.encode() + b"\n")
        target.write(b"}\n")
        nodes += ops.nodes
    return len(files), nodes, left_out


def _files_of_ranks(source: Path) -> list[Path]:
    """The files of all ranks, from that of one: the last number in its name is that of the rank."""
    parts = re.fullmatch(r"(.*?)([0-9]+)([^0-9]*)", source.name, re.DOTALL)
    if not parts:
        raise InputError(f"{name_of(source)}: expected a name with the number of the rank, such as et.0.et")
    return files_of_ranks(source, parts[1], parts[3])


@dataclass
class _Group:
    """The ranks that call the collectives of a group, in their order, and the kinds and sizes of these."""

    members: list[int] = field(default_factory=list)
    calls: array[int] = field(default_factory=lambda: array("q"))
    first_tag: int = 0


def _groups(files: list[NodeFile]) -> dict[str, _Group]:
    """The groups by their names. Raises InputError if members call other collectives."""
    groups: dict[str, _Group] = {}
    for rank, file in enumerate(files):
        place: Counter[str] = Counter()
        for node in file.nodes():
            if node.type != _COLLECTIVE:
                continue
            name, kind, size = _call(file, node)
            group = groups.setdefault(name, _Group())
            if not place[name]:
                group.members.append(rank)
            _compare(file, node, group, place[name], (kind, size))
            place[name] += 1
        for name, group in groups.items():
            if group.members[-1] == rank and 2 * place[name] < len(group.calls):
                raise InputError(
                    f"{file.name}: has {place[name]} collectives of the group {quote(name)}: expected "
                    f"{len(group.calls) // 2}, as the ranks before it have"
                )
    if "" in groups and len(groups[""].members) < len(files):
        missing = next(rank for rank in range(len(files)) if rank not in set(groups[""].members))
        raise InputError(f"{files[missing].name}: has no collectives of all ranks, which others have")
    tag = _FIRST_TAG
    for group in groups.values():
        group.first_tag, tag = tag, tag + len(group.calls) // 2
    return groups


def _compare(file: NodeFile, node: Node, group: _Group, place: int, call: tuple[int, int]) -> None:
    """The n-th collective of a group is the same on all its members."""
    known = group.calls[2 * place : 2 * place + 2]
    if not known:
        if len(group.members) > 1:
            file.fail(node.at, f"node {node.id} is a collective that the ranks before it do not have")
        if 2 * place >= _MOST_COLLECTIVES:
            file.fail(node.at, "expected fewer than 2^30 collectives")
        group.calls.extend(call)
    elif tuple(known) != call:
        file.fail(
            node.at,
            f"node {node.id} is collective {place + 1} of its group, {KINDS[call[0]]} of {call[1]} B: expected "
            f"{KINDS[known[0]]} of {known[1]} B, as on the ranks before it",
        )


def _call(file: NodeFile, node: Node) -> tuple[str, int, int]:
    """The group, the kind and the size of a collective."""
    kind = _number(file, node, "comm_type", max(KINDS))
    involved = node.attributes.get("involved_dim")
    if isinstance(involved, list) and not all(involved):
        file.fail(node.at, f"node {node.id} has involved_dim: expected a collective of all ranks, or of a pg_name")
    name = node.attributes.get("pg_name", "")
    if not isinstance(name, str):
        file.fail(node.at, f"node {node.id} has a pg_name that is no text")
    return name, kind, 0 if KINDS[kind] == "barrier" else _number(file, node, "comm_size", _MOST_BYTES)


def _number(file: NodeFile, node: Node, name: str, most: int, default: int | None = None) -> int:
    """An attribute that is a number."""
    value = node.attributes.get(name, default)
    if value is None:
        file.fail(node.at, f"node {node.id} has no attribute {name}, which its type needs")
    if isinstance(value, str | list) or not 0 <= value <= most:
        file.fail(node.at, f"node {node.id} has a {name} that is no number from 0 to {most}")
    return int(value)


class _RankOps:
    """The lines of GOAL of one rank."""

    def __init__(
        self,
        file: NodeFile,
        rank: int,
        ranks: int,
        groups: Mapping[str, _Group],
        collectives: Collectives,
        left_out: Counter[str],
    ) -> None:
        self._file, self._rank, self._ranks = file, rank, ranks
        self._groups, self._collectives = groups, collectives
        self._left_out = left_out
        self._own = {name: group.members.index(rank) for name, group in groups.items() if rank in group.members}
        self._calls: Counter[str] = Counter()
        self._seen: set[int] = set()
        self.nodes = 0

    def lines(self) -> Iterator[str]:
        """The ops of each node, and its requirements as soon as the nodes that it needs have been."""
        later: list[tuple[int, int, int, bool]] = []
        for node in self._file.nodes():
            if node.id in self._seen:
                self._file.fail(node.at, f"node {node.id} is there twice")
            self._seen.add(node.id)
            self.nodes += 1
            collective = node.type == _COLLECTIVE
            yield from self._collective(node) if collective else self._op(node)
            self._left_out["control dependencies"] += node.control
            for needed in node.needs:
                if needed in self._seen and needed != node.id:
                    yield _requirement(node.id, needed, collective)
                else:
                    later.append((node.at, node.id, needed, collective))
        for at, waiting, needed, collective in later:
            if needed not in self._seen or needed == waiting:
                why = "itself" if needed == waiting else f"node {needed}, which is not in the file"
                self._file.fail(at, f"node {waiting} depends on {why}")
            yield _requirement(waiting, needed, collective)

    def _op(self, node: Node) -> Iterator[str]:
        if node.type in (_SEND, _RECEIVE):
            yield self._message(node)
            return
        if node.type not in (_INVALID, _METADATA, _LOAD, _STORE, _COMPUTATION):
            self._file.fail(node.at, f"node {node.id} has the type {node.type}: expected one from 0 to 7")
        if node.micros > _MOST_MICROS:
            self._file.fail(node.at, f"node {node.id} takes {node.micros} µs: expected at most 104 days")
        self._left_out["nodes without a type"] += node.type == _INVALID
        cpu = self._cpu(node)
        if cpu != _INSTANT and not node.micros:
            memory = cpu == _MEMORY
            if memory or node.attributes.get("num_ops"):
                self._left_out[f"{'accesses to memory' if memory else 'computations'} whose times the trace lacks"] += 1
        nanoseconds = 0 if cpu == _INSTANT else node.micros * 1000
        yield f"n{node.id}: calc {nanoseconds} cpu {cpu if nanoseconds else _INSTANT}"

    def _cpu(self, node: Node) -> int:
        if node.type in (_LOAD, _STORE):
            return _MEMORY
        if node.type != _COMPUTATION:
            return _INSTANT
        return _HOST if node.attributes.get("is_cpu_op") else _DEVICE

    def _message(self, node: Node) -> str:
        sends = node.type == _SEND
        peer = _number(self._file, node, "comm_dst" if sends else "comm_src", self._ranks - 1)
        name = "comm_size" if "comm_size" in node.attributes else "tensor_size"
        size = _number(self._file, node, name, _MOST_BYTES)
        tag = _number(self._file, node, "comm_tag", _FIRST_TAG - 1, 0)
        way = "send" if sends else "recv"
        return f"n{node.id}: {way} {size}b {'to' if sends else 'from'} {peer} tag {tag} cpu {_COMMUNICATION}"

    def _collective(self, node: Node) -> Iterator[str]:
        name, kind, size = _call(self._file, node)
        group = self._groups[name]
        tag = group.first_tag + self._calls[name]
        self._calls[name] += 1
        part = self._collectives.part(KINDS[kind], size, len(group.members), self._own[name])
        yield f"b{node.id}: calc 0 cpu {_INSTANT}"
        for number, op in enumerate(part.ops):
            if op.kind == "calc":
                yield f"n{node.id}_{number}: calc {op.size} cpu {_COMMUNICATION}"
                continue
            way = f"{op.kind} {op.size}b {'to' if op.kind == 'send' else 'from'} {group.members[op.peer]}"
            yield f"n{node.id}_{number}: {way} tag {tag} cpu {_COMMUNICATION}"
        yield f"n{node.id}: calc 0 cpu {_INSTANT}"
        for waiting, how, needed in part.requirements:
            yield f"n{node.id}_{waiting} {how} n{node.id}_{needed}"
        for number in part.first():
            yield f"n{node.id}_{number} requires b{node.id}"
        for number in part.last():
            yield f"n{node.id} requires n{node.id}_{number}"
        if not part.ops:
            yield f"n{node.id} requires b{node.id}"


def _requirement(waiting: int, needed: int, collective: bool) -> str:
    return f"{'b' if collective else 'n'}{waiting} requires n{needed}"
