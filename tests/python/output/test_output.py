"""What is written is there whole or not at all, and what was there before stays when it cannot be."""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from idlewave.errors import OutputError
from idlewave.output import (
    OutputFiles,
    check_output,
    output_file,
    output_folder,
    write_json,
    write_table,
    write_text,
)

TABLE = pd.DataFrame({"ranks": [4, 8], "noise": [False, True]})
WRITERS: dict[str, Callable[[Path], None]] = {
    "text": lambda path: write_text(path, "new"),
    "json": lambda path: write_json(path, {"new": 1}),
    "parquet": lambda path: write_table(path.with_suffix(".parquet"), TABLE),
    "csv": lambda path: write_table(path.with_suffix(".csv"), TABLE),
}


class Stopped(BaseException):
    """As a signal's handler raises."""


def test_a_file_takes_its_place_when_it_is_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    with output_file(tmp_path / "made" / "x") as file:
        file.write(b"half")
        assert not (tmp_path / "made" / "x").exists()
        file.write(b", whole")
    assert [p.name for p in (tmp_path / "made").iterdir()] == ["x"]
    assert (tmp_path / "made" / "x").read_bytes() == b"half, whole"


@pytest.mark.parametrize("error", [RuntimeError, Stopped])
def test_what_fails_or_is_stopped_leaves_the_old_file_and_no_partial_one(
    tmp_path: Path, error: type[BaseException]
) -> None:
    (tmp_path / "x").write_text("old")

    def fail() -> None:
        with output_file(tmp_path / "x") as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"x": "old"}


def test_files_that_belong_together_change_together(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_text("old")
    (tmp_path / "machine.toml").mkdir()

    def write() -> None:
        with OutputFiles() as files:
            files.text(tmp_path / "noise.csv", "new")
            files.text(tmp_path / "machine.toml", "new")

    with pytest.raises(OutputError, match=r"machine\.toml: cannot be written: Is a directory"):
        write()
    assert (tmp_path / "noise.csv").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["machine.toml", "noise.csv"]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "x"
    for ending in ("", ".parquet", ".csv"):
        place.with_suffix(ending).symlink_to("/dev/full")
    with pytest.raises(OutputError, match=rf"{place}\S*: cannot be written: No space left on device"):
        WRITERS[kind](place)


def test_a_reader_at_the_other_end_of_a_pipe_gets_all(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_link_stays_a_link_and_a_file_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_a_table_carries_its_metadata(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", TABLE, {"idlewave": "study"})
    assert pq.read_schema(tmp_path / "t.parquet").metadata[b"idlewave"] == b"study"
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), TABLE)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".", "it is a directory"),
        ("file/x", "file is not a directory"),
        ("file/deeper/x", "file is not a directory"),
    ],
)
def test_what_is_in_the_way_is_told_before_anything_is_made(tmp_path: Path, path: str, reason: str) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(OutputError, match=reason):
        check_output(tmp_path / path)


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def fail() -> None:
        with output_folder(tmp_path / "f") as folder:
            (folder / "a").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with output_folder(tmp_path / "f") as folder:
        (folder / "a").write_text("whole")
    assert (tmp_path / "f" / "a").read_text() == "whole"
    with pytest.raises(OutputError, match="expected a folder that is empty"), output_folder(tmp_path / "f"):
        pass


def test_the_error_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(OutputError("x", "No space left on device")))
    assert str(error) == "x: cannot be written: No space left on device"
