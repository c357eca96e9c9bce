"""DUMPI traces, of the tracer of the SST simulators, become traces with the same calls."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import run
from dumpi_trace import RANKS, rank_file, write_dumpi
from idlewave import Schedule, mpi
from idlewave.errors import InputError
from idlewave.importing import Imported, import_trace
from idlewave.importing.dumpi_communicators import Communicator, communicators_of
from idlewave.importing.dumpi_file import Record
from trace_reader import RankFile, read_trace
from tracer_support import decoded, mpich, open_mpi, program, trace_of

FIRST_RECORD = 16
"""The byte where the first record of a file begins: its function, a mask, and the caller's thread."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = tmp_path_factory.mktemp("dumpi")
    return import_trace(write_dumpi(folder / "in"), folder / "out")


def _calls(rank: RankFile) -> list[tuple]:
    """The calls of a rank; communicators have numbers in the order in which they were made."""
    numbers = {0: 0}
    calls = []
    for name, *words in decoded(rank):
        if name == "CommDef":
            del words[1]  # its parent
        if words and isinstance(words[0], int):
            words[0] = numbers.setdefault(words[0], len(numbers))
        if name not in ("Polls", "CommFree"):
            calls.append((name, *words))
    return calls


def _agree(known: object, imported: object) -> bool:
    """Whether they are the same, where the imported trace knows it."""
    if isinstance(known, tuple) and isinstance(imported, tuple):
        return len(known) == len(imported) and all(map(_agree, known, imported))
    return known == imported or imported == -1


@pytest.mark.mpi
@pytest.mark.parametrize("use", [open_mpi, mpich], ids=["open-mpi", "mpich"])
def test_its_calls_are_those_that_our_tracer_records_of_the_program(
    tmp_path: Path, imported: Imported, use: Callable[[], mpi.Mpi]
) -> None:
    ours = trace_of(tmp_path / "trace", use(), RANKS, program(use(), "exchanges"))
    for known, read in zip(ours, read_trace(imported.trace.directory), strict=True):
        for call, other in zip(_calls(known), _calls(read), strict=True):
            assert _agree(call, other), (call, other)


def test_nothing_is_left_out_and_the_trace_is_simulated(imported: Imported) -> None:
    assert imported.format == "DUMPI"
    assert imported.left_out == {}
    assert imported.trace.communication()["messages"].sum() == 36
    assert imported.trace.communication()["bytes"].sum() == 4632
    schedule = Schedule.from_trace(imported.trace)
    assert schedule.wildcard_receives == 7
    assert re.findall(r"recv (\d+)b from (\d) tag 1[0-3]\b", schedule.to_goal())[:3] == [
        ("40", "1"),
        ("80", "2"),
        ("120", "3"),
    ]


def test_the_file_of_any_rank_names_the_trace(tmp_path: Path) -> None:
    write_dumpi(tmp_path / "in").unlink()
    found = import_trace(rank_file(tmp_path / "in", 2), tmp_path / "out")
    assert found.trace.ranks == RANKS


def test_the_command_reads_it(tmp_path: Path) -> None:
    done = run("import", str(write_dumpi(tmp_path / "in")), "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "4 ranks, 220 calls" in done.stdout


def test_clocks_of_hosts_are_aligned_where_ranks_leave_init(tmp_path: Path) -> None:
    write_dumpi(tmp_path / "in")
    file = rank_file(tmp_path / "in", 3)
    data = bytearray(file.read_bytes())
    (second,) = struct.unpack_from(">i", data, 12)
    struct.pack_into(">i", data, 12, second + 5000)
    file.write_bytes(data)
    trace = import_trace(rank_file(tmp_path / "in", 0), tmp_path / "out").trace
    begins = [rank.header["init_end"] for rank in read_trace(trace.directory)]
    assert begins == [1_000_000] * RANKS


def _patched(at: int, new: bytes) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        data = bytearray(file.read_bytes())
        at_ = at % len(data)
        data[at_ : at_ + len(new)] = new
        file.write_bytes(data)

    return change


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:3000])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_patched(0, b"PK"), "byte 0: expected ff aa dd 44 55 4d 50 49, found 50 4b dd 44"),
        (_patched(0, bytes.fromhex("49504d5544ddaaff")), "byte 0: .* in the other byte order"),
        (_cut, "byte 2936: expected an index .* the file was cut"),
        (lambda file: file.write_bytes(b""), "an empty file"),
        (lambda file: file.unlink(), r"0001\.bin: is missing: .*\.meta says that there are 4 ranks"),
        (_patched(FIRST_RECORD, b"\x01\x25"), "byte 16: expected records up to byte"),
        (_patched(FIRST_RECORD, b"\x01\x2c"), "byte 16: expected the number of a function, found 300"),
        (_patched(FIRST_RECORD + 2, b"\x43"), "byte 16: expected a call with its wall time"),
        (
            _patched(FIRST_RECORD + 3, b"\x00\x05"),
            "byte 64: MPI_Comm_rank is called by thread 0: expected calls of one",
        ),
        (_patched(FIRST_RECORD + 29, b"\x7f\xff\xff\xff"), "expected a count of parts in the file, found 2147483647"),
    ],
)
def test_what_is_none_is_refused_with_file_and_byte(tmp_path: Path, change: Callable[[Path], None], why: str) -> None:
    meta = write_dumpi(tmp_path / "in")
    change(rank_file(tmp_path / "in", 1))
    with pytest.raises(InputError, match=why) as refusal:
        import_trace(meta, tmp_path / "out")
    assert rank_file(tmp_path / "in", 1).name in str(refusal.value)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_missing_is_noticed_without_the_file_about_the_trace(tmp_path: Path) -> None:
    write_dumpi(tmp_path / "in").unlink()
    rank_file(tmp_path / "in", 1).unlink()
    with pytest.raises(InputError, match=r"0001\.bin: is missing, and .*-0002\.bin is there"):
        import_trace(rank_file(tmp_path / "in", 0), tmp_path / "out")


@pytest.mark.parametrize(("version", "written"), [(b"\x0e\x00\x00", "14.0.0"), (b"\x00\x06\x08", "0.6.8")])
def test_other_versions_are_refused(tmp_path: Path, version: bytes, written: str) -> None:
    meta = write_dumpi(tmp_path / "in")
    file = rank_file(tmp_path / "in", 0)
    data = file.read_bytes()
    (header,) = struct.unpack_from(">Q", data, len(data) - 32)
    _patched(header, version)(file)
    with pytest.raises(InputError, match=f"from version 0.6.9 to 13, found one of version {re.escape(written)}"):
        import_trace(meta, tmp_path / "out")


def test_the_number_of_ranks_is_expected(tmp_path: Path) -> None:
    meta = write_dumpi(tmp_path / "in")
    meta.write_text("numprocs=0\n")
    with pytest.raises(InputError, match="expected a line numprocs= with the number of ranks, found 'numprocs=0'"):
        import_trace(meta, tmp_path / "out")
    meta.unlink()
    rank_file(tmp_path / "in", 3).unlink()
    with pytest.raises(InputError, match=r"the program had 4 ranks: expected so many files, not 3"):
        import_trace(rank_file(tmp_path / "in", 0), tmp_path / "out")


def _record(name: str, *fields: object) -> Record:
    return Record(0, name, 0, 0, list(fields))


def test_groups_make_communicators_of_their_own() -> None:
    """Of three ranks: without rank 1, in a row that a range turns round, of both; and a split that one rank lacks."""
    calls = [
        [
            _record("Comm_group", 2, 3),
            _record("Group_excl", 3, 1, [1], 4),
            _record("Comm_create", 2, 4, 4 if rank != 1 else 1),
            _record("Group_range_incl", 3, 1, [[2, 0, -2]], 5),
            _record("Comm_create", 2, 5, 5 if rank != 1 else 1),
            _record("Group_intersection", 5, 4, 6),
            _record("Comm_create", 2, 6, 6 if rank != 1 else 1),
            _record("Comm_split", 2, rank, 0, 7),
        ]
        for rank in range(3)
    ]
    del calls[2][-1]
    made = communicators_of(calls)
    assert made[0] == [
        Communicator(16, 1, (0, 2)),
        Communicator(17, 1, (2, 0)),
        Communicator(18, 1, (2, 0)),
        None,
    ]
    assert made[1] == [None] * 4
    assert made[2] == made[0][:3]
