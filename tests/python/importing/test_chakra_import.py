"""Chakra execution traces, which are graphs, become schedules with the same dependencies."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import idlewave
import pytest
from chakra_trace import COLLECTIVE, COMPUTATION, DIGEST, GENERATED, RANKS, metadata, node, rank_file, write_chakra
from command_runs import run
from idlewave import Machine, Schedule, UsageError
from idlewave.errors import InputError
from idlewave.importing import import_schedule

ODIN = Machine.preset("odin")


def _goal(folder: Path, source: Path, algorithms: dict[str, str] | None = None) -> str:
    return import_schedule(source, folder / "out.goal", algorithms=algorithms).file.read_text()


def _simulated(file: Path) -> tuple[int, int]:
    timeline = idlewave.simulate(Schedule.load(file), ODIN)
    return int(timeline.finish.max()), timeline.messages


def _generated(folder: Path, name: str, ranks: int) -> Path:
    for rank in range(ranks):
        of_rank = GENERATED.get(f"{name}.{rank}.et", GENERATED[f"{name}.0.et"])
        (folder / f"{name}.{rank}.et").write_bytes(bytes.fromhex(of_rank))
    return folder / f"{name}.0.et"


def test_the_sample_is_what_chakra_writes(tmp_path: Path) -> None:
    write_chakra(tmp_path)
    written = b"".join(rank_file(tmp_path, rank).read_bytes() for rank in range(RANKS))
    assert hashlib.sha256(written).hexdigest() == DIGEST


def test_nodes_wait_for_those_that_they_need_and_for_no_others(tmp_path: Path) -> None:
    found = import_schedule(write_chakra(tmp_path), tmp_path / "out.goal")
    assert (found.format, found.ranks, found.nodes) == ("Chakra", RANKS, 8 * RANKS)
    assert found.left_out == {"control dependencies": RANKS}
    rank_0 = found.file.read_text().split("rank 1 {")[0]
    assert "n1: calc 10000 cpu 0" in rank_0, "a computation of the device"
    assert "n2: calc 4000 cpu 1" in rank_0, "one of the host"
    assert "n7: calc 2000 cpu 3" in rank_0, "an access to memory"
    assert "n3: send 1000b to 1 tag 5" in rank_0
    assert re.findall(r"n6 requires (n\d+)\n", rank_0) == ["n4", "n5", "n7"], "node 7 comes later in the file"
    assert re.findall(r"b5 requires (n\d+)\n", rank_0) == ["n1", "n2"]
    assert "b5 requires n4" not in rank_0, "a control dependency"


def test_a_collective_of_a_group_has_the_ranks_that_name_it(tmp_path: Path) -> None:
    ranks = _goal(tmp_path, write_chakra(tmp_path)).split("rank ")[1:]
    for rank, text in enumerate(ranks):
        peers = set(re.findall(r"n5_\d+: (?:send|recv) 400b (?:to|from) (\d)", text))
        assert peers == {str((rank + 2) % 4)}, "the other one with the same parity"


@pytest.mark.parametrize(
    ("name", "pattern", "size"), [("ALL_REDUCE", "allreduce", 65536), ("two_comp_nodes_dependent", None, 10_000_000)]
)
def test_what_the_generator_writes_takes_as_long_as_it_must(
    tmp_path: Path, name: str, pattern: str | None, size: int
) -> None:
    file = import_schedule(_generated(tmp_path, name, RANKS), tmp_path / "out.goal").file
    expected = (size, 0)
    if pattern is not None:
        timeline = idlewave.simulate(Schedule.pattern(pattern, ranks=RANKS, bytes=size), ODIN)
        expected = (int(timeline.finish.max()), timeline.messages)
    assert _simulated(file) == expected


def test_computations_of_the_device_take_turns_and_those_of_the_host_run_beside_them(tmp_path: Path) -> None:
    device = import_schedule(_generated(tmp_path, "two_comp_nodes_independent", 1), tmp_path / "a.goal").file
    assert _simulated(device) == (10_000_000, 0)
    both = [node(i, COMPUTATION, micros=5, is_cpu_op=i == 1) for i in range(2)]
    (tmp_path / "b.0.et").write_bytes(metadata() + b"".join(both))
    assert _simulated(import_schedule(tmp_path / "b.0.et", tmp_path / "b.goal").file) == (5_000_000, 0)


def test_algorithms_are_chosen_and_other_formats_written(tmp_path: Path) -> None:
    source = write_chakra(tmp_path)
    usual, _ = _simulated(import_schedule(source, tmp_path / "a.idg").file)
    ring, messages = _simulated(import_schedule(source, tmp_path / "b.bin", algorithms={"allreduce": "ring"}).file)
    assert ring > usual
    assert messages == 2 + 2 * 2 + 4 * 6
    with pytest.raises(InputError, match="no algorithm for allreduce is called 'none'"):
        import_schedule(source, tmp_path / "c.goal", algorithms={"allreduce": "none"})
    with pytest.raises(UsageError, match="expected an extension of a known format"):
        import_schedule(source, tmp_path / "trace")


def test_times_that_a_trace_lacks_are_counted(tmp_path: Path) -> None:
    source = _generated(tmp_path, "one_remote_mem_load_node", 2)
    found = import_schedule(source, tmp_path / "out.goal")
    assert found.left_out == {"accesses to memory whose times the trace lacks": 2}


def test_the_command_writes_a_schedule(tmp_path: Path) -> None:
    source = write_chakra(tmp_path)
    done = run("import", str(source), "-o", str(tmp_path / "et.goal"), "-a", "allreduce=ring")
    assert done.returncode == 0, done.stderr
    assert "4 ranks, 32 nodes" in done.stdout
    assert "left out: 4 control dependencies" in done.stderr
    assert run("simulate", str(tmp_path / "et.goal"), "-m", "odin").returncode == 0


def _nodes(*nodes: bytes) -> Callable[[Path], None]:
    """These nodes, and the collectives that other ranks expect."""
    of_all = node(104, COLLECTIVE, comm_type=0, comm_size=4096)
    of_group = node(105, COLLECTIVE, comm_type=7, comm_size=800, pg_name="odd")
    return lambda file: _write(file, metadata() + b"".join((*nodes, of_all, of_group)))


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)


_REDUCE = {"comm_type": 0, "comm_size": 8}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda file: _write(file, b""), "byte 0: expected the file of a rank of a Chakra execution trace"),
        (
            lambda file: _write(file, file.read_bytes()[:-3]),
            r"byte 297: expected a message of 34 bytes, found 31: .* cut",
        ),
        (lambda file: _write(file, b"\xff" * 9), "byte 0: expected the length of a message"),
        (lambda file: _write(file, b"\xff\xff\xff\xff\x0f"), "expected a message of 1 to 67,108,864 bytes"),
        (lambda file: _write(file, metadata("2.0.0")), "byte 1: expected a Chakra trace of version 0.0.4 or 1, found"),
        (lambda file: _write(file, metadata() + b"\x02\x08\xff"), "byte 9: expected a node as Protocol Buffers"),
        (_nodes(node(1, 9)), "byte 8: node 1 has the type 9: expected one from 0 to 7"),
        (_nodes(node(1, COMPUTATION, (2,))), "byte 8: node 1 depends on node 2, which is not in the file"),
        (_nodes(node(1, COMPUTATION, (1,))), "node 1 depends on itself"),
        (_nodes(node(1, COMPUTATION), node(1, COMPUTATION)), "node 1 is there twice"),
        (_nodes(node(1, COMPUTATION, micros=2**63)), "expected at most 104 days"),
        (_nodes(node(1, 5, comm_dst=9, comm_size=8)), "a comm_dst that is no number from 0 to 3"),
        (_nodes(node(1, 5, comm_dst="x")), "a comm_dst that is no number"),
        (_nodes(node(1, 5)), "node 1 has no attribute comm_dst"),
        (_nodes(node(1, COLLECTIVE, comm_type=10)), "a comm_type that is no number from 0 to 9"),
        (
            _nodes(node(1, COLLECTIVE, **_REDUCE)),
            "allreduce of 8 B: expected allreduce of 4096 B",
        ),
        (
            lambda file: _write(file, metadata() + node(1, COMPUTATION)),
            r"1\.et: has no collectives of all ranks, which others have",
        ),
        (
            lambda file: _write(file, file.read_bytes() + node(9, COLLECTIVE, **_REDUCE)),
            "the ranks before it do not",
        ),
        (lambda file: file.unlink(), r"et\.1\.et: is missing, and et\.2\.et is there: expected the files of all ranks"),
    ],
)
def test_what_has_no_meaning_is_refused_with_file_and_byte(
    tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    write_chakra(tmp_path / "in")
    change(rank_file(tmp_path / "in", 1))
    with pytest.raises(InputError, match=why) as refusal:
        import_schedule(rank_file(tmp_path / "in", 2), tmp_path / "out.goal")
    assert "et.1.et" in str(refusal.value)
    assert not (tmp_path / "out.goal").exists()


def test_names_without_a_number_and_traces_of_calls_are_refused(tmp_path: Path) -> None:
    (tmp_path / "trace.et").write_bytes(metadata())
    with pytest.raises(InputError, match="expected a name with the number of the rank"):
        import_schedule(tmp_path / "trace.et", tmp_path / "out.goal")
    done = run("import", str(tmp_path / "traces.otf2"), "-a", "allreduce=ring")
    assert done.returncode == 2
    assert "--algorithm belongs to Chakra traces" in done.stderr
