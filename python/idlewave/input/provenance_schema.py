"""The schema of provenance in files. It is a module of its own, so that writers need not load msgspec."""

from __future__ import annotations

from typing import Any

from .value_types import Open


class ProvenanceSchema(Open):
    """Provenance as an object of JSON."""

    kind: str
    name: str = ""
    made_by: str = ""
    idlewave: str = ""
    host: str = ""
    time: str = ""
    digests: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    options: dict[str, Any] = {}  # noqa: RUF012
    sources: list[ProvenanceSchema] = []  # noqa: RUF012
