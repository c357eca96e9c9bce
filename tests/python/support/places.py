"""Where the checkout and the programs that tests run are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "python" / "programs"
EXAMPLES = ROOT / "examples"
BUILD = ROOT / "build" / "wheel"
"""Where the package is built (pyproject.toml): the core's libraries are there."""
