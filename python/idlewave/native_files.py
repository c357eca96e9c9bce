"""The files of the package that are not Python: presets, sources of tracer and probes, and compiled programs."""

from __future__ import annotations

from pathlib import Path

from . import _core

PRESETS = Path(__file__).parent / "presets"
"""The folder of the machines that ship with Idlewave."""


def package_data() -> Path:
    """The folder of the sources of tracer and probes, and of the programs that do not link MPI."""
    return Path(_core.__file__).resolve().parent / "native"
