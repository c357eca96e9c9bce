"""Write the type stubs of the compiled core: ``python scripts/stubs.py OUTPUT``."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from nanobind.stubgen import StubGen

HEADER = """\
# Made by `make stubs` from the compiled core; tests/python/package/test_stubs.py compares. Not to be edited by hand.
# ruff: noqa
# fmt: off
# mypy: disable-error-code="type-arg"
"""


def stubs() -> str:
    """The text of _core.pyi for the installed core."""
    core = importlib.import_module("idlewave._core")
    generator = StubGen(core)
    generator.put(core)
    return HEADER + generator.get()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the type stubs of the compiled core.")
    parser.add_argument("output", type=Path)
    parser.parse_args().output.write_text(stubs(), encoding="utf-8")
