"""Traces of other tools: imported as traces of Idlewave, or as schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import InputError
from ..escaping import name_of
from ..output import check_output, make_folder, output_file, output_folder, write_json
from ..schedule import convert, format_for
from ..trace import Trace
from ..traced_run import FORMAT


@dataclass(frozen=True)
class Imported:
    """An imported trace, the name of the format that it came from, and how much of each kind was left out."""

    trace: Trace
    format: str
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class ImportedSchedule:
    """The file of an imported schedule, the name of the format that it came from, its ranks, the nodes of the graph,
    and how much of each kind was left out."""

    file: Path
    format: str
    ranks: int
    nodes: int
    left_out: Mapping[str, int]


def is_graph(source: str | Path) -> bool:
    """Whether a file is one of a trace that is a graph: `import_schedule` reads it."""
    from .chakra import is_chakra

    return is_chakra(Path(source))


def import_schedule(
    source: str | Path, file: str | Path, *, algorithms: Mapping[str, str] | None = None
) -> ImportedSchedule:
    """Write a Chakra execution trace as a schedule to `file`, whose ending says its format: .goal, .bin or .idg.

    `source` is the file of any rank. `algorithms` names those of collectives ({"allreduce": "ring"}). Raises InputError
    if the trace cannot be used, or an algorithm does not exist; UsageError for another ending; OutputError if the file
    cannot be written; LibraryError without the package protobuf.
    """
    from .chakra import is_chakra, write_chakra

    source, file = Path(source), Path(file)
    form = format_for(file)
    check_output(file)
    if not (is_chakra(source) and source.is_file()):
        raise InputError(f"{name_of(source)}: expected the file of a rank of a Chakra trace, which ends with .et")
    make_folder(file.absolute().parent)
    with ExitStack() as stack:
        goal = file if form == "goal" else Path(stack.enter_context(TemporaryDirectory())) / "schedule.goal"
        with output_file(goal) as written:
            ranks, nodes, left_out = write_chakra(source, written, algorithms or {})
        if goal != file:
            convert(goal, file, to=form)
    return ImportedSchedule(file, "Chakra", ranks, nodes, _nonzero(left_out))


def _nonzero(left_out: Counter[str]) -> dict[str, int]:
    return {kind: number for kind, number in left_out.items() if number}


def import_trace(source: str | Path, folder: str | Path) -> Imported:
    """Write the trace of another tool as a trace of Idlewave to `folder`, which must be new or empty.

    `source` is the anchor file (`traces.otf2`) of an OTF2 archive, the folder with it, the file of rank 0 of a trace
    of liballprof, or the file of a rank or the .meta file of a DUMPI trace. Raises InputError if it is none or cannot
    be used, OutputError if the folder cannot be written, LibraryError without the package otf2.
    """
    source = Path(source)
    found = source / "traces.otf2" if source.is_dir() else source
    if not found.is_file():
        raise InputError(
            f"{name_of(source)}: expected an OTF2 archive, its file traces.otf2 or the folder with that, the file of "
            "rank 0 of a trace of liballprof, or a file of a DUMPI trace"
        )
    form, read = _format_of(found)
    with output_folder(folder) as unfinished:
        left_out = _nonzero(read(found, unfinished))
        imported = {"from": str(found), "format": form, "left_out": left_out}
        write_json(unfinished / "trace.json", {"format": FORMAT, "command": [], "imported": imported})
    return Imported(Trace.load(folder), form, left_out)


def _format_of(source: Path) -> tuple[str, Callable[[Path, Path], Counter[str]]]:
    """The format of a file, and the function that imports it."""
    from .liballprof import import_liballprof, is_liballprof

    if is_liballprof(source):
        return "liballprof", import_liballprof
    from .dumpi import import_dumpi, is_dumpi

    if is_dumpi(source):
        return "DUMPI", import_dumpi
    from .otf2 import import_otf2

    return "OTF2", import_otf2
