"""`make check` finds the tests that a change touches."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from places import ROOT


@pytest.fixture(scope="module")
def touched() -> Iterator[ModuleType]:
    """The script, which reads the checkout that it is started in."""
    spec = importlib.util.spec_from_file_location("touched_tests", ROOT / "scripts" / "touched_tests.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as here:
        here.chdir(ROOT)
        spec.loader.exec_module(module)
        yield module


def test_all_folders_and_files_that_it_names_are_there(touched: ModuleType) -> None:
    for source, tests in touched.FOLDERS.items():
        assert Path(source).is_dir(), source
        assert all((touched.TESTS / name).exists() for name in tests), source


@pytest.mark.long
def test_a_header_of_the_kernel_touches_tests_of_both_languages(touched: ModuleType) -> None:
    header = [Path("core/pdes/gvt.hpp")]
    assert touched.core_folders(header) == ["pdes"]
    found = touched.python_tests(header)
    assert "tests/python/pdes" in found
    assert "tests/python/simulation/test_scenarios.py" in found


def test_what_all_tests_of_the_core_share_touches_them_all(touched: ModuleType) -> None:
    folders = touched.core_folders([Path("tests/core/support/dice.hpp")])
    assert {"base", "goal", "loggops", "pdes"} <= set(folders)


@pytest.mark.long
def test_a_module_touches_the_tests_that_import_it(touched: ModuleType) -> None:
    found = touched.python_tests([Path("python/idlewave/timeline.py")])
    importing = touched.touched_by_imports({"idlewave.timeline"})
    assert importing
    assert {str(test) for test in importing} <= set(found)


@pytest.mark.long
def test_a_page_that_no_test_reads_touches_those_of_the_pages(touched: ModuleType) -> None:
    assert touched.core_folders([Path("docs/kernel.md")]) == []
    assert "tests/python/package" in touched.python_tests([Path("docs/kernel.md")])
