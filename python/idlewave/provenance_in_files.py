"""Provenance in files: where each file format has it, and how it is read from there."""

from __future__ import annotations

import html
import io
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from .digests import COMMENT, digest_of_schedule, digest_of_stream
from .errors import InputError
from .escaping import cut, name_of, printable
from .input.bounds import MOST_TEXT
from .input.files import opened
from .input.validation import load_json
from .provenance import KEY, MOST_CHARACTERS, PROVENANCE, Provenance, provenance_text_in
from .studies.rows_digest import CASE_ROWS, ROWS, compared_with_rows, digest_of_case_rows, edited

CSVW = "dc:provenance"
"""The key of provenance in the metadata of CSV."""
WHAT = "something that Idlewave made"
_HEAD, _TAIL = 1 << 22, 1 << 20
_BEGIN = '{"kind": "'
_MOST_TRIES = 64
_IN_FOLDERS = (
    "trace.json",
    "measurement.json",
    "network.json",
    "report.html",
    "environment.json",
    "traces.otf2",
    "machine.toml",
)
"""The files whose provenance counts for their folder, the first one first."""
_DATES = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata that keep matplotlib from writing the date."""


def comment(provenance: Provenance) -> str:
    """The provenance as a comment of TOML."""
    return f"# {KEY}: {provenance.to_json()}\n"


def beside_csv(path: Path) -> Path:
    """The path of the metadata of a CSV file, as CSV on the Web (W3C, 2015) names it."""
    return path.with_name(f"{path.name}-metadata.json")


def metadata_of_csv(name: str, text: str, provenance_json: str) -> dict[str, str]:
    """The content of that file: the provenance, with the digest of the CSV file of that name and text."""
    provenance = Provenance.from_json(provenance_json)
    content = {"content": digest_of_stream(io.BytesIO(text.encode()))}
    provenance = replace(provenance, digests={**provenance.digests, **content})
    return {"@context": "http://www.w3.org/ns/csvw", "url": name, CSVW: provenance.to_json()}


def picture_metadata(form: str, provenance: Provenance | None, title: str = "") -> dict[str, Any]:
    """The metadata that matplotlib writes into a picture of the format png, svg or pdf.

    Host and time are left out, so that the same data give the same file. Control characters are escaped, because XML
    cannot have most of them.
    """
    title = printable(title, keep="")
    said: dict[str, Any] = dict(_DATES[form]) | ({"Title": title} if title else {})
    if provenance is None:
        return said | ({"Software": None} if form == "png" else {})
    text = provenance.without_place().to_json()
    by = f"Idlewave {provenance.version}"
    return (
        said
        | {
            "png": {"Software": by, "Description": text},
            "svg": {"Creator": by, "Description": text},
            "pdf": {"Creator": by, "Subject": text},
        }[form]
    )


def read_provenance(path: Path) -> Provenance | None:
    """See `Provenance.read`."""
    if path.is_dir():
        found = (_of_file(path / name) for name in _IN_FOLDERS if (path / name).is_file())
        return next((provenance for provenance in found if provenance is not None), None)
    return _of_file(path)


def _of_file(path: Path) -> Provenance | None:
    with opened(path, WHAT) as file:
        begin = file.read(len(COMMENT))
        if not isinstance(begin, bytes):  # None: a file of the kernel without data at the moment
            raise InputError(f"{name_of(path)}: cannot be read as {WHAT}: nothing is there to be read")
        file.seek(0)
        if begin.startswith(b"PAR1"):
            return _of_rows(_of_parquet(file, path), path)
        if begin == COMMENT:
            return _of_goal(file, path)
        if path.suffix == ".csv":
            return _of_rows(_of_csv(file, path), path)
        if path.suffix == ".json":
            return _of_json(path)
        return _of_text(file, path)


def _of_parquet(file: BinaryIO, path: Path) -> Provenance | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        source = parquet.ParquetFile(file, thrift_string_size_limit=MOST_TEXT, thrift_container_size_limit=MOST_TEXT)
        metadata: Mapping[bytes, bytes] = source.schema_arrow.metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{name_of(path)}: cannot be read as {WHAT}: {cut(str(error))}") from error
    text = provenance_text_in(metadata)
    found = None if text is None else Provenance.from_json(text, name_of(path))
    if found is None or CASE_ROWS not in found.digests:
        return found
    try:
        same = found.digests[CASE_ROWS] == digest_of_case_rows(source.read())
    except (pa.ArrowException, OSError, ValueError):
        same = False
    return found if same else edited(found, str(path))


def _of_rows(found: Provenance | None, path: Path) -> Provenance | None:
    """`found`, marked as edited if the rows of the file do not have the digest in it."""
    if found is None or ROWS not in found.digests:
        return found
    from .studies.table import rows_of_file

    try:
        return compared_with_rows(found, rows_of_file(path), str(path))
    except InputError:
        return edited(found, str(path))


def _of_goal(file: BinaryIO, path: Path) -> Provenance:
    content = digest_of_schedule(file)
    said = Provenance.from_json(content.comment, name_of(path))
    return said if content.sealed else Provenance("schedule", str(path), options={"edited": True}, sources=(said,))


def _of_json(path: Path) -> Provenance | None:
    said, name = load_json(path, WHAT), name_of(path)
    if not isinstance(said, dict):
        return None
    if isinstance(said.get(CSVW), str):
        return Provenance.from_json(said[CSVW], name)
    return Provenance.from_object(said[PROVENANCE], name, PROVENANCE) if PROVENANCE in said else None


def _of_csv(file: BinaryIO, path: Path) -> Provenance | None:
    beside = beside_csv(path)
    found = _of_json(beside) if beside.is_file() else None
    if found is None or found.digests.get("content") == digest_of_stream(file):
        return found
    return edited(found, str(path))


def _of_text(file: BinaryIO, path: Path) -> Provenance | None:
    """What stands somewhere in the text or the metadata of any other form: the first object that is a provenance."""
    head = file.read(_HEAD)
    file.seek(max(len(head), file.seek(0, os.SEEK_END) - _TAIL))
    text = (head + file.read()).decode("utf-8", "replace")
    if path.suffix in (".html", ".svg"):
        text = html.unescape(text)
    if head.startswith(b"%PDF"):
        text = re.sub(r"\\([()\\])", r"\1", text)
    for begin in islice(re.finditer(re.escape(_BEGIN), text), _MOST_TRIES):
        piece = text[begin.start() : begin.start() + MOST_CHARACTERS]
        with suppress(ValueError, RecursionError, InputError):
            _, end = json.JSONDecoder().raw_decode(piece)
            found = Provenance.from_json(piece[:end], name_of(path))
            if found.version:
                return found
    return None
