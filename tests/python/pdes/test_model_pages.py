"""The pages about models quote the code as it is, and their commands can be typed."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from idlewave.cli.pdes_commands import pdes
from places import ROOT

PAGES = ("phold", "epidemic", "flood")


def page(name: str) -> str:
    return (ROOT / f"docs/models/{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_quotes_is_in_the_model(name: str) -> None:
    header = (ROOT / f"core/models/{name}.hpp").read_text(encoding="utf-8")
    quotes = re.findall(r"^```cpp\n(.*?)^```$", page(name), re.DOTALL | re.MULTILINE)
    assert len(quotes) >= 5
    for quote in quotes:
        place = 0
        for part in re.split(r"^ *// …\n", quote, flags=re.MULTILINE):
            place = header.find(part, place)
            assert place >= 0, f"{name}.hpp lacks, or has elsewhere:\n{part}"
            place += len(part)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_all_options_of_its_command_and_only_those(name: str) -> None:
    command = pdes.commands[name]
    options = {flag for option in command.params for flag in option.opts if flag.startswith("--")}
    assert set(re.findall(r"`(--[a-z-]+)`", page(name))) == options


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_can_be_typed(name: str) -> None:
    typed = re.findall(r"^ {4}idlewave pdes (.*)$", page(name).replace("\\\n", ""), re.MULTILINE)
    assert typed
    for line in typed:
        model, *arguments = shlex.split(line)
        assert model == name
        with click.Context(pdes) as context:
            pdes.commands[name].make_context(name, arguments, parent=context)
