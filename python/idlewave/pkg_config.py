"""Libraries of the system, as pkg-config knows them."""

from __future__ import annotations

import shutil
from pathlib import Path

from .child_processes import run
from .errors import UsageError


def pkg_config(library: str, macro: str) -> list[str] | None:
    """The flags of compiler and linker for a library; None if it or pkg-config is not installed.

    The first flag defines `macro` with the library's version, so that another version has another key in a cache.
    """
    try:
        version = ask(library, "--modversion")
        flags = ask(library, "--cflags", "--libs")
    except UsageError:
        return None
    return [f"-D{macro}={' '.join(version)}", *flags]


def ask(library: str | Path, *questions: str) -> list[str]:
    """What pkg-config answers about a library, or about the .pc file that describes it. Raises UsageError with the
    reason if pkg-config is not installed, or has no answer."""
    program = shutil.which("pkg-config")
    if program is None:
        raise UsageError("pkg-config is not installed")
    done = run([program, *questions, str(library)], seconds=60)
    if done.returncode != 0:
        raise UsageError(f"pkg-config: {done.stderr.strip()}")
    return done.stdout.split()
