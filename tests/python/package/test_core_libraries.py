"""A folder of the core is a library that reaches no folder above it; a model elsewhere builds on an installed core."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from kernel_example import RUN, commands_of_the_page
from places import BUILD, ROOT

FOLDERS = sorted(readme.parent.name for readme in (ROOT / "core").glob("*/README.md"))


def included_by(folder: str) -> set[str]:
    """The folders that its README allows it to include, with those that they include."""
    words = re.search(r"Includes (.*?)[.;]", (ROOT / "core" / folder / "README.md").read_text(), re.DOTALL)
    assert words is not None, folder
    named = set(re.findall(r"\w+", words[1])) & set(FOLDERS)
    return named.union(*map(included_by, named))


@cache
def compilers() -> dict[str, list[str]]:
    """For each folder a command that compiles one of its files, without the file and what it makes."""
    if not (BUILD / "compile_commands.json").exists():
        pytest.skip("the package was not built in this checkout")
    found = {}
    for row in json.loads((BUILD / "compile_commands.json").read_text()):
        library = re.search(r"core/CMakeFiles/idlewave_(\w+)\.dir/", row["command"])
        if library is not None:
            words = shlex.split(row["command"])
            found[library[1]] = [word for word in words[: words.index("-o")] if not word.endswith("ccache")]
    return found


def compiled(folder: str, source: str) -> subprocess.CompletedProcess[str]:
    """Compile a source as if it lay in that folder."""
    command = [*compilers()[folder], "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=source, cwd=BUILD, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_reaches_the_headers_that_its_readme_names_and_no_others(folder: str) -> None:
    source = ""
    for other in FOLDERS:
        header = sorted((ROOT / "core" / other).glob("*.hpp"))[0].name
        source += f'#if __has_include("{other}/{header}")\n#pragma message("reaches {other}")\n#endif\n'
    done = compiled(folder, source)
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"reaches (\w+)", done.stderr)) == {folder} | included_by(folder)


def test_a_model_that_lacks_a_handler_gets_one_error_with_the_concept_and_what_is_missing() -> None:
    done = compiled(
        "pdes",
        """
        #include "pdes/run_model.hpp"
        struct NoHandler {
            struct State {};
            struct Payload { bool operator==(const Payload&) const = default; };
            static std::uint32_t lps() { return 1; }
            static idlewave::Time lookahead() { return 1; }
            static std::uint64_t seed() { return 1; }
            template <class Context> void start(State&, Context&) const {}
        };
        void run() { idlewave::pdes::run_model(NoHandler{}, {}, [](std::uint32_t, const auto&) {}); }
        """,
    )
    assert done.stderr.count("error:") == 1, done.stderr
    assert "the model does not satisfy the concept Model" in done.stderr
    assert "model.handle(state, payload, context)" in done.stderr


def test_no_header_is_included_at_the_end_of_another() -> None:
    for header in (ROOT / "core").rglob("*.hpp"):
        _, _, after = header.read_text().partition("\n}  // namespace")
        assert not re.search(r"^#include", after, re.MULTILINE), header


def test_an_include_upwards_does_not_compile() -> None:
    assert compiled("goal", '#include "base/time.hpp"\n').returncode == 0
    done = compiled("goal", '#include "machine/machine.hpp"\n')
    assert done.returncode != 0
    assert "machine/machine.hpp" in done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core, installed from where the package is built."""
    if cmake() is None or not (BUILD / "core" / "cmake_install.cmake").exists():
        pytest.skip("the package was not built in this checkout, or there is no CMake")
    prefix = tmp_path_factory.mktemp("installed")
    command = [cmake(), "--install", BUILD, "--component", "core", "--prefix", prefix]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return prefix


def cmake() -> str | None:
    """CMake, of this Python's environment if it has one."""
    return shutil.which("cmake", path=path())


def path() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.long
def test_a_model_in_another_repository_builds_on_an_installed_core_and_gives_its_digest(
    installed: Path, tmp_path: Path
) -> None:
    base = os.path.commonpath([installed, tmp_path])
    shutil.copytree(ROOT / "examples" / "kernel", tmp_path / "model")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "installed").symlink_to(installed)
    commands = commands_of_the_page("find_package").replace("examples/kernel", "model")
    # A compile cache takes paths below its base for the same in each run of the tests.
    environment = os.environ | {"PATH": path(), "CCACHE_BASEDIR": base}
    done = subprocess.run(
        ["sh", "-e", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    digests = [found[2] for line in done.stdout.splitlines() if (found := re.fullmatch(RUN, line))]
    assert digests == ["bd6dc380d2e1b537"] * 2


def test_another_minor_version_is_refused(installed: Path, tmp_path: Path) -> None:
    for version, status in (("0.1", 0), ("0.2", 1), ("1.0", 1)):
        text = f"cmake_minimum_required(VERSION 3.22)\nproject(x CXX)\nfind_package(idlewave {version} REQUIRED)\n"
        folder = tmp_path / version
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(text)
        command = [cmake(), "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}"]
        done = subprocess.run(command, env=os.environ | {"PATH": path()}, capture_output=True, timeout=120)
        assert (done.returncode != 0) == bool(status), done.stderr
