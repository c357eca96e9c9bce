"""The table [network.one_sided] of a machine.toml: a back end's parameters, beside those of messages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import InputError, MeasurementError
from ...escaping import name_of
from ...formatting import plain_time
from ...host_environment import provenance_of
from ...input.files import read_text
from ...machine import BETWEEN, WITHIN, Level, Machine, Parameters, Segment
from ...machine_file.writer import machine_toml, one_sided_toml
from ...output import write_text
from ...provenance import Provenance
from ...provenance_in_files import comment
from .fit import OneSidedFit, OneSidedRange
from .libraries import BACK_END_NAMES
from .samples import OneSidedMeasurement

TABLE = "network.one_sided"
_HEAD = "One-sided communication by "
"""How the comment above the table begins, by which it is found again."""
_OURS = re.compile(rf"\[+\s*{re.escape(TABLE)}(\.\w+)?\s*\]+")
_KEYS = {"L": "L", "o": "o_s", "g": "g", "G": "G", "O": "O_s"}
"""The keys of the table, by the names of LogGP."""


def table_toml(fit: OneSidedFit, found: OneSidedMeasurement) -> str:
    """The table's text, with a comment on its measurement above it and the intervals behind the values."""
    about = (
        f"{_HEAD}{BACK_END_NAMES[fit.back_end]}: {_where(found)}\n"
        "A put is complete after o + 2L + kG, or when the CPU (o + kO) or the NIC (g + kG) is done later: k bytes "
        "after the first."
    )
    comments = {TABLE: about}
    for number, one in enumerate(fit.ranges):
        table = f"{TABLE}.segment[{number - 1}]" if number else TABLE
        for name, ends in one.intervals.items():
            low, high = (plain_time(end, 3) for end in ends)
            comments[f"{table}.{_KEYS[name]}"] = f"95 %: {low} to {high}"
    # Of a library whose puts wait for the target, the parameters were measured on a target that is in its library, so
    # they have its CPU's time in them: o_r and O_r are 0.
    return one_sided_toml(_level(fit.ranges), "cpu" if fit.waits else "network", comments)


def _level(ranges: Sequence[OneSidedRange]) -> Level:
    found = [Parameters(L=r.L, o_s=r.o, o_r=0, g=r.g, G=r.G, O_s=r.O, O_r=0.0) for r in ranges]
    return Level(found[0], tuple(Segment(r.first, p) for r, p in zip(ranges[1:], found[1:], strict=True)))


def _where(found: OneSidedMeasurement) -> str:
    environment: Mapping[str, Any] = found.environment or {}
    host, time = (environment.get(name) for name in ("host", "time"))
    pair = "within one node" if len(_hosts(found)) == 1 else "between two nodes"
    library = str(found.probe.get("library") or "an MPI not recorded").split(",")[0].split("\n")[0].strip()
    return f"measured on {host or 'a host not recorded'} at {time or 'a time not recorded'}, {pair}, with {library}."


def _hosts(found: OneSidedMeasurement) -> set[str]:
    """The hosts of ranks 0 and 1."""
    return {str(rank["host"]) for rank in found.probe["ranks"][:2]}


def machine_of(found: OneSidedMeasurement, messages: OneSidedFit, name: str) -> Machine:
    """A machine with the messages of the pair as its network; every message is eager."""
    cores = (found.environment or {}).get("cores")
    if len(_hosts(found)) > 1:
        return Machine(name, messages.level, measured=BETWEEN)
    if isinstance(cores, int) and cores > 0:
        return Machine(name, messages.level, node_ranks=cores, measured=WITHIN)
    return Machine(name, messages.level)


def write_new_machine(
    file: Path, found: OneSidedMeasurement, messages: OneSidedFit, one_sided: OneSidedFit, name: str
) -> None:
    """Write a machine.toml with the pair's messages as [network], and `one_sided` as its table."""
    machine = machine_of(found, messages, name)
    source = provenance_of("one-sided", found.environment or {})
    digests = machine.provenance.digests
    by = "idlewave.measure.measure_one_sided"
    said = Provenance.made("machine", name, by=by, digests=digests, sources=(source,))
    where = _where(found)
    about = (
        f"{where[:1].upper()}{where[1:]} Messages of the pair, by the fit of one-sided communication, all eager; "
        "`idlewave measure network` measures them thoroughly."
    )
    text = machine_toml(machine, comments={"network": about})
    write_text(file, f"{comment(said)}{text}\n{table_toml(one_sided, found)}")


def check_machine(file: Path) -> str:
    """The text of the machine.toml that is to get the table. Raises InputError if it is none."""
    text = read_text(file, "a machine")
    if not isinstance(_tables(text, file).get("network"), dict):
        raise InputError(f"{name_of(file)}: expected a machine with a table [network], found none")
    return text


def write_into_machine(file: Path, one_sided: OneSidedFit, found: OneSidedMeasurement) -> None:
    """Put the table into the machine.toml `file`, in place of one that is there; all else stays as it is.

    Raises InputError if the file is no machine, or says its table in another way than tables of their own.
    """
    text = check_machine(file)
    before = _without(text)
    left = _tables(before, file)
    if "one_sided" in left.get("network", {}) or _without_table(left) != _without_table(_tables(text, file)):
        raise InputError(f"{name_of(file)}: expected the one-sided network as [{TABLE}] and its segments")
    result = f"{before.rstrip()}\n\n{table_toml(one_sided, found)}"
    _tables(result, file)
    write_text(file, result)


def _without(text: str) -> str:
    """The text without the table, its segments, and the comment above it."""
    kept: list[str] = []
    ours = False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            ours = bool(_OURS.match(line.strip()))
        elif line.startswith(f"# {_HEAD}"):
            ours = True
        if not ours:
            kept.append(line)
    return "\n".join(kept) + "\n"


def _tables(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name_of(file)}: {error}") from error


def _without_table(tables: dict[str, Any]) -> dict[str, Any]:
    network = {name: value for name, value in tables.get("network", {}).items() if name != "one_sided"}
    return tables | {"network": network}


def one_sided_of(fits: Mapping[str, OneSidedFit], wanted: str | None) -> OneSidedFit:
    """The fit whose table a machine gets: of the back end `wanted`, None: of the first one-sided one. Raises
    MeasurementError if it was not measured."""
    names = [name for name in fits if name != "mpi"]
    if not names or (wanted is not None and wanted not in names):
        found = ", ".join(names) or "none"
        raise MeasurementError(f"expected a one-sided back end that was measured for the machine, found {found}")
    return fits[wanted or names[0]]
