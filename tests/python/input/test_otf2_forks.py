"""The forks in which OTF2's reader is fuzzed: whatever the library does with an archive, it is said of that archive."""

from __future__ import annotations

import faulthandler
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

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
def with_archive(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Lets the library do something with an archive of a name."""

    def let(name: str, do: Callable[[], object]) -> None:
        def read(source: Path, folder: Path, seconds: float) -> object:
            faulthandler.disable()  # pytest's would write to pytest's stderr
            return do() if source.name == name else read_archive(source, folder, seconds)

        monkeypatch.setattr(otf2_fork, "read_archive", read)

    return let


def test_an_archive_that_crashes_the_library_is_refused_and_the_next_one_is_read(
    tmp_path: Path, reader: ReaderInForks, sound: Path, with_archive: Callable[..., None]
) -> None:
    with_archive("crash", os.abort)
    for _ in range(2):
        with pytest.raises(InputError, match=r"crash: .* crashed \(SIGABRT\)"):
            reader.import_otf2(tmp_path / "crash", tmp_path)
        for _ in range(2):
            assert reader.import_otf2(sound, tmp_path) == Counter()
    assert (tmp_path / "rank-0000001.iwtrace").is_file()


def test_a_crash_that_an_archive_before_it_caused_is_not_said_of_an_archive(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None]
) -> None:
    read: list[str] = []

    def crash_at_the_second() -> Counter[str]:
        read.append("one")
        return os.abort() if len(read) == 2 else Counter(read)

    with_archive("any", crash_at_the_second)
    for _ in range(3):
        assert reader.import_otf2(tmp_path / "any", tmp_path) == Counter(one=1)


def test_a_library_that_reads_nothing_for_long_is_said_of_the_archive(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None]
) -> None:
    def read_nothing() -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.05)
        while True:
            pass

    with_archive("endless", read_nothing)
    with pytest.raises(InputError, match=r"endless: .* read nothing from it for a long time"):
        reader.import_otf2(tmp_path / "endless", tmp_path)


def test_an_error_of_our_own_is_none_of_the_archive(
    tmp_path: Path, reader: ReaderInForks, with_archive: Callable[..., None]
) -> None:
    with_archive("wrong", lambda: 1 // 0)
    with pytest.raises(RuntimeError, match=r"(?s)ended with status 1:.*ZeroDivisionError"):
        reader.import_otf2(tmp_path / "wrong", tmp_path)


def test_a_fork_ends_after_its_last_archive(
    tmp_path: Path, reader: ReaderInForks, monkeypatch: pytest.MonkeyPatch, with_archive: Callable[..., None]
) -> None:
    monkeypatch.setattr(otf2_forks, "MOST_READ", 2)
    with_archive("any", lambda: Counter({str(os.getpid()): 1}))
    forks = [str(reader.import_otf2(tmp_path / "any", tmp_path)) for _ in range(5)]
    assert (forks[0], forks[2]) == (forks[1], forks[3])
    assert len(set(forks)) == 3


def test_a_child_of_this_process_has_a_fork_of_its_own(tmp_path: Path, reader: ReaderInForks, sound: Path) -> None:
    assert reader.import_otf2(sound, tmp_path) == Counter()
    child = os.fork()
    if child == 0:
        read = 1
        try:
            read = int(reader.import_otf2(sound, tmp_path) != Counter())
            reader.close()
        finally:
            os._exit(read)
    assert os.waitpid(child, 0)[1] == 0
    assert reader.import_otf2(sound, tmp_path) == Counter()
