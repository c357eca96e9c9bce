"""What a folder of the core declares is in the namespace of its name; base, on which all stand, has the project's."""

from __future__ import annotations

import re

import pytest
from places import ROOT

FILES = sorted(file for pattern in ("*/*.hpp", "*/*.cpp") for file in (ROOT / "core").glob(pattern))
OPENED = re.compile(r"^namespace (idlewave[\w:]*) \{$", re.MULTILINE)


def belongs(namespace: str, folder: str) -> bool:
    """Whether a namespace is the folder's, or within it."""
    own = "idlewave" if folder == "base" else f"idlewave::{folder}"
    return namespace == own or (folder != "base" and namespace.startswith(f"{own}::"))


@pytest.mark.parametrize("folder", sorted({file.parent.name for file in FILES}))
def test_a_folder_declares_in_the_namespace_of_its_name(folder: str) -> None:
    opened = [
        (file.name, name) for file in FILES if file.parent.name == folder for name in OPENED.findall(file.read_text())
    ]
    assert opened
    assert not [(file, name) for file, name in opened if not belongs(name, folder)]


@pytest.mark.parametrize(
    ("namespace", "folder", "allowed"),
    [("idlewave", "base", True), ("idlewave", "goal", False), ("idlewave::goal::idg", "goal", True)],
)
def test_the_rule_tells_namespaces_apart(namespace: str, folder: str, allowed: bool) -> None:
    assert belongs(namespace, folder) == allowed
