"""The files of the package that are not Python: sources of tracer and probes, and compiled programs."""

from __future__ import annotations

from pathlib import Path

from . import _core


def package_data() -> Path:
    """The folder of the sources of tracer and probes, and of the programs that do not link MPI."""
    return Path(_core.__file__).resolve().parent / "native"
