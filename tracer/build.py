"""Build the tracer: ``python build.py MPICC OUTPUT``. Standard library only; writes nothing but OUTPUT."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
FORTRAN = ("fortran.c", "init_fortran.c", "wrappers_fortran.c")
FLAGS = [
    "-std=c11",
    "-D_GNU_SOURCE",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
]


def is_open_mpi(mpicc: str) -> bool:
    """Whether `mpicc` is Open MPI's: only there Fortran programs need entry points of their own."""
    test = "#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\n"
    done = subprocess.run([mpicc, "-E", "-x", "c", "-"], input=test, capture_output=True, text=True, check=False)
    return done.returncode == 0


def build(mpicc: str, output: Path, extra: list[str]) -> int:
    """Compile and link with `mpicc`; the compiler's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, SOURCES / "generate.py", folder], check=True, env=environment)
        files = sorted(SOURCES.glob("*.c")) + sorted(Path(folder).glob("*.c"))
        if not is_open_mpi(mpicc):
            files = [file for file in files if file.name not in FORTRAN]
        command = [mpicc, *FLAGS, *extra, f"-I{SOURCES}", *map(str, files), "-shared", "-o", str(output)]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python build.py MPICC OUTPUT [FLAG]...")
    sys.exit(build(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
