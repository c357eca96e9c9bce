"""The library of OTF2 is in C: whatever it does with an archive, the import ends with an error, or with the trace."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_runs import run
from ending_support import started
from idlewave import IdlewaveError, InputError, MemoryLimit, OutputError
from idlewave.importing import import_trace, otf2, otf2_reader
from otf2_archive import write_ring
from scorep_archives import write_scorep
from small_disks import small_disk_at

BINDINGS = """
import os, signal, sys, time, types

class Field:
    def __init__(self, name):
        self.name = name

class Event:
    time = 5

class Reader:
    def __init__(self, name, batch_events):
        {does}
        rank = types.SimpleNamespace
        self.definitions = rank()

    @property
    def events(self):
        return []

InterComm = type("InterComm", (), {{"_fields": [Field(n) for n in ("name", "groupA", "groupB", "parent", "flags")]}})
definitions = types.SimpleNamespace(InterComm=InterComm)
reader = types.SimpleNamespace(Reader=Reader)
"""
"""Bindings of a library that does something else than reading."""


PROPERTIES, TRACE_ID_AND_END = 60, 19
"""Where the anchor file of Score-P says how many properties the archive has, and what follows them, in bytes."""


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    """The anchor file of a sound archive."""
    return write_ring(tmp_path / "archive", 2)


def _library(folder: Path, does: str) -> Path:
    """A folder to import bindings from, whose library does something else than reading."""
    (folder / "modules").mkdir()
    (folder / "modules" / "_otf2.py").write_text("")
    (folder / "modules" / "otf2.py").write_text(BINDINGS.format(does=does))
    return folder / "modules"


@pytest.fixture
def with_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Lets the process that reads archives have such a library."""
    return lambda does: monkeypatch.syspath_prepend(_library(tmp_path, does))


@pytest.mark.parametrize(
    ("does", "error", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", InputError, r"OTF2's library crashed \(SIGSEGV\) after 'no message'"),
        ("print('a fault', file=sys.stderr, flush=True); os.abort()", InputError, r"\(SIGABRT\) after 'a fault'; exp"),
        (
            "print('[OTF2] F:1: error: bad', file=sys.stderr); raise KeyError(7)",
            InputError,
            r"'\[OTF2\] F:1: error: bad",
        ),
        ("raise KeyError(7)", InputError, "cannot be read as an OTF2 archive: 'KeyError: 7'"),
        ("print('not for you'); raise IndexError", InputError, "cannot be read as an OTF2 archive: 'IndexError"),
        ("[bytearray(1 << 40) for _ in range(1 << 20)]", MemoryLimit, "memory ran out while reading"),
        ("os.kill(os.getpid(), signal.SIGKILL)", IdlewaveError, r"ended by SIGKILL, as systems do that run out of mem"),
        ("os._exit(3)", RuntimeError, "ended with status 3"),
    ],
)
def test_what_the_library_does_becomes_an_error_and_nothing_is_left(
    anchor: Path, with_library, does: str, error: type[Exception], said: str
) -> None:
    with_library(does)
    with pytest.raises(error, match=said) as caught:
        import_trace(anchor, anchor.parent / "trace")
    assert str(anchor) in str(caught.value)
    assert sorted(path.name for path in anchor.parent.iterdir()) == ["traces", "traces.def", "traces.otf2"]


def test_an_archive_that_crashes_the_library_of_otf2_is_refused(tmp_path: Path) -> None:
    """Twice 2^31 + 1 is 2 in 32 bits: OTF2 3.2 has room for one property of the archive, and writes all to it."""
    anchor = write_scorep(tmp_path / "archive", "comms")
    data = anchor.read_bytes()
    properties = b"".join(b"N%d::A\0true\0" % number for number in range(100_000))
    assert data[PROPERTIES : PROPERTIES + 4] == (5).to_bytes(4, "little")
    anchor.write_bytes(data[:PROPERTIES] + (2**31 + 1).to_bytes(4, "little") + properties + data[-TRACE_ID_AND_END:])
    done = run("import", str(anchor), "-o", str(tmp_path / "trace"))
    assert done.returncode == 1
    refused = rf"error: {anchor}: cannot be read as an OTF2 archive: (OTF2's library crashed \(SIG|')"
    assert re.search(refused, done.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]


def test_a_library_that_reads_nothing_for_long_is_ended(
    anchor: Path, with_library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_library("while True: pass")
    monkeypatch.setattr(otf2, "STANDSTILL", 0.3)
    with pytest.raises(InputError, match="read nothing from it for a long time; expected an undamaged archive"):
        import_trace(anchor, anchor.parent / "trace")


def test_the_time_limit_is_the_library_s_alone() -> None:
    """What is done with the events takes twenty times as long here as the library may take for some."""
    ended: list[int] = []
    before = signal.signal(signal.SIGPROF, lambda number, _: ended.append(number))
    try:
        for number, _ in enumerate(otf2_reader._events(SimpleNamespace(events=range(250)), 0.01)):
            end = time.process_time() + 0.2
            while number % 100 == 50 and time.process_time() < end:
                pass
    finally:
        signal.signal(signal.SIGPROF, before)
    assert (number, ended) == (249, [])


def test_an_error_of_our_own_is_none_of_the_archive(anchor: Path, with_library) -> None:
    with_library("self.batch = 1")
    with pytest.raises(RuntimeError, match=r"(?s)ended with status 1:.*Traceback.*AttributeError"):
        import_trace(anchor, anchor.parent / "trace")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_both_processes_and_leaves_nothing(tmp_path: Path, anchor: Path, number: int) -> None:
    begun = tmp_path / "begun"
    modules = _library(tmp_path, f"open({str(begun)!r}, 'w').close(); time.sleep(1000)")
    places = f"{modules}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    command = [sys.executable, "-m", "idlewave", "import", str(anchor), "-o", str(tmp_path / "trace")]
    with started(command, tmp_path, PYTHONPATH=places) as running:
        end = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < end:
            time.sleep(0.05)
        status, said = running.end_by(number)
        assert (status, "Traceback" in said) == (128 + number, False)
        assert running.left() == []
    assert list(tmp_path.glob("trace*")) == []


@pytest.mark.parametrize("name", ["traces.def", "traces/0.evt", "traces/1.def"])
def test_a_pipe_is_no_file_of_an_archive(anchor: Path, name: str) -> None:
    (anchor.parent / name).unlink()
    os.mkfifo(anchor.parent / name)
    with pytest.raises(InputError, match=f"{name}: cannot be read as a file of an OTF2 archive: it is no file"):
        import_trace(anchor, anchor.parent / "trace")


def test_a_full_disk_is_an_error_of_the_output(tmp_path: Path) -> None:
    anchor = write_scorep(tmp_path / "archive", "archived")
    with small_disk_at(tmp_path / "disk", "8k") as disk:
        with pytest.raises(OutputError, match=r"disk/trace: cannot be written: No space left on device$"):
            import_trace(anchor, disk / "trace")
        assert list(disk.iterdir()) == []


def test_a_file_of_events_that_is_missing_or_ends_early_is_noticed(anchor: Path) -> None:
    (anchor.parent / "traces" / "1.evt").unlink()
    with pytest.raises(InputError, match=r"traces\.otf2: (rank 1 has 0 events: expected 4\d|cannot be read)"):
        import_trace(anchor, anchor.parent / "trace")


def test_what_the_library_says_is_in_the_log_of_vv(tmp_path: Path) -> None:
    anchor = write_ring(tmp_path / "archive", 2)
    anchor.with_name("traces.def").write_bytes(b"")
    quiet, verbose = (run(*options, "import", str(anchor), "-o", str(tmp_path / "trace")) for options in ((), ("-vv",)))
    assert quiet.returncode == verbose.returncode == 1
    assert quiet.stderr.count("\n") == 1
    assert "[OTF2]" in verbose.stderr.replace(quiet.stderr, "")
