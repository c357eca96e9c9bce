"""The traces of DUMPI, the tracer of the SST simulators (sst-dumpi): a binary file a rank, and a text file about them.

The files are read twice: first for the communicators, which depend on the calls of all ranks, and for the clocks; then
rank by rank for the calls.

What a trace lacks: which receives name MPI_PROC_NULL, if the MPI was MPICH; what a receive took if the program did not
ask for its status; nonblocking collectives and all later functions; whether a call succeeded.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InputError
from ..escaping import cut, name_of, quote
from ..input.files import opened, read_bytes
from ..trace_format import SENDS, WORLD
from .dumpi_calls import RankCalls
from .dumpi_collectives import Place
from .dumpi_communicators import CALLS, WORLD_HANDLE, communicators_of
from .dumpi_file import MAGIC, NS, Record, opened_rank
from .files_of_ranks import files_of_ranks
from .rank_file import RankFile

_BEGIN = 1_000_000
"""When the first rank leaves MPI_Init in the trace that is written, ns."""
_ONE_CLOCK = 10 * NS
"""Ranks leave MPI_Init together, because libdumpi lets them wait for one another; those that leave it by so much later
than others of their host have another clock."""
_SENDS = frozenset((*SENDS, "Sendrecv", "Sendrecv_replace"))
"""Calls whose third field is a destination."""
_MOST_META = 1 << 16
_RANK_NAME = re.compile(r"(.*-)([0-9]{4,})(\.bin)", re.DOTALL)


def is_dumpi(source: Path) -> bool:
    """Whether a file is that of a rank, or the one about the trace."""
    with opened(source, "a trace") as file:
        head = file.read(_MOST_META)
    return head.startswith((MAGIC, MAGIC[::-1])) or (source.suffix == ".meta" and b"numprocs=" in head)


def import_dumpi(source: Path, folder: Path) -> Counter[str]:
    """Write the rank files of the trace with the file `source`, of a rank or .meta, to `folder`. Returns what was left
    out.

    Raises InputError that names file and byte if a file is missing, is none of DUMPI, or has a record that is none.
    """
    files = _files_of_ranks(source)
    ranks = [_survey(file, len(files)) for file in files]
    communicators = communicators_of([rank.calls for rank in ranks])
    shifts = _shifts(ranks)
    null_is_any = any(rank.sends_to_minus_one for rank in ranks)
    left_out: Counter[str] = Counter()
    for number, file in enumerate(files):
        with ExitStack() as stack:
            trace = stack.enter_context(opened_rank(file))
            written = stack.enter_context((folder / f"rank-{number:07}.iwtrace").open("w+b"))
            rank_file = RankFile(written, number, len(files), trace.host, "imported from DUMPI")
            world = Place(WORLD, number, len(files))
            calls = RankCalls(trace, rank_file, world, communicators[number], null_is_any=null_is_any)
            calls.convert(shifts[number])
            left_out += calls.left_out
            left_out["calls that libdumpi was set not to record"] += trace.ignored()
    return left_out


@dataclass
class _Survey:
    """What the first reading finds in the file of a rank."""

    host: str
    started: int = 0
    """When the rank left MPI_Init, by its clock, in ns."""
    calls: list[Record] = field(default_factory=list)
    """Those that make communicators or groups."""
    sends_to_minus_one: bool = False
    """The MPI is one, such as MPICH, whose MPI_PROC_NULL is −1, as DUMPI writes MPI_ANY_SOURCE."""


def _survey(file: Path, ranks: int) -> _Survey:
    with opened_rank(file) as trace:
        found = _Survey(trace.host)
        left_init = False
        for record in trace.records():
            if record.name in CALLS:
                found.calls.append(record)
            elif record.name in ("Init", "Init_thread"):
                left_init = True
                found.started = trace.wall_offset * NS + record.end
            elif record.name in _SENDS:
                found.sends_to_minus_one = found.sends_to_minus_one or record.fields[2] == -1
            elif record.name == "Comm_size" and record.fields[0] == WORLD_HANDLE and record.fields[1] != ranks:
                trace.fail(record.at, f"the program had {record.fields[1]} ranks: expected so many files, not {ranks}")
        if not left_init:
            raise InputError(f"{trace.name}: has no MPI_Init: expected a trace from there on")
    return found


def _shifts(ranks: list[_Survey]) -> list[int]:
    """What is added to the times of each rank, ns: they begin at 1 ms. Ranks of one host have one clock, unless
    they leave MPI_Init at times that lie far apart; ranks with clocks of their own have left MPI_Init together."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for rank in ranks:
        first[rank.host] = min(first.get(rank.host, rank.started), rank.started)
        last[rank.host] = max(last.get(rank.host, rank.started), rank.started)
    return [
        _BEGIN - (first[rank.host] if last[rank.host] - first[rank.host] <= _ONE_CLOCK else rank.started)
        for rank in ranks
    ]


def _files_of_ranks(source: Path) -> list[Path]:
    """The files of all ranks, from that of one, or from the file about the trace."""
    if source.suffix == ".meta":
        return _expected_files(str(source.with_suffix("")), source)
    found = _RANK_NAME.fullmatch(source.name)
    if not found:
        raise InputError(
            f"{name_of(source)}: expected the name of the file of a rank, which ends with a number of four digits "
            "and .bin (dumpi-…-0000.bin)"
        )
    stem = str(source)[: -len(f"-{found[2]}{found[3]}")]
    meta = Path(f"{stem}.meta")
    if meta.is_file():
        return _expected_files(stem, meta)
    return files_of_ranks(source, found[1], found[3], digits=4)


def _expected_files(stem: str, meta: Path) -> list[Path]:
    """The files of as many ranks as the file about the trace says."""
    text = read_bytes(meta, "the .meta file of a DUMPI trace", most=_MOST_META).decode("utf-8", errors="replace")
    line = next((line for line in text.splitlines() if line.startswith("numprocs=")), "")
    number = line.removeprefix("numprocs=").strip()
    if not re.fullmatch("[1-9][0-9]{0,8}", number):
        raise InputError(
            f"{name_of(meta)}: expected a line numprocs= with the number of ranks, found {quote(cut(line))}"
        )
    files: list[Path] = []
    for rank in range(int(number)):
        file = _file_of(stem, rank)
        if not file.is_file():
            raise InputError(f"{name_of(file)}: is missing: {name_of(meta.name)} says that there are {number} ranks")
        files.append(file)
    return files


def _file_of(stem: str, rank: int) -> Path:
    return Path(f"{stem}-{rank:04}.bin")
