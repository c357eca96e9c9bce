"""Every command, by every fault: one line that names the place and the cause, a status that is not 0, nothing lost.

A command or an output is in the matrix by existing: one without an example in `command_examples` fails it.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from command_examples import EXAMPLES, commands, make_program, outputs_of, words_of
from command_runs import Ended, run_command
from idlewave.cli.option_types import OutputFolder
from idlewave.errors import MpiError
from long_cases import later_long

pytestmark = pytest.mark.slow

ALL = dict(commands())
OUTPUTS = [(name, output) for name, command in ALL.items() for output in outputs_of(command)]
QUICK = [(name, output) for name, output in OUTPUTS if not EXAMPLES[name].measures]
OLD = "what was there before"


@pytest.fixture(scope="module")
def material(material: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With a program to trace."""
    try:
        return material | make_program(tmp_path_factory.mktemp("program"))
    except MpiError:
        return material | {"mpiexec": "mpiexec", "program": "program"}


def kind_of(case: tuple[str, str]) -> tuple[str, str]:
    """Files whose names end alike are written by the same code, and so are the folders of a group of commands."""
    name, output = case
    folder = isinstance(outputs_of(ALL[name])[output].type, OutputFolder)
    return name.split()[0] if folder else "", Path(EXAMPLES[name].names[output]).suffix


def group_of(name: str) -> str:
    """Commands of a group print through the same code."""
    return name.split()[0]


def required(name: str, folder: Path) -> dict[str, Path]:
    """Outputs that a command does not do without, or that it would put into the folder where it runs."""
    found = {}
    for output, parameter in outputs_of(ALL[name]).items():
        if parameter.required or isinstance(parameter.default, Path):
            found[output] = folder / EXAMPLES[name].names[output]
    return found


def assert_told(ended: Ended, *what: str) -> None:
    assert ended.status == 1, (ended.status, ended.complained)
    assert "Traceback" not in ended.complained
    last = ended.complained.strip().splitlines()[-1]
    for part in what:
        assert part in last, ended.complained
    assert last.startswith("error: ")


def test_every_command_and_every_output_is_in_the_matrix() -> None:
    assert set(EXAMPLES) == set(ALL)
    assert {name: set(outputs_of(command)) for name, command in ALL.items()} == {
        name: set(example.names) for name, example in EXAMPLES.items()
    }


@pytest.mark.long  # those that do the least, with --json, in each run: test_command_json.py
@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if not example.measures])
def test_every_command_does_its_work_and_leaves_nothing_beside_it(
    name: str, material: dict[str, str], tmp_path: Path
) -> None:
    example = EXAMPLES[name]
    outputs = {output: tmp_path / to for output, to in example.names.items() if output not in example.alone}
    ended = run_command(words_of(name, material, outputs), tmp_path)
    assert ended.status == 0, ended.complained
    for path in outputs.values():
        assert path.exists()
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(("name", "output"), OUTPUTS)
def test_a_place_that_cannot_be_is_refused_before_anything_is_done(
    name: str, output: str, material: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text(OLD)
    place = tmp_path / "file" / EXAMPLES[name].names[output]
    ended = run_command(words_of(name, material, required(name, tmp_path) | {output: place}), tmp_path)
    assert_told(ended, str(place), "cannot be written", "is not a directory")
    assert ended.printed == ""
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("case", later_long(QUICK, kind_of), ids=" ".join)
def test_a_full_disk_is_told_and_the_earlier_file_stays(
    case: tuple[str, str], material: dict[str, str], tmp_path: Path
) -> None:
    name, output = case
    place = tmp_path / EXAMPLES[name].names[output]
    folder = isinstance(outputs_of(ALL[name])[output].type, OutputFolder)
    if not folder:
        place.write_text(OLD)
    words = words_of(name, material, required(name, tmp_path) | {output: place})
    ended = run_command(words, tmp_path, file_limit=8)
    assert_told(ended, "cannot be written", "File too large")
    assert not list(tmp_path.rglob("*.part"))
    if not folder:
        assert place.read_text() == OLD


@pytest.mark.parametrize(
    "case", later_long([(n, o) for n, o in QUICK if "." in EXAMPLES[n].names[o]], kind_of), ids=" ".join
)
def test_a_device_that_is_full_is_told(case: tuple[str, str], material: dict[str, str], tmp_path: Path) -> None:
    name, output = case
    place = tmp_path / EXAMPLES[name].names[output]
    place.symlink_to("/dev/full")
    ended = run_command(words_of(name, material, required(name, tmp_path) | {output: place}), tmp_path)
    assert_told(ended, str(place), "cannot be written", "No space left on device")
    assert place.is_symlink()


@pytest.mark.parametrize(
    "name", later_long([name for name, example in EXAMPLES.items() if not example.measures], group_of)
)
def test_output_that_nobody_can_take_is_told(name: str, material: dict[str, str], tmp_path: Path) -> None:
    words = words_of(name, material, required(name, tmp_path), brief=True)
    ended = run_command(words, tmp_path, stdout="/dev/full")
    assert_told(ended, "No space left on device")


def _inputs() -> list[tuple[str, str]]:
    return [
        (name, word)
        for name, example in EXAMPLES.items()
        if not example.measures
        for word in sorted(set(re.findall(r"{(\w+)}", example.words)))
    ]


@pytest.mark.parametrize("kind", ["missing", "a folder", "a pipe", "/dev/zero", "empty", "noise"])
@pytest.mark.parametrize(("name", "word"), _inputs())
def test_an_input_that_is_none_is_told_by_its_name(
    name: str, word: str, kind: str, material: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "input"
    if kind == "a folder":
        place.mkdir()
    elif kind == "a pipe":
        os.mkfifo(place)
    elif kind == "/dev/zero":
        place.symlink_to("/dev/zero")
    elif kind == "empty":
        place.touch()
    elif kind == "noise":
        place.write_bytes(random.Random(1).randbytes(5000))
    words = words_of(name, material | {word: str(place)}, required(name, tmp_path))
    ended = run_command(words, tmp_path)
    assert ended.status in (1, 2), (ended.status, ended.complained)
    assert "Traceback" not in ended.complained
    assert "input" in ended.complained
    assert ended.complained.isprintable() or "\n" in ended.complained
