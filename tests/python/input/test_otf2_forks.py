"""The forks in which OTF2's reader is fuzzed: whatever the library does with an archive, it is said of that archive."""

from __future__ import annotations

import faulthandler
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import otf2_fork
import otf2_forks
import pytest
from idlewave import InputError
from idlewave.importing.otf2_reader import read_archive
from otf2_archive import write_ring
from otf2_forks import ReaderInForks


@pytest.fixture
def reader() -> Iterator[ReaderInForks]:
    """A reader, whose fork ends with the test."""
    made = ReaderInForks()
    yield made
    made.close()


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A sound archive."""
    return write_ring(tmp_path / "in", 2)


@pytest.fixture
def with_archive(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[float], object]], None]:
    """Lets something be done with an archive of a name, given the seconds that the library may take."""

    def let(name: str, do: Callable[[float], object]) -> None:
        def read(source: Path, folder: Path, seconds: float) -> object:
            faulthandler.disable()  # pytest's would write to a file that the fork has not
            return do(seconds) if source.name == name else read_archive(source, folder, seconds)

        monkeypatch.setattr(otf2_fork, "read_archive", read)

    return let


def test_an_archive_that_crashes_the_library_is_refused_and_the_next_one_is_read(
    tmp_path: Path, reader: ReaderInForks, sound: Path, with_archive: Callable[..., None]
) -> None:
    with_archive("crash", lambda _: os.abort())
    for _ in range(2):
        with pytest.raises(InputError, match=r"crash: .* crashed \(SIGABRT\)"):
            reader.import_otf2(tmp_path / "crash", tmp_path)
        for _ in range(2):
            assert reader.import_otf2(sound, tmp_path) == Counter()
    assert (tmp_path / "rank-0000001.iwtrace").is_file()


def _crash() -> NoReturn:
    os.abort()


def _lack_files() -> OSError:
    return OSError(24, "Too many open files")


@pytest.mark.parametrize("fail", [_crash, _lack_files])
def test_what_the_archives_before_it_may_have_caused_is_not_said_of_an_archive(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None], fail: Callable[[], object]
) -> None:
    read: list[str] = []

    def fail_at_the_second(_: float) -> object:
        read.append("one")
        return fail() if len(read) == 2 else Counter(read)

    with_archive("any", fail_at_the_second)
    for _ in range(3):
        assert reader.import_otf2(tmp_path / "any", tmp_path) == Counter(one=1)


def test_a_library_that_reads_nothing_for_long_is_said_of_the_archive(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None]
) -> None:
    def read_nothing(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        while True:
            pass

    with_archive("endless", read_nothing)
    with pytest.raises(InputError, match=r"endless: .* read nothing from it for a long time"):
        reader.import_otf2(tmp_path / "endless", tmp_path)


def test_idlewave_that_computes_for_long_is_no_fault_of_the_archive(
    tmp_path: Path, reader: ReaderInForks, monkeypatch: pytest.MonkeyPatch, with_archive: Callable[..., None]
) -> None:
    def compute(_: float) -> None:
        while True:
            pass

    monkeypatch.setattr(otf2_fork, "SECONDS", 0.1)
    with_archive("endless", compute)
    with pytest.raises(RuntimeError, match="Idlewave took more than"):
        reader.import_otf2(tmp_path / "endless", tmp_path)


@pytest.mark.parametrize("error", [ZeroDivisionError, EOFError])
def test_an_error_of_our_own_is_none_of_the_archive(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None], error: type[Exception]
) -> None:
    def fail(_: float) -> None:
        raise error

    with_archive("wrong", fail)
    with pytest.raises(RuntimeError, match=rf"(?s)ended with status 1:.*{error.__name__}"):
        reader.import_otf2(tmp_path / "wrong", tmp_path)


def test_a_fork_ends_after_its_last_archive(
    tmp_path: Path, reader: ReaderInForks, monkeypatch: pytest.MonkeyPatch, with_archive: Callable[..., None]
) -> None:
    monkeypatch.setattr(otf2_forks, "MOST_READ", 2)
    with_archive("any", lambda _: Counter(process=os.getpid()))
    forks = [_process(reader, tmp_path) for _ in range(5)]
    assert (forks[0], forks[2]) == (forks[1], forks[3])
    assert len(set(forks)) == 3
    for ended in (forks[0], forks[2]):
        with pytest.raises(ProcessLookupError):
            os.kill(ended, 0)


def test_a_child_of_this_process_has_a_fork_of_its_own(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None]
) -> None:
    with_archive("any", lambda _: Counter(process=os.getpid()))
    ours = _process(reader, tmp_path)
    child = os.fork()
    if child == 0:
        same = 1
        try:
            same = int(_process(reader, tmp_path) == ours)
            reader.close()
        finally:
            os._exit(same)
    assert os.waitpid(child, 0)[1] == 0
    assert _process(reader, tmp_path) == ours


def _process(reader: ReaderInForks, folder: Path) -> int:
    """The process that reads an archive, as it answers."""
    found = reader.import_otf2(folder / "any", folder)
    assert isinstance(found, Counter)
    return found["process"]
