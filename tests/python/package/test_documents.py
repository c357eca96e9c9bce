"""What documents and comments name is there: pages, files, commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_examples import commands
from places import ROOT

KEPT = ("core", "docs", "examples", "mpi", "probes", "python", "scripts", "tests", "tracer", "bench", ".")
SOURCES = {".py", ".cpp", ".hpp", ".c", ".h", ".md", ".txt", ".toml", ".sh", ""}
ELSEWHERE = {"SKILL.md"}


def files() -> list[Path]:
    found = []
    for folder in KEPT:
        pattern = "*" if folder == "." else "**/*"
        found += [p for p in (ROOT / folder).glob(pattern) if p.is_file() and p.suffix in SOURCES]
    return [p for p in found if not {"native", "__pycache__", "build"} & set(p.relative_to(ROOT).parts)]


PAGES = sorted(p for p in files() if p.suffix == ".md")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_s_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_every_page_that_is_named_in_the_sources_is_in_the_repository() -> None:
    names = {p.name for p in PAGES} | ELSEWHERE
    for file in files():
        for name in re.findall(r"\b([\w-]+\.md)\b", file.read_text(encoding="utf-8", errors="replace")):
            assert name in names, f"{file.relative_to(ROOT)} names {name}"


def test_every_folder_and_source_that_a_page_names_is_there() -> None:
    places = "|".join(folder for folder in KEPT if folder != ".")
    for page in PAGES:
        for name in re.findall(rf"`((?:{places})/[\w./-]*\w\.\w+)`", page.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), f"{page.relative_to(ROOT)} names {name}"


def test_every_command_that_a_page_shows_is_there() -> None:
    known = {name for name, _ in commands()} | {name.split()[0] for name, _ in commands()}
    for page in PAGES:
        for words in re.findall(r"(?:^|`)\s*idlewave ((?:[a-z][\w-]*\s?)+)", page.read_text(encoding="utf-8"), re.M):
            given = words.split()
            assert given[0] in known, f"{page.relative_to(ROOT)} shows idlewave {words}"
