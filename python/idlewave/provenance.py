"""Provenance: what an artefact was made from, how, where and when. Every file that Idlewave writes carries it.

>>> timeline = idlewave.simulate(schedule, machine, seed=1)
>>> timeline.provenance.find("machine").digests
>>> idlewave.Provenance.read("study.parquet")

It is one JSON object, which the forms of files hold in different places: docs/provenance.md.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._core import version
from .digests import plain
from .errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from .input.provenance_schema import ProvenanceSchema

KEY = "idlewave"
"""Under which the metadata of tables, pictures and texts have it."""
PROVENANCE = "provenance"
"""Under which JSON files have it."""
MOST_CHARACTERS = 1 << 20
DEEPEST = 24
"""Levels of sources of sources that are kept."""
LONGEST_COMMAND = 4000
_TEXTS = {"name": "name", "made_by": "made_by", "version": "idlewave", "host": "host", "time": "time"}
"""Fields that are texts, and their names in JSON."""


@dataclass(frozen=True)
class Provenance:
    """What an artefact is, and what it was made from.

    `kind` is machine, trace, schedule, timeline, study, measurement, recording, signature, run (of a model), picture or
    report. `digests` are those of its content, by part (docs/provenance.md); `options` what it was made with that
    changes its content, seeds too; `sources` what it was made from. `made_by` is the command or function, `version`
    that of Idlewave; `host` and `time` (ISO 8601, UTC) say where and when. What is not known is empty.
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
        """Of what is made here and now, or was at the time `at` (s since 1970): by the function `by`, or by the command
        of Idlewave that this process runs."""
        return cls(kind, name, dict(digests or {}), plain(dict(options or {})), sources).written(by=by, at=at)

    def written(self, *, by: str, at: float | None = None) -> Provenance:
        """The same, of what is written here and now, or was made at the time `at`."""
        return replace(
            self,
            made_by=command_line() or by,
            version=version(),
            host=os.uname().nodename,
            time=time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at)),
        )

    def without_place(self) -> Provenance:
        """The same but for host and time: for what is to be the same, to the byte, wherever and whenever it is made."""
        return replace(self, host="", time="")

    def all(self) -> Iterator[Provenance]:
        """This one and all that it was made from, nearest first."""
        level: tuple[Provenance, ...] = (self,)
        while level:
            yield from level
            level = tuple(source for found in level for source in found.sources)

    def find(self, kind: str) -> Provenance | None:
        """The nearest of that kind among this one and what it was made from."""
        return next((found for found in self.all() if found.kind == kind), None)

    def as_json(self, deepest: int = DEEPEST) -> dict[str, Any]:
        """As an object of JSON, whose texts are printable; what is empty is left out, and sources more than `deepest`
        levels below."""
        said: dict[str, Any] = {"kind": self.kind}
        said |= {key: getattr(self, name) for name, key in _TEXTS.items()}
        said = plain(said | {"digests": dict(self.digests), "options": dict(self.options)})
        said["sources"] = [source.as_json(deepest - 1) for source in self.sources] if deepest else []
        return {key: value for key, value in said.items() if value not in ("", {}, [])}

    def to_json(self) -> str:
        """As one line of JSON, in ASCII."""
        return json.dumps(self.as_json(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = PROVENANCE) -> Provenance:
        """Read what `to_json` wrote. Raises InputError; `name` is what messages call the file that it is in."""
        from .input.decoding import decode_json

        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"{name}: expected a provenance of at most {MOST_CHARACTERS} characters, found {len(text)}"
            )
        said = text.decode(errors="replace") if isinstance(text, bytes) else text
        return cls.from_object(decode_json(said, name), name)

    @classmethod
    def from_object(cls, said: object, name: str = PROVENANCE, key: str = "") -> Provenance:
        """Read an object of JSON, which is under `key` in the file that messages call `name`. Keys that are not known
        here are passed over. Raises InputError that names the key."""
        from .input.provenance_schema import ProvenanceSchema
        from .input.validation import checked

        return _from_said(checked(said, ProvenanceSchema, name, key=key))

    @classmethod
    def read(cls, path: str | Path) -> Provenance | None:
        """The provenance that a file or folder of Idlewave carries; None if it carries none.

        Raises InputError if it cannot be read, or what it carries is damaged.
        """
        from .provenance_in_files import read_provenance

        return read_provenance(Path(path))

    def attach(self, table: pd.DataFrame) -> pd.DataFrame:
        """`table`, which carries this provenance from now on, also to the Parquet files that pandas writes of it."""
        table.attrs[KEY] = self.to_json()
        return table

    @classmethod
    def of_table(cls, table: pd.DataFrame | pa.Table, where: str = PROVENANCE) -> Provenance | None:
        """What a data frame carries in its attributes (`attach`), or an Arrow table in the metadata of its schema; None
        if nothing. Raises InputError if it is damaged."""
        text = provenance_text_of(table)
        return None if text is None else cls.from_json(text, where)


def parts_that_differ(a: Provenance, b: Provenance) -> list[str]:
    """Which parts of two machines are not the same: "network", "network within a node", "noise"."""
    names = {"network": "network", "node": "network within a node", "noise": "noise"}
    found = [name for part, name in names.items() if a.digests.get(part) != b.digests.get(part)]
    ranks = [side.options.get("node_ranks") for side in (a, b)]
    return found if ranks[0] == ranks[1] or names["node"] in found else [*found, names["node"]]


def provenance_text_of(table: pd.DataFrame | pa.Table) -> str | None:
    """The text of JSON that a table carries, whatever it says; None if there is none."""
    text = table.attrs.get(KEY) if hasattr(table, "attrs") else provenance_text_in(table.schema.metadata or {})
    return text if isinstance(text, str) else None


def provenance_text_in(metadata: Mapping[bytes, bytes]) -> str | None:
    """The same of the metadata of a schema, as Idlewave writes them, or pandas does of a data frame's attributes."""
    text = metadata.get(KEY.encode())
    if text is not None:
        return text.decode(errors="replace")
    pandas = _object(metadata.get(b"pandas"))
    for attributes in (_object(metadata.get(b"PANDAS_ATTRS")), pandas.get("attributes")):
        if isinstance(attributes, dict) and isinstance(attributes.get(KEY), str):
            return str(attributes[KEY])
    return None


def _object(text: bytes | None) -> dict[str, Any]:
    """Another program's object of JSON; an empty one if it is none."""
    if text is None:
        return {}
    from .input.decoding import decode_json

    try:
        found = decode_json(text.decode(errors="replace"), PROVENANCE)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def command_line() -> str:
    """The command of Idlewave that this process runs; empty in other programs, whose arguments are their own matter."""
    program = Path(sys.argv[0]) if sys.argv else Path()
    is_module = program.name == "__main__.py" and program.parent.name == KEY
    return command_text([KEY, *sys.argv[1:]]) if program.name == KEY or is_module else ""


def command_text(words: Sequence[str]) -> str:
    """A command as a shell would take it; of one that is very long the beginning."""
    text = shlex.join(words)
    return text if len(text) <= LONGEST_COMMAND else f"{text[:LONGEST_COMMAND]}…"


def _from_said(said: ProvenanceSchema) -> Provenance:
    texts = {name: getattr(said, key) for name, key in _TEXTS.items()}
    sources = tuple(_from_said(source) for source in said.sources)
    return Provenance(said.kind, digests=said.digests, options=plain(said.options), sources=sources, **texts)
