"""The files of a trace that has one for each rank, with the rank's number in its name."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import InputError
from ..escaping import name_of


def files_of_ranks(source: Path, before: str, after: str, digits: int = 1) -> list[Path]:
    """The files of ranks 0, 1, … beside `source`, which is one of them.

    A rank's name is `before`, its number with at least so many `digits`, and `after`. Raises InputError that names the
    first file that is missing, if `source` or a file with a later number is there without it.
    """

    def name(rank: int) -> str:
        return f"{before}{rank:0{digits}}{after}"

    files: list[Path] = []
    while (file := source.with_name(name(len(files)))).is_file():
        files.append(file)
    numbered = re.compile(f"{re.escape(before)}([0-9]+){re.escape(after)}", re.DOTALL)
    # A number may be written with other padding: only the names that were looked for above count.
    numbers = (int(found[1]) for entry in source.parent.iterdir() if (found := numbered.fullmatch(entry.name)))
    later = min(
        (rank for rank in numbers if rank > len(files) and source.with_name(name(rank)).is_file()), default=None
    )
    if later is not None:
        raise InputError(
            f"{name_of(file)}: is missing, and {name_of(name(later))} is there: expected the files of all ranks from 0 "
            "on"
        )
    if source not in files:
        raise InputError(f"{name_of(file)}: is missing: expected the files of all ranks from 0 on")
    return files
