"""clang-tidy on the C++ files that changed, tests apart, and on enough others to see every header that changed.

What changed is told by git: since the branch left origin/main, or, on main itself, since a day before its last
commit; IDLEWAVE_BASE names another commit. Outside git everything counts as changed. Files are taken in an order that
depends on the commit, so that if the time does not suffice for all, the next commit sees others; what was not looked
at is said.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / ".venv/bin"
BUILDS = (ROOT / "build/wheel", ROOT / "build/tests")
INCLUDED = ("probes", "tracer", ".venv/include")
STANDALONE = {
    ROOT / f"probes/network/{name}.cpp": ["-std=c++20", *(f"-I{ROOT / folder}" for folder in INCLUDED)]
    for name in ("loggp", "pairs", "clocks")
}
"""What no build of the project compiles, with its flags."""
SECONDS = float(os.environ.get("IDLEWAVE_TIDY_SECONDS", "120"))
A_DAY = 86400


def git(*arguments: str) -> str:
    """What git prints; nothing if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def base_commit() -> str:
    """The commit that changes are counted from; empty: everything is new."""
    if named := os.environ.get("IDLEWAVE_BASE"):
        return named
    head, fork = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "origin/main")
    if fork and fork != head:
        return fork
    before = int(git("log", "-1", "--format=%ct") or 0) - A_DAY
    return git("rev-list", "-1", f"--before={before}", "HEAD")


def changed_files() -> set[Path] | None:
    """Files that differ from the base, and untracked ones; None: all of them."""
    base = base_commit()
    if not base:
        return None
    names = git("diff", "--name-only", base, "--") + "\n" + git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in names.split()}


def is_ours(file: Path) -> bool:
    """Whether it belongs to the project's own sources, and not to its tests or to what was installed for it."""
    return file.is_relative_to(ROOT) and not any(file.is_relative_to(ROOT / name) for name in (".venv", "tests"))


@cache
def compiled_files(build: Path) -> dict[Path, set[Path]]:
    """Each source file that `build` compiles, with the project's files that it includes."""
    database = build / "compile_commands.json"
    if not database.is_file():
        return {}
    rows = json.loads(database.read_text(encoding="utf-8"))
    sources = {row["output"]: Path(row["file"]) for row in rows}
    listing = subprocess.run(
        [TOOLS / "ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True
    ).stdout
    found = {source: {source} for source in sources.values() if is_ours(source)}
    current: set[Path] = set()
    for line in listing.splitlines():
        if line.startswith(" "):
            current.add((build / line.strip()).resolve())
        elif ":" in line:
            current = found.get(sources.get(line.split(":")[0], Path()), set())
    return found


def chosen() -> list[Path]:
    """What to look at."""
    changed = changed_files()
    everything = includes()
    if changed is None:
        changed = {file for files in everything.values() for file in files}
    picked = [source for source in sorted(everything) if source in changed]
    random.Random(git("rev-parse", "HEAD")).shuffle(picked)
    unseen = changed - {file for source in picked for file in everything[source]}
    for source in sorted(everything):
        if source not in picked and everything[source] & unseen:
            picked.append(source)
            unseen -= everything[source]
    return picked


def includes() -> dict[Path, set[Path]]:
    """Every source file, with itself and the project's files that it includes."""
    found = {source: {source} for source in STANDALONE}
    for build in reversed(BUILDS):
        found |= compiled_files(build)
    return found


def tidy(source: Path) -> subprocess.CompletedProcess[str]:
    """Run clang-tidy on `source`."""
    command: list[str | Path] = [TOOLS / "clang-tidy", "--quiet", source]
    if source in STANDALONE:
        command += ["--", *STANDALONE[source]]
    else:
        command[2:2] = ["-p", next(build for build in BUILDS if source in compiled_files(build))]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def main() -> int:
    """Look at the chosen files; 1 if there are complaints."""
    files = chosen()
    end = time.monotonic() + SECONDS
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = list(pool.map(lambda source: tidy(source) if time.monotonic() < end else None, files))
    unseen = [str(s.relative_to(ROOT)) for s, result in zip(files, results, strict=True) if result is None]
    complaints = [result.stdout for result in results if result and result.returncode != 0]
    print("\n".join(complaints))
    print(f"clang-tidy: {len(files) - len(unseen)} of {len(files)} files looked at, {len(complaints)} with complaints")
    if unseen:
        print(f"not looked at within {SECONDS:.0f} s: {', '.join(unseen)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
