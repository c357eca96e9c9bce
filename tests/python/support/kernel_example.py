"""The page of examples/kernel: the commands that it shows, and what the program prints."""

from __future__ import annotations

import re

from places import ROOT

RUN = r"(\w+): digest ([0-9a-f]{16}), ([0-9.]+) million events a second, stations busy for ([0-9.]+) of the time"
"""A line of the program: scheduler, digest, rate, share of the time."""


def commands_of_the_page(word: str) -> str:
    """The block of commands below the first paragraph that has this word."""
    page = (ROOT / "examples" / "kernel" / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", page[page.index(word) :], re.DOTALL | re.MULTILINE)[0]
