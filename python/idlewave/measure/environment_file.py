"""environment.json: the environment of a measurement, as host_environment.py describes it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..escaping import name_of
from ..input.validation import checked, load_json
from ..input.value_types import Number, Open, Whole


class MpiSchema(Open):
    """The MPI of a measurement."""

    vendor: str | None = None
    version: str | None = None


class EnvironmentSchema(Open):
    """The part of it that is used; all of it may be unknown."""

    time: str | None = None
    host: str | None = None
    kernel: str | None = None
    processor: str | None = None
    hypervisor: bool | None = None
    cores: Whole | None = None
    affinity: list[Whole] | None = None
    clock_source: str | None = None
    governor: str | None = None
    load_average: list[Number] | None = None
    mpi: MpiSchema | None = None


def read_environment(folder: Path) -> dict[str, Any] | None:
    """The environment of a recording, from its environment.json; None if there is none. Raises InputError naming it."""
    file = folder / "environment.json"
    if not os.path.lexists(file):
        return None
    said: dict[str, Any] = load_json(file, "the environment of a measurement")
    checked(said, EnvironmentSchema, name_of(file))
    return said
