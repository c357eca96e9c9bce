"""Provenance: the sources of an artefact, and how, where and when it was made. Every file of Idlewave carries it.

>>> timeline = idlewave.simulate(schedule, machine, seed=1)
>>> timeline.provenance.find("machine").digests
>>> idlewave.Provenance.read("study.parquet")

It is one JSON object; docs/provenance.md says where each file format holds it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._core import version
from .digests import plain
from .errors import InputError
from .field_methods import FieldMethods

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from .input.provenance_schema import ProvenanceSchema

KEY = "idlewave"
"""The key of provenance in the metadata of tables, pictures and texts."""
PROVENANCE = "provenance"
"""The key of provenance in JSON files."""
ONE_SIDED = "one-sided operations"
"""What `parts_that_differ` calls them."""
MOST_CHARACTERS = 1 << 20
DEEPEST = 24
"""How many levels of sources of sources are kept."""
LONGEST_COMMAND = 4000
_TEXTS = {"name": "name", "made_by": "made_by", "version": "idlewave", "host": "host", "time": "time"}
"""The fields that are texts, with their keys in JSON."""


@dataclass(frozen=True, eq=False, repr=False)
class Provenance(FieldMethods):
    """The provenance of an artefact.

    `kind` is machine, trace, schedule, timeline, study, measurement, recording, signature, run (of a model), picture or
    report. `digests` has the digests of its content, by part (docs/provenance.md). `options` has the options that
    change its content, seeds included. `sources` has the provenance of what it was made from. `made_by` is the command
    or function, `version` the version of Idlewave; `host` and `time` (ISO 8601, UTC) say where and when. A field whose
    value is not known is empty.
    """

    kind: str
    name: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[Provenance, ...] = ()
    made_by: str = ""
    version: str = ""
    host: str = ""
    time: str = ""

    @classmethod
    def made(
        cls,
        kind: str,
        name: str = "",
        *,
        by: str,
        digests: Mapping[str, str] | None = None,
        options: Mapping[str, object] | None = None,
        sources: tuple[Provenance, ...] = (),
        at: float | None = None,
    ) -> Provenance:
        """The provenance of what is made here, now or at the time `at` (s since 1970).

        It was made by the command of Idlewave that this process runs, or in another program by the function `by`.
        """
        return cls(kind, name, dict(digests or {}), plain(dict(options or {})), sources).written(by=by, at=at)

    def written(self, *, by: str, at: float | None = None) -> Provenance:
        """The same, made here, now or at the time `at`."""
        return replace(
            self,
            made_by=command_line() or by,
            version=version(),
            host=os.uname().nodename,
            time=time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at)),
        )

    def without_place(self) -> Provenance:
        """The same without host and time, for files that must be equal, to the byte, wherever and whenever they are
        made."""
        return replace(self, host="", time="")

    def all(self) -> Iterator[Provenance]:
        """This provenance and all its direct and indirect sources, nearest first."""
        level: tuple[Provenance, ...] = (self,)
        while level:
            yield from level
            level = tuple(source for found in level for source in found.sources)

    def find(self, kind: str) -> Provenance | None:
        """The nearest provenance of that kind, of this one and its sources."""
        return next((found for found in self.all() if found.kind == kind), None)

    def as_json(self, deepest: int = DEEPEST) -> dict[str, Any]:
        """The provenance as an object of JSON, with printable texts.

        Empty fields, and sources more than `deepest` levels below, are left out.
        """
        values: dict[str, Any] = {"kind": self.kind}
        values |= {key: getattr(self, name) for name, key in _TEXTS.items()}
        values = plain(values | {"digests": dict(self.digests), "options": dict(self.options)})
        values["sources"] = [source.as_json(deepest - 1) for source in self.sources] if deepest else []
        return {key: value for key, value in values.items() if value not in ("", {}, [])}

    def to_json(self) -> str:
        """The provenance as one line of JSON, in ASCII."""
        import json

        return json.dumps(self.as_json(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = PROVENANCE) -> Provenance:
        """Read the text of `to_json`. Raises InputError; messages call the file `name`."""
        from .input.decoding import decode_json

        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"{name}: expected a provenance of at most {MOST_CHARACTERS} characters, found {len(text)}"
            )
        json_text = text.decode(errors="replace") if isinstance(text, bytes) else text
        return cls.from_object(decode_json(json_text, name), name)

    @classmethod
    def from_object(cls, value: object, name: str = PROVENANCE, key: str = "") -> Provenance:
        """Read an object of JSON, which stands under `key` in a file that messages call `name`.

        Unknown keys are ignored. Raises InputError that names the key.
        """
        from .input.provenance_schema import ProvenanceSchema
        from .input.validation import checked

        return _from_schema(checked(value, ProvenanceSchema, name, key=key))

    @classmethod
    def read(cls, path: str | Path) -> Provenance | None:
        """The provenance in a file or folder of Idlewave; None if there is none.

        Raises InputError if the file cannot be read, or its provenance is damaged.
        """
        from .provenance_in_files import read_provenance

        return read_provenance(Path(path))

    def attach(self, table: pd.DataFrame) -> pd.DataFrame:
        """Attach this provenance to `table`, and return it; pandas also writes it to Parquet files of the table."""
        table.attrs[KEY] = self.to_json()
        return table

    @classmethod
    def of_table(cls, table: pd.DataFrame | pa.Table, where: str = PROVENANCE) -> Provenance | None:
        """The provenance in the attributes of a data frame (`attach`), or in the metadata of an Arrow table's schema.

        None if there is none. Raises InputError if it is damaged; messages call the table `where`.
        """
        text = provenance_text_of(table)
        return None if text is None else cls.from_json(text, where)


def provenance_entry(provenance: Provenance) -> dict[str, Any]:
    """The provenance as an entry of an object of JSON."""
    return {PROVENANCE: provenance.as_json()}


def parts_that_differ(a: Provenance, b: Provenance) -> list[str]:
    """The parts in which two machines differ: "network", "network within a node", "shared buffer", "one-sided
    operations", "noise"."""
    names = {
        "network": "network",
        "node": "network within a node",
        "shared_buffer": "shared buffer",
        "one_sided": ONE_SIDED,
        "noise": "noise",
    }
    found = [name for part, name in names.items() if a.digests.get(part) != b.digests.get(part)]
    ranks = [side.options.get("node_ranks") for side in (a, b)]
    return found if ranks[0] == ranks[1] or names["node"] in found else [*found, names["node"]]


def provenance_text_of(table: pd.DataFrame | pa.Table) -> str | None:
    """The JSON text of the provenance of a table, unchecked; None if there is none."""
    text = table.attrs.get(KEY) if hasattr(table, "attrs") else provenance_text_in(table.schema.metadata or {})
    return text if isinstance(text, str) else None


def provenance_text_in(metadata: Mapping[bytes, bytes]) -> str | None:
    """The same in the metadata of a schema: of Idlewave, or of pandas, which writes the attributes of data frames
    there."""
    text = metadata.get(KEY.encode())
    if text is not None:
        return text.decode(errors="replace")
    pandas = _object(metadata.get(b"pandas"))
    for attributes in (_object(metadata.get(b"PANDAS_ATTRS")), pandas.get("attributes")):
        if isinstance(attributes, dict) and isinstance(attributes.get(KEY), str):
            return str(attributes[KEY])
    return None


def _object(text: bytes | None) -> dict[str, Any]:
    """The JSON object that another program wrote; an empty one if the text is none."""
    if text is None:
        return {}
    from .input.decoding import decode_json

    try:
        found = decode_json(text.decode(errors="replace"), PROVENANCE)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def command_line() -> str:
    """The command of Idlewave that this process runs; "" in other programs, whose arguments do not belong here."""
    program = Path(sys.argv[0]) if sys.argv else Path()
    is_module = program.name == "__main__.py" and program.parent.name == KEY
    return command_text([KEY, *sys.argv[1:]]) if program.name == KEY or is_module else ""


def command_text(words: Sequence[str]) -> str:
    """A command as a shell takes it; the beginning of a very long one."""
    import shlex

    text = shlex.join(words)
    return text if len(text) <= LONGEST_COMMAND else f"{text[:LONGEST_COMMAND]}…"


def _from_schema(values: ProvenanceSchema) -> Provenance:
    texts = {name: getattr(values, key) for name, key in _TEXTS.items()}
    sources = tuple(_from_schema(source) for source in values.sources)
    return Provenance(values.kind, digests=values.digests, options=plain(values.options), sources=sources, **texts)
