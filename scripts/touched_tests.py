"""Print which tests a change touches, for `make check`: ``touched_tests.py python|core [COMMIT]``.

The change is what differs from COMMIT (default: HEAD), files that git does not track included. ``python``: files and
folders for pytest, one a line; ``core``: the folders whose C++ tests to run, one a line. It is a choice, no proof: a
test is touched if it was changed, lies in the folder of tests like that of a changed file, or imports a changed module,
directly or by one module between.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path("tests/python")
PACKAGE = Path("python")
PARTITIONED = ["simulation/test_partitioned_simulation.py", "simulation/test_scenarios.py"]
"""What simulates ranks by each scheduler of the kernel; recordings and derivatives are touched by `core/loggops`."""
FOLDERS = {
    "python/idlewave/studies": ["study"],
    "python/idlewave/machine_file": ["machine"],
    "python/bindings": ["simulation", "schedule", "pdes", "package"],
    "core/base": ["simulation", "schedule", "machine", "pdes"],
    "core/machine": ["machine", "simulation"],
    "core/goal": ["schedule", "simulation"],
    "core/collectives": ["schedule", "simulation"],
    "core/trace": ["schedule", "tracer"],
    "core/pdes": ["pdes", *PARTITIONED],
    "core/models": ["pdes"],
    "core": ["simulation"],
    "probes/noise": ["measure/noise"],
    "probes/network": ["measure/network"],
    "probes": ["measure"],
    "tracer": ["tracer"],
    "mpi": ["pdes"],
    "examples/kernel": ["pdes/test_kernel_example.py", "package/test_core_libraries.py"],
    "examples/ft": ["ft"],
    "examples": ["tracer"],
    "docs": [
        "package",
        "cli/test_command_reference.py",
        "pdes/test_model_pages.py",
        "measure/network/test_network_pages.py",
    ],
}
"""Folders of tests whose names are not those of the sources; of several that hold a file the first counts."""


def changed(commit: str) -> list[Path]:
    """The files that differ from a commit."""
    differing = ["git", "diff", "--name-only", commit]
    untracked = ["git", "ls-files", "--others", "--exclude-standard"]
    said = [
        subprocess.run(words, capture_output=True, text=True, check=True).stdout for words in (differing, untracked)
    ]
    return [Path(line) for text in said for line in text.splitlines()]


def module_of(file: Path) -> str:
    """The name by which a file is imported: of the package, or of the tests' support."""
    folder = PACKAGE if file.is_relative_to(PACKAGE) else TESTS / "support"
    parts = file.with_suffix("").relative_to(folder).parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(file: Path) -> frozenset[str]:
    """The modules that a file imports, also within functions; `from a import b` counts as a and as a.b."""
    found = set()
    package = module_of(file).split(".") if file.is_relative_to(PACKAGE) else []
    if file.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def files_of(modules: frozenset[str]) -> Iterator[Path]:
    """The files of those modules that are in the package."""
    for module in modules:
        place = PACKAGE.joinpath(*module.split("."))
        yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())


def touched_by_imports(modules: set[str]) -> set[Path]:
    """The tests that import one of the modules, directly, by their support, or by one module of the package between."""
    support = {module_of(file): file for file in (TESTS / "support").glob("*.py")}
    found = set()
    for test in TESTS.rglob("test_*.py"):
        imported = imports_of(test).union(*(imports_of(support[name]) for name in imports_of(test) & set(support)))
        reached = imported.union(*(imports_of(file) for file in files_of(imported) if file.name != "__init__.py"))
        if reached & modules:
            found.add(test)
    return found


def touched_by_folder(file: Path) -> list[Path]:
    """The tests in the folder like that of a source; for one at the top of the package, those named like it."""
    folder = next((FOLDERS[str(place)] for place in file.parents if str(place) in FOLDERS), None)
    if folder is not None:
        return [TESTS / name for name in folder]
    if not file.is_relative_to(PACKAGE / "idlewave"):
        return []
    below = file.relative_to(PACKAGE / "idlewave")
    if len(below.parts) == 1:
        return [TESTS / below.stem, *TESTS.rglob(f"test_{below.stem}*.py")]
    return [place for place in (TESTS / parent for parent in below.parents[:-1]) if place.is_dir()][:1]


def python_tests(files: list[Path]) -> list[str]:
    """Files and folders for pytest."""
    tests = {file for file in files if file.is_relative_to(TESTS) and file.name.startswith("test_")}
    sources = [file for file in files if file.suffix == ".py" and file.is_relative_to(PACKAGE / "idlewave")]
    helpers = [file for file in files if file.suffix == ".py" and file.parent == TESTS / "support"]
    tests |= touched_by_imports({module_of(file) for file in [*sources, *helpers]})
    tests |= {test for file in files for test in touched_by_folder(file)}
    there = {test for test in tests if test.exists()}
    return sorted(str(test) for test in there if not there & set(test.parents))


def core_folders(files: list[Path]) -> list[str]:
    """The folders of the core that were changed, or whose tests were; all, if what these share was."""
    there = {folder.name for folder in Path("tests/core").iterdir() if any(folder.glob("*_test.cpp"))}
    folders = {file.parts[1] for file in files if file.parts[0] == "core" and len(file.parts) > 2}
    folders |= {file.parts[2] for file in files if file.is_relative_to("tests/core") and len(file.parts) > 3}
    chosen = there if "support" in folders else folders & there
    probes = any(file.is_relative_to(place) for file in files for place in ("probes", "tests/probes"))
    return sorted(chosen | {"probes"} if probes else chosen)


if __name__ == "__main__":
    differing = changed(*(sys.argv[2:3] or ["HEAD"]))
    for line in core_folders(differing) if sys.argv[1] == "core" else python_tests(differing):
        print(line)
