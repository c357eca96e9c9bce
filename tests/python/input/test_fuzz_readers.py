"""Damaged files: every reader answers, or refuses in words that name the file, in bounded time and memory."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import reader_attempts
import reader_fuzz
from places import ROOT
from reader_executions import executed

SEED = int(os.environ.get("IDLEWAVE_FUZZ_SEED", "26"))
FEW = {"measurement": 8, "probe": 6, "pairs": 6, "network": 12}
"""Cases of readers that take long; of the others there are 15."""


@pytest.mark.parametrize("reader", reader_fuzz.READERS, ids=lambda reader: reader.name)
def test_a_damaged_folder_is_read_or_refused_in_words(
    samples: Callable[[str], Path], tmp_path: Path, reader: reader_fuzz.Reader
) -> None:
    cases = reader_fuzz.cases(reader, samples(reader.name), tmp_path / "x", SEED)
    for _ in range(FEW.get(reader.name, 15)):
        number, done = next(cases)
        said = reader_fuzz.complaint(reader, tmp_path / "x")
        assert not said, (
            f"python tests/python/support/reader_fuzz.py {SEED} case={number} {reader.name} ({done}): {said}"
        )


@pytest.mark.long
def test_so_are_thousands_of_them_within_5_seconds_and_a_gibibyte_each() -> None:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(
        [sys.executable, reader_fuzz.__file__, str(SEED), "90"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]  # its last line names the case
    said = json.loads(done.stdout)
    assert set(said["tried"]) == {reader.name for reader in reader_fuzz.READERS}
    assert said["found"] == {}


@pytest.mark.long
def test_executions_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    command = [sys.executable, reader_fuzz.__file__, str(SEED), "executions=60", str(tmp_path), "rules", "rules.csv"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    for line, name in zip(done.stdout.splitlines(), ("rules", "rules.csv"), strict=True):
        assert line.startswith(f"{name}: 60 executions: ")
        assert line.endswith(f"; seed {SEED}")
        assert sum(_counts(line).values()) == 60
    unknown = subprocess.run([*command[:-2], "nothing"], capture_output=True, text=True, timeout=200, check=False)
    assert unknown.returncode == 1
    assert "no reader is called nothing" in unknown.stderr


def _counts(line: str) -> Counter[str]:
    """How often there was which outcome, by the line about executions."""
    return Counter(
        {outcome: int(count.replace(",", "")) for count, outcome in re.findall(r"([\d,]+) (read|refused)\b", line)}
    )


def _executed(folder: Path, reader: reader_fuzz.Reader, numbers: range, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of these executions."""
    executed([reader], SEED, numbers, folder)
    return capsys.readouterr().out


def test_executions_in_pieces_are_those_of_one_piece(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("liballprof", "chakra"):
        reader = next(reader for reader in reader_fuzz.READERS if reader.name == name)
        whole, first, second = (
            _counts(_executed(tmp_path, reader, numbers, capsys))
            for numbers in (range(400), range(150), range(150, 400))
        )
        assert whole == first + second
        assert min(whole["read"], whole["refused"]) > 20


@pytest.mark.parametrize("reader", [reader for reader in reader_fuzz.READERS if reader.quick], ids=lambda r: r.name)
def test_small_files_are_read_or_refused_in_words_too(
    tmp_path: Path, reader: reader_fuzz.Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _executed(tmp_path, reader, range(64 * 60), capsys)
    assert said.startswith(f"{reader.name}: 3,840 executions: "), said
    assert said.endswith(f"; seed {SEED}\n"), said
    assert "also used" in said


def _weak(read: Callable[[Path], object]) -> reader_fuzz.Reader:
    return reader_fuzz.Reader("weak", lambda folder: (folder / "x").write_text("one two"), read)


def test_what_a_reader_does_not_stand_is_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def read(folder: Path) -> None:
        if (folder / "x").read_text(errors="replace") != "one two":
            raise KeyError("three")

    assert executed([_weak(read)], 1, range(100), tmp_path) == 1
    assert "KeyError at test_fuzz_readers.py" in capsys.readouterr().out
    (stored,) = tmp_path.iterdir()
    with pytest.raises(KeyError):
        read(stored)


def test_what_ends_the_process_of_a_reader_is_stored_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def read(folder: Path) -> None:
        if "two" not in (folder / "x").read_text(errors="replace"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert executed([_weak(read)], 1, range(100), tmp_path) == 1
    assert "its process ended with signal 9" in capsys.readouterr().out
    (stored,) = tmp_path.iterdir()
    assert "two" not in (stored / "x").read_text(errors="replace")


def test_a_reader_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(folder: Path) -> None:
        while "two" not in (folder / "x").read_text(errors="replace"):
            pass

    monkeypatch.setattr(reader_attempts, "SECONDS", 0.3)
    assert executed([_weak(read)], 1, range(100), tmp_path) == 1
    assert f"{reader_attempts.TOO_LONG}; execution " in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 1


def test_an_interruption_says_where_to_continue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def read(folder: Path) -> None:
        calls.append(folder)
        if len(calls) == 30:
            os.kill(os.getpid(), signal.SIGINT)

    calls: list[Path] = []
    assert executed([_weak(read)], 1, range(1000, 1100), tmp_path) == 130
    said = capsys.readouterr().out
    found = re.fullmatch(
        r"weak: (\d+) executions from number 1,000: .*; interrupted: continue with number (\d+)\n", said
    )
    assert found, said
    assert int(found[2]) == 1000 + int(found[1])
    assert not list(tmp_path.iterdir())


WEAK = """
#include <cstdint>
#include <cstdlib>
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bool loops = size > 3 && data[0] == 'L' && data[1] == 'O' && data[2] == 'O' && data[3] == 'P';
    for (volatile int i = 0; loops;) i = i + 1;
    if (size > 2 && data[0] == 'F' && data[1] == 'U') std::abort();
    return 0;
}
"""


def test_a_target_of_the_core_is_executed_so_often_and_what_it_does_not_stand_is_stored(tmp_path: Path) -> None:
    (tmp_path / "weak.cpp").write_text(WEAK)
    main = ROOT / "tests/fuzz/counted_main.cpp"
    options = ["-std=c++20", "-O1", "-fsanitize-coverage=trace-pc", "-I", str(main.parent), "-pthread"]
    compiled = ["c++", *options, str(tmp_path / "weak.cpp"), "-c", "-o", str(tmp_path / "weak.o")]
    linked = ["c++", *options[:2], *options[3:], str(main), str(tmp_path / "weak.o"), "-o", str(tmp_path / "weak")]
    for command in (compiled, linked):
        subprocess.run(command, check=True, timeout=200)

    def executed(number: int, seed: str, *more: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "seed").write_text(seed)
        command = [str(tmp_path / "weak"), "--executions", str(number), "--found", str(tmp_path / "found"), *more]
        return subprocess.run([*command, str(tmp_path / "seed")], capture_output=True, text=True, timeout=200)

    sound = executed(3, "harmless")
    assert sound.returncode == 0
    assert sound.stdout.startswith("3 executions, ")
    broken = executed(1_000_000, "FA but harmless")
    assert broken.returncode == 1
    assert "the reader's process died" in broken.stdout
    (stored,) = tmp_path.glob("found-*")
    assert stored.read_bytes()[:2] == b"FU"
    endless = executed(1, "LOOP", "--seconds", "0.2", "--seed", "2")
    assert endless.returncode == 1
    assert "s of the processor" in endless.stdout
