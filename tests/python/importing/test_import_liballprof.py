"""Traces of liballprof, LogGOPSim's tracer, become traces with the same calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import run
from idlewave import Schedule
from idlewave.errors import InputError
from idlewave.importing import Imported, import_trace
from liballprof_trace import RANKS, write_liballprof

KILO = 1000


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = tmp_path_factory.mktemp("liballprof")
    return import_trace(write_liballprof(folder / "in"), folder / "out")


def test_all_calls_with_messages_are_there(imported: Imported) -> None:
    calls = imported.trace.totals().groupby("call")["count"].sum()
    rooted = ("Bcast", "Reduce", "Gather", "Scatter")
    unrooted = ("Allreduce", "Barrier", "Alltoall", "Allgather", "Allgatherv", "Scan", "Reduce_scatter", "Alltoallv")
    for name in (*rooted, *unrooted, "Sendrecv", "Waitall", "Wait", "Isend"):
        assert calls[f"MPI_{name}"] == RANKS, name
    assert calls["MPI_Irecv"] == 2 * RANKS
    assert imported.format == "liballprof"


def test_messages_have_their_bytes_and_computation_its_time(imported: Imported) -> None:
    text = Schedule.from_trace(imported.trace).to_goal()
    assert len(re.findall(r"send 80b to 1 tag 3", text)) == 2, "rank 0 sends 10 doubles twice"
    assert len(re.findall(r"send 20b to \d tag 4", text)) == RANKS / 2
    assert f"calc {990 * KILO}" in text, "calls take 10 of 1,000 µs"


def test_receives_that_name_no_source_stay_wild(imported: Imported) -> None:
    schedule = Schedule.from_trace(imported.trace)
    assert len(re.findall(r"recv 36b from -1", schedule.to_goal())) == RANKS / 2
    assert schedule.wildcard_receives == RANKS / 2


def test_what_the_trace_lacks_is_counted(imported: Imported) -> None:
    assert imported.left_out == {
        "calls on communicators whose members the trace does not list": RANKS,
        "messages that receives without a source took": RANKS // 2,
    }


def test_the_command_says_what_was_left_out(tmp_path: Path) -> None:
    source = write_liballprof(tmp_path / "in")
    done = run("import", str(source), "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "4 calls on communicators whose members the trace does not list" in done.stderr


def _changed(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_changed("MPI_Barrier:", "Barrier:"), r"trace-0.txt:\d+: expected a call of MPI, found 'Barrier"),
        (_changed("MPI_Bcast:306524", "MPI_Bcast:x306524"), r"trace-0.txt:\d+: expected a time in µs, found 'x306524"),
        (
            _changed(":100:10,8,8:", ":100:10:"),
            r"trace-0.txt:\d+: not 'MPI_Bcast' as liballprof writes it: expected a datatype",
        ),
        (_changed(":1,2,1,1:", ":1,2:"), "expected 4 counts, found 2"),
        (_changed(":100:10,8,8:", ":-100:10,8,8:"), r"expected a size from 0 to 2\^50 bytes"),
        (_changed("clockdiff: 0.000000 s", "clockdiff: x s"), r"trace-0.txt:2: expected a difference of clocks in s"),
        (_changed("MPI_Init:", "MPI_Other:"), "has no MPI_Init"),
        (_changed("# htor's PMPI Tracer", "# something else"), "cannot be read as an OTF2 archive"),
    ],
)
def test_lines_that_are_none_are_named(tmp_path: Path, change: Callable[[str], str], why: str) -> None:
    source = write_liballprof(tmp_path / "in")
    source.write_text(change(source.read_text()))
    with pytest.raises(InputError, match=why):
        import_trace(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_file_of_rank_0_is_expected(tmp_path: Path) -> None:
    source = write_liballprof(tmp_path / "in")
    with pytest.raises(InputError, match="expected the file of rank 0"):
        import_trace(source.with_name("trace-1.txt"), tmp_path / "out")


def test_files_that_are_missing_are_noticed_by_a_later_one_or_by_a_communicator(tmp_path: Path) -> None:
    source = write_liballprof(tmp_path / "in")
    source.with_name("trace-3.txt").unlink()
    with pytest.raises(InputError, match=r"trace-0.txt:\d+: .*a communicator has 4 ranks, and there are files of 3"):
        import_trace(source, tmp_path / "out")
    source.with_name("trace-1.txt").unlink()
    with pytest.raises(InputError, match=r"trace-1.txt: is missing, and trace-2.txt is there"):
        import_trace(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_of_rank_10_is_not_that_of_rank_0(tmp_path: Path) -> None:
    source = write_liballprof(tmp_path / "in")
    source.rename(source.with_name("trace-10.txt"))
    with pytest.raises(InputError, match="expected the file of rank 0"):
        import_trace(source.with_name("trace-10.txt"), tmp_path / "out")


def test_commands_say_that_nobody_knows_which_messages_they_took(imported: Imported) -> None:
    done = run("simulate", str(imported.trace.directory), "-m", "odin")
    assert "2 receives name no source, and the trace does not say what they took" in done.stderr
    assert "in the traced run" not in done.stderr
