"""The reference of options in docs/command-line.md is what the commands themselves say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_examples import commands
from places import ROOT

SCRIPT = ROOT / "scripts/command_reference.py"
ALL = dict(commands())


def test_the_reference_of_commands_is_what_the_commands_say(tmp_path: Path) -> None:
    made = tmp_path / "command-line.md"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, SCRIPT, made], capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    kept = ROOT / "docs/command-line.md"
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), f"run python {SCRIPT.name}"


@pytest.mark.parametrize("name", ALL)
def test_every_help_text_begins_and_ends_as_a_sentence(name: str) -> None:
    command = ALL[name]
    assert command.help is not None
    assert command.help[0].isupper()
    for option in command.params:
        if isinstance(option, click.Option) and option.help:
            text = option.help.partition("  [")[0]
            assert text.endswith((".", ")")), f"{name} {option.opts[0]}: {text}"
