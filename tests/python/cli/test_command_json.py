"""Every command answers a program: with --json its output is one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_examples import EXAMPLES, commands, outputs_of, words_of
from command_runs import run_command

ALL = dict(commands())


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_the_option(name: str) -> None:
    assert "--json" in {option for parameter in ALL[name].params for option in parameter.opts}


@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if not example.measures])
def test_its_output_is_one_object_and_nothing_else(name: str, material: dict[str, str], tmp_path: Path) -> None:
    example = EXAMPLES[name]
    outputs = {
        output: tmp_path / example.names[output] for output in outputs_of(ALL[name]) if output not in example.alone
    }
    ended = run_command([*words_of(name, material, outputs, brief=True), "--json"], tmp_path)
    assert ended.status == 0, ended.complained
    assert isinstance(json.loads(ended.printed), dict)
    assert all(path.exists() for path in outputs.values())
    assert not list(tmp_path.rglob("*.part"))
