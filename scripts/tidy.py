"""Run clang-tidy on the C++ files that have changed since it last passed, without the tests.

scripts/tidy-seen.txt lists each source file without complaints, with the digest of everything on which the result of
clang-tidy depends (its content, the project's files that it includes, its flags, the settings, clang-tidy's version). A
file with another digest is checked, and the list is updated; it is committed with the change. So the choice of files
depends on the files alone, and neither on git nor on the time.

    tidy.py          files that have changed
    tidy.py --all    every file
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / ".venv/bin/clang-tidy"
SETTINGS = ROOT / ".clang-tidy"
SEEN = ROOT / "scripts/tidy-seen.txt"
BUILD = ROOT / "build/wheel"
"""The build that compiles every file of the project except STANDALONE."""
COMMANDS = ROOT / "build/tidy"
"""The commands of that build, a file each, for clang-tidy."""
INCLUDED = ("core", "probes", "tracer", "python/bindings", "python/programs")
"""The include paths of the project's headers, besides the folder of the including file."""
STANDALONE = [
    *(ROOT / f"probes/network/{name}.cpp" for name in ("loggp", "pairs", "patterns", "collectives", "epoch", "clocks")),
    ROOT / "probes/loops/loops.cpp",
    *(file for file in sorted((ROOT / "examples/ft").glob("*.cpp")) if not file.name.startswith("line_transform_")),
    ROOT / "probes/one_sided/one_sided.cpp",
    ROOT / "probes/overtime/overtime.cpp",
]
"""Files that are compiled for the MPI of a user's machine, and by no build of the project; without those that need a
library of Fourier transforms, which may be missing."""
STANDALONE_FLAGS = ["-std=c++20", "-Iprobes", "-Itracer", "-I.venv/include"]
_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_TOGETHER = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_OPTION = re.compile(r"-(std=|D|f|W(?!error$))\S*")


@cache
def headers_of(file: Path) -> frozenset[Path]:
    """The project's files that `file` itself includes."""
    found = set()
    for name in _INCLUDE.findall(file.read_bytes()):
        places = (folder / name.decode() for folder in (file.parent, *(ROOT / place for place in INCLUDED)))
        there = next((place.resolve() for place in places if place.is_file()), None)
        if there is None:
            sys.exit(f"{file.relative_to(ROOT)} includes {name.decode()!r}, which is in none of {', '.join(INCLUDED)}")
        found.add(there)
    return frozenset(found)


def all_of(file: Path) -> set[Path]:
    """`file` and all of the project's files that it includes."""
    found: set[Path] = set()
    left = [file]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += headers_of(one)
    return found


def write_commands() -> dict[Path, str]:
    """Write the command of each file into COMMANDS; returns them.

    The build compiles files of a folder together, by a file that includes them.
    """
    rows = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    built: dict[Path, str] = {}
    for row in rows:
        file = Path(row["file"])
        together = file.parent.name == "Unity"
        for one in map(Path, _TOGETHER.findall(file.read_text(encoding="utf-8"))) if together else [file]:
            built[one] = row["command"].replace(str(file), str(one))
    COMMANDS.mkdir(exist_ok=True)
    rows = [{"directory": str(BUILD), "file": str(file), "command": command} for file, command in built.items()]
    (COMMANDS / "compile_commands.json").write_text(json.dumps(rows), encoding="utf-8")
    return built


def flags_by_file() -> dict[Path, list[str]]:
    """Every source file to check, with those of its compiler flags that affect the meaning of its code."""
    built = {file: command.split() for file, command in write_commands().items()}
    ours = {
        file: sorted({word for word in words if _OPTION.fullmatch(word)})
        for file, words in built.items()
        if file.is_relative_to(ROOT) and not file.is_relative_to(ROOT / ".venv")
    }
    return ours | dict.fromkeys(STANDALONE, STANDALONE_FLAGS)


def digest_of(file: Path, flags: Iterable[str], version: str) -> str:
    """The digest of everything on which the result of clang-tidy for `file` depends."""
    whole = hashlib.sha256(f"{version}\n{' '.join(flags)}\n".encode() + SETTINGS.read_bytes())
    for one in sorted(all_of(file)):
        whole.update(f"\n{one.relative_to(ROOT)}\n".encode() + hashlib.sha256(one.read_bytes()).digest())
    return whole.hexdigest()[:32]


def seen() -> dict[str, str]:
    """The digests in the list, by file."""
    if not SEEN.is_file():
        return {}
    rows = (line.split() for line in SEEN.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: digest for digest, name in rows}


def write_seen(digests: dict[str, str]) -> None:
    """Write the list, if it has changed."""
    rows = [f"{digest} {name}\n" for name, digest in sorted(digests.items())]
    text = "".join(["# What clang-tidy has seen without complaints, written by scripts/tidy.py.\n", *rows])
    if not SEEN.is_file() or SEEN.read_text(encoding="utf-8") != text:
        SEEN.write_text(text, encoding="utf-8")
        print(f"{SEEN.relative_to(ROOT)} has changed: it belongs to the commit")


def tidy(file: Path) -> subprocess.CompletedProcess[str]:
    """Run clang-tidy on `file`."""
    command: list[str | Path] = [TOOL, "--quiet", file]
    if file in STANDALONE:
        command += ["--", *STANDALONE_FLAGS]
    else:
        # Options of GCC alone mean nothing to it.
        command[2:2] = ["-p", COMMANDS, "--extra-arg=-Wno-unused-command-line-argument"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def main(everything: bool) -> int:
    """Check the files that have changed, or all; returns 1 if there are complaints."""
    version = subprocess.run([TOOL, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    digests = {
        str(file.relative_to(ROOT)): digest_of(file, flags, version) for file, flags in sorted(flags_by_file().items())
    }
    before = seen()
    chosen = [name for name, digest in digests.items() if everything or before.get(name) != digest]
    chosen.sort(key=lambda name: (ROOT / name).stat().st_size, reverse=True)  # the longest first
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = dict(zip(chosen, pool.map(lambda name: tidy(ROOT / name), chosen), strict=True))
    complaints = {name: result for name, result in results.items() if result.returncode != 0}
    for result in complaints.values():
        print(result.stdout, result.stderr, sep="\n")
    print(f"clang-tidy: {len(chosen)} of {len(digests)} files looked at, {len(complaints)} with complaints")
    write_seen({name: digest for name, digest in digests.items() if name not in complaints})
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--all"]))
