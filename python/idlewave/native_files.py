"""What of the package is not Python."""

from __future__ import annotations

from pathlib import Path

from . import _core


def package_data() -> Path:
    """Where the package keeps the sources of tracer and probes, and the programs that link no MPI."""
    return Path(_core.__file__).resolve().parent / "native"
