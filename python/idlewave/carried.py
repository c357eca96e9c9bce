"""Provenance as files carry it: where each form has it, and how it is found there again."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .digests import COMMENT, digest_of_file, digest_of_schedule, digest_of_stream
from .errors import InputError
from .provenance import KEY, PROVENANCE, Provenance

CSVW = "dc:provenance"
"""Under which the metadata of CSV have it."""
MOST_JSON = 1 << 28
_HEAD, _TAIL = 1 << 22, 1 << 20
_BEGIN = '{"kind": "'
_IN_FOLDERS = (
    "trace.json",
    "measurement.json",
    "network.json",
    "report.html",
    "environment.json",
    "traces.otf2",
    "machine.toml",
)
"""Which of a folder's files speaks for it."""
_DATES = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""What matplotlib would say of when a picture was made."""


def comment(provenance: Provenance) -> str:
    """A line that TOML passes over."""
    return f"# {KEY}: {provenance.to_json()}\n"


def beside_csv(path: Path) -> Path:
    """The file beside a CSV file that has what concerns the table, as CSV on the Web (W3C, 2015) names it."""
    return path.with_name(f"{path.name}-metadata.json")


def metadata_of_csv(name: str, text: str, said: str) -> dict[str, str]:
    """What stands there: the provenance, with the digest of the CSV file of that name and text."""
    provenance = replace(Provenance.from_json(said), digests={"content": digest_of_stream(io.BytesIO(text.encode()))})
    return {"@context": "http://www.w3.org/ns/csvw", "url": name, CSVW: provenance.to_json()}


def said_of(provenance: Provenance) -> dict[str, Any]:
    """The entry of an object of JSON."""
    return {PROVENANCE: provenance.as_json()}


def picture_metadata(form: str, provenance: Provenance | None, title: str = "") -> dict[str, Any]:
    """What matplotlib writes into a picture of the form png, svg or pdf: neither host nor time, so that the same data
    give the same file."""
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
    try:
        if path.is_dir():
            found = (read_provenance(path / name) for name in _IN_FOLDERS if (path / name).is_file())
            return next((provenance for provenance in found if provenance is not None), None)
        return _of_file(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _of_file(path: Path) -> Provenance | None:
    if not path.is_file():
        raise InputError(f"{path}: expected a file or a folder that Idlewave made")
    with path.open("rb") as file:
        begin = file.read(len(COMMENT))
    if begin.startswith(b"PAR1"):
        return _of_parquet(path)
    if begin == COMMENT:
        return _of_goal(path)
    if path.suffix == ".csv":
        return _of_csv(path)
    if begin.lstrip().startswith(b"{") and path.suffix == ".json":
        return _of_json(path)
    return _of_text(path, begin)


def _of_parquet(path: Path) -> Provenance | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        metadata: Mapping[bytes, bytes] = parquet.read_schema(path).metadata or {}
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from error
    text = metadata.get(KEY.encode())
    return None if text is None else Provenance.from_json(text, f"{path}: {KEY}")


def _of_goal(path: Path) -> Provenance | None:
    with path.open("rb") as file:
        content = digest_of_schedule(file)
    said = Provenance.from_json(content.comment, str(path))
    return said if content.sealed else Provenance("schedule", str(path), options={"edited": True}, sources=(said,))


def _of_json(path: Path) -> Provenance | None:
    with path.open("rb") as file:
        text = file.read(MOST_JSON + 1)
    if len(text) > MOST_JSON:
        raise InputError(f"{path}: expected at most {MOST_JSON} bytes of JSON")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON: {error}") from error
    if not isinstance(said, dict):
        return None
    if isinstance(said.get(CSVW), str):
        return Provenance.from_json(said[CSVW], f"{path}: {CSVW}")
    return Provenance.from_object(said[PROVENANCE], f"{path}: {PROVENANCE}") if PROVENANCE in said else None


def _of_csv(path: Path) -> Provenance | None:
    beside = beside_csv(path)
    found = _of_json(beside) if beside.is_file() else None
    if found is None or found.digests.get("content") == digest_of_file(path):
        return found
    return replace(found, name=found.name or str(path), options={**found.options, "edited": True})


def _of_text(path: Path, begin: bytes) -> Provenance | None:
    """What stands somewhere in the text or the metadata of any other form: the first object that is a provenance."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        size = file.seek(0, 2)
        file.seek(max(len(head), size - _TAIL))
        text = (head + file.read()).decode("utf-8", "replace")
    if path.suffix in (".html", ".svg"):
        text = html.unescape(text)
    if begin.startswith(b"%PDF"):
        text = re.sub(r"\\([()\\])", r"\1", text)
    at = text.find(_BEGIN)
    while at >= 0:
        try:
            said, _ = json.JSONDecoder().raw_decode(text, at)
            found = Provenance.from_object(said, str(path))
            if found.version:
                return found
        except (ValueError, RecursionError, InputError):
            pass
        at = text.find(_BEGIN, at + 1)
    return None
