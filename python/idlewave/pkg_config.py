"""Libraries of the system, as pkg-config knows them."""

from __future__ import annotations

import shutil

from .child_processes import run


def pkg_config(library: str, macro: str) -> list[str] | None:
    """The flags of compiler and linker for a library; None if it or pkg-config is not installed.

    The first flag defines `macro` with the library's version, so that another version has another key in a cache.
    """
    program = shutil.which("pkg-config")
    if program is None:
        return None
    said = []
    for question in (("--modversion",), ("--cflags", "--libs")):
        done = run([program, *question, library], seconds=60)
        if done.returncode != 0:
            return None
        said.append(done.stdout.split())
    version, flags = said
    return [f"-D{macro}={' '.join(version)}", *flags]
