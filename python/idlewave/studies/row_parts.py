"""The rows of a study in its folder: parts in Parquet, written as rows come, each complete or not there at all.

A part is FOLDER/rows/SHARE-NUMBER.parquet, where SHARE is `all`, or the share of a task of an array, which writes parts
of its own. Each carries the provenance of its rows with their digest, so that a part which was damaged or edited is
noticed.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, OutputError
from ..escaping import cut, name_of, quote
from ..output import make_folder, write_table
from ..provenance import KEY, Provenance
from .case_study import CASE, CaseStudy, Row
from .rows_digest import CASE_ROWS, digest_of_case_rows

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = "rows"
"""The folder of the parts."""
MOST_PARTS = 32
"""So many parts of a share are merged into one."""


class RowParts:
    """The parts of one study in a folder; one process at a time writes those of a share."""

    def __init__(self, study: CaseStudy[Any], folder: str | Path, share: str = "all") -> None:
        self._study = study
        self._folder = Path(folder) / ROWS
        self._share = share
        self._sources: tuple[Provenance, ...] = ()

    @contextmanager
    def writing(self, sources: tuple[Provenance, ...]) -> Iterator[None]:
        """In the block `append` may be called; `sources` are what the rows are made from.

        Raises OutputError if another process writes parts of this share, or the folder cannot be written.
        """
        make_folder(self._folder)
        self._sources = sources
        lock = self._folder / f".{self._share}.lock"
        try:
            file = lock.open("w")
        except OSError as error:
            raise OutputError(lock, error.strerror or str(error)) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(self._folder, "another process runs this study into this folder now") from None
            except OSError:  # a file system without locks
                pass
            for left in self._folder.glob(f"{self._share}-*.part"):  # of a process that was killed
                left.unlink(missing_ok=True)
            yield

    def read(self) -> dict[str, Row]:
        """All rows in the folder, of every share, by the digests of their cases. Raises InputError naming the part."""
        rows: dict[str, Row] = {}
        for part in sorted(self._folder.glob("*.parquet")):
            with suppress(FileNotFoundError):  # merged meanwhile by another task: its rows are in a later part
                rows |= {str(row[CASE]): row for row in self._rows_of(part)}
        return rows

    def append(self, rows: Sequence[Row]) -> None:
        """Write the rows as one more part. Raises OutputError."""
        own = self._own()
        path = self._folder / f"{self._share}-{_number(own[-1]) + 1 if own else 1:06}.parquet"
        self._write(path, rows)
        if len(own) + 1 >= MOST_PARTS:
            self._merge([*own, path])

    def _own(self) -> list[Path]:
        """The parts of this share, oldest first."""
        return sorted(self._folder.glob(f"{self._share}-*.parquet"), key=_number)

    def _merge(self, parts: list[Path]) -> None:
        """One part instead of many. The new one is there before the others are removed: an interrupt leaves rows twice,
        and never none."""
        rows = {str(row[CASE]): row for part in parts for row in self._rows_of(part)}
        self._write(self._folder / f"{self._share}-{_number(parts[-1]) + 1:06}.parquet", list(rows.values()))
        for part in parts:
            part.unlink(missing_ok=True)

    def _write(self, path: Path, rows: Sequence[Row]) -> None:
        import pyarrow as pa

        write_table(path, with_provenance(pa.Table.from_pylist(list(rows)), self._study, self._sources))

    def _rows_of(self, part: Path) -> list[Row]:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            table = parquet.read_table(part)
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(part, f"it cannot be read: {cut(str(error))}") from error
        said = Provenance.of_table(table, name_of(part))
        if said is None or said.kind != "study" or said.name != self._study.name:
            other = "something else" if said is None else f"those of {quote(said.name or said.kind)}"
            raise InputError(f"{name_of(part)}: expected rows of the study {self._study.name}, found {other}")
        if CASE not in table.column_names or said.digests.get(CASE_ROWS) != digest_of_case_rows(table):
            raise self._damaged(part, "its rows are not those that were written")
        found: list[Row] = table.to_pylist()
        return found

    def _damaged(self, part: Path, why: str) -> InputError:
        return InputError(
            f"{name_of(part)}: expected rows of the study {self._study.name}: {why}; without this file its rows are "
            "computed again"
        )


def with_provenance(table: pa.Table, study: CaseStudy[Any], sources: tuple[Provenance, ...]) -> pa.Table:
    """The rows of a study with their provenance and digest in the metadata of the schema."""
    made = Provenance.made(
        "study",
        study.name,
        by=f"idlewave.study.{study.name.replace('-', '_')}",
        digests={CASE_ROWS: digest_of_case_rows(table)},
        options={"version": study.version},
        sources=sources,
    )
    return table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: made.to_json()})


def _number(part: Path) -> int:
    found = re.fullmatch(r".*-(\d+)\.parquet", part.name)
    return int(found[1]) if found else 0
