"""A file of detours says the same however its rows are written, and wherever a piece of it ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from idlewave import InputError, detour_file
from idlewave.detour_file import detours_csv, read_detours

HEADER = "start_ns,length_ns"
PLAIN = f"{HEADER}\n1,2\n30.5,4.25\n500,6\n7000,8.001\n"
STARTS, LENGTHS = [1_000, 30_500, 500_000, 7_000_000], [2_000, 4_250, 6_000, 8_001]
WRITTEN = {
    "plain": PLAIN,
    "without a last end of line": PLAIN.removesuffix("\n"),
    "with ends of lines of Windows": PLAIN.replace("\n", "\r\n"),
    "with a quoted row among others": PLAIN.replace("30.5,4.25", '"30.5","4.25"'),
    "with blanks": PLAIN.replace("500,6", " 500 , 6 "),
    "with an exponent": PLAIN.replace("500,6", "5e2,6"),
    "with an empty line": PLAIN.replace("500,6", "\n500,6"),
    "with a third column": PLAIN.replace("\n", ",more\n"),
    "with a header of another form": PLAIN.replace(HEADER, " start_ns , length_ns "),
}


def read(folder: Path, text: str) -> tuple[list[int], list[int]]:
    """The starts and lengths of a file with this text, ps."""
    (folder / "detours.csv").write_bytes(text.encode())
    starts, lengths = read_detours(folder / "detours.csv")
    return list(starts), list(lengths)


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("piece", [1, 7, 16, 1 << 20])
def test_rows_say_the_same_however_they_are_written(
    text: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detour_file, "_PIECE", piece)
    assert read(tmp_path, text) == (STARTS, LENGTHS)


def test_many_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    starts = np.arange(100_000) * 1_234_567
    lengths = np.arange(100_000) % 999_983 + 1
    found = read(tmp_path, detours_csv(starts, lengths))
    assert found == (starts.tolist(), lengths.tolist())


@pytest.mark.parametrize("piece", [7, 1 << 20])
def test_an_error_names_the_line_also_behind_plain_rows(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detour_file, "_PIECE", piece)
    with pytest.raises(InputError, match=r"detours\.csv:6: expected start_ns,length_ns, found 9,x"):
        read(tmp_path, PLAIN + "9,x\n10,11\n")
    with pytest.raises(InputError, match=r"detours\.csv:8: expected start_ns,length_ns, found y"):
        read(tmp_path, PLAIN + '"9","1"\n10,11\ny\n')


@pytest.mark.parametrize("row", ["1,2\n", '"1",2\n'], ids=["plain rows", "others"])
def test_a_file_beyond_the_limit_is_refused(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detour_file, "MOST_TABLE", 1024)
    monkeypatch.setattr(detour_file, "_PIECE", 64)
    with pytest.raises(InputError, match="at most 1 KiB"):
        read(tmp_path, HEADER + "\n" + row * 1000)
