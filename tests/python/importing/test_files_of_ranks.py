"""The files of a trace's ranks are found from one of them, and those that are missing are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from idlewave.errors import InputError
from idlewave.importing.files_of_ranks import files_of_ranks


def made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_bytes(b"")
    return folder / names[0]


def test_the_files_are_those_of_all_ranks_in_order(tmp_path: Path) -> None:
    source = made(tmp_path, "et.1.et", "et.0.et", "et.2.et", "et.x.et", "at.3.et", "et.4.dat")
    assert [file.name for file in files_of_ranks(source, "et.", ".et")] == ["et.0.et", "et.1.et", "et.2.et"]


def test_numbers_have_as_many_digits_as_those_of_rank_0(tmp_path: Path) -> None:
    source = made(tmp_path, "t-0000.bin", "t-0001.bin", "t-3.bin")
    assert len(files_of_ranks(source, "t-", ".bin", digits=4)) == 2, "t-3.bin is another trace's"


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("et.0.et", "et.2.et"), r"et\.1\.et: is missing, and et\.2\.et is there"),
        (("et.3.et", "et.0.et", "et.1.et"), r"et\.2\.et: is missing, and et\.3\.et is there"),
        (("et.5.et", "et.7.et"), r"et\.0\.et: is missing, and et\.5\.et is there"),
        (("et.01.et", "et.0.et"), r"et\.1\.et: is missing: expected the files of all ranks from 0 on"),
    ],
)
def test_the_first_missing_file_is_named(tmp_path: Path, names: tuple[str, ...], why: str) -> None:
    with pytest.raises(InputError, match=why):
        files_of_ranks(made(tmp_path, *names), "et.", ".et")
