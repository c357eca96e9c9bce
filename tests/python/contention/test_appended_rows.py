"""Rows are there at once, and nothing that somebody else wrote is lost for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from idlewave.appended_rows import MOST_ROW, AppendedRows
from idlewave.errors import OutputError


def test_rows_are_appended_to_those_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    for number in range(2):
        with AppendedRows(file, "interval") as rows:
            assert not rows.removed
            rows.append({"interval": number})
            assert len(file.read_text().splitlines()) == number + 1  # at once
    assert [json.loads(line)["interval"] for line in file.read_text().splitlines()] == [0, 1]


def test_a_line_that_was_left_unfinished_is_removed_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"interval": 0}\n{"inter')
    with AppendedRows(file, "interval") as rows:
        assert rows.removed
        rows.append({"interval": 1})
    assert file.read_text() == '{"interval": 0}\n{"interval": 1}\n'


def test_a_place_that_cannot_be_and_a_full_disk_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match=r"rows\.jsonl: cannot be written"),
        AppendedRows(tmp_path / "file/rows.jsonl", "interval"),
    ):
        pass
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="full: cannot be written: No space left"), AppendedRows(
        tmp_path / "full", "interval"
    ) as rows:  # fmt: skip
        rows.append({"interval": 0})


@pytest.mark.parametrize(
    "text", ["notes", "kept\nnotes", '{"other": 1}\n{"oth', '{"interval": 0}\n\n ', '{"interval": ' + "9" * MOST_ROW]
)
def test_a_file_of_something_else_is_not_touched(text: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(text)
    with (
        pytest.raises(OutputError, match=r"notes\.txt: .*has no end, and is no row: expected rows that begin"),
        AppendedRows(file, "interval"),
    ):
        pass
    assert file.read_text() == text


def test_the_first_row_may_be_unfinished(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"in')
    with AppendedRows(file, "interval") as rows:
        assert rows.removed
    assert file.read_text() == ""


def test_a_pipe_gets_the_rows_as_they_are() -> None:
    program = (
        "from idlewave.appended_rows import AppendedRows\n"
        "with AppendedRows('/dev/stdout', 'interval') as rows:\n"
        "    rows.append({'interval': 0})\n    rows.append({'interval': 1})"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    assert ended.stdout == '{"interval": 0}\n{"interval": 1}\n'


def test_a_pipe_that_nobody_reads_is_an_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with AppendedRows(pipe, "interval") as rows:
        rows.append({"interval": 0})
        os.close(reader)
        with pytest.raises(OutputError, match="pipe: cannot be written: Broken pipe"):
            rows.append({"interval": 1})
