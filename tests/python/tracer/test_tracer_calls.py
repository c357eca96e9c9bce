"""Every class of call is recorded with the right peer, tag, bytes and communicator, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_reader import RankFile
from tracer_support import (
    ANY,
    NOWHERE,
    SELF,
    UNKNOWN,
    WORLD,
    decoded,
    mpich,
    open_mpi,
    program,
    sections,
    trace_of,
    untraced_output,
)

pytestmark = pytest.mark.mpi

NO_ROOT = (UNKNOWN, 0)
HANDSHAKE = 99


@pytest.fixture(scope="module", params=["Open MPI, 4 ranks", "MPICH, 2 ranks"])
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[RankFile]:
    use, n = (open_mpi(), 4) if "Open" in request.param else (mpich(), 2)
    return trace_of(tmp_path_factory.mktemp("calls") / "trace", use, n, program(use, "calls"))


def section(ranks: list[RankFile], number: int):
    """(rank, its partner, number of ranks, records) of each rank."""
    for rank in ranks:
        r = rank.header["rank"]
        yield r, r ^ 1, len(ranks), sections(decoded(rank))[number]


def handshake(partner: int) -> tuple:
    return ("Sendrecv", WORLD, (partner, HANDSHAKE), 0, (partner, HANDSHAKE), 0, (partner, HANDSHAKE), 0)


def test_blocking_sends_and_receives_with_wildcards_resolved(ranks: list[RankFile]) -> None:
    for rank, partner, _, records in section(ranks, 0):
        if rank % 2 == 0:
            assert records == [
                ("Send", WORLD, (partner, 1), 20),
                ("Bsend", WORLD, (partner, 2), 24),
                ("Ssend", WORLD, (partner, 3), 7),
                handshake(partner),
                ("Rsend", WORLD, (partner, 4), 0),
                ("Send", WORLD, (NOWHERE, 5), 36),
            ]
        else:
            assert records == [
                ("Recv", WORLD, (ANY, ANY), 400, (partner, 1), 20),
                ("Recv", WORLD, (partner, ANY), 400, (partner, 2), 24),
                ("Recv", WORLD, (ANY, 3), 400, (partner, 3), 7),
                ("Irecv", WORLD, (partner, 4), 4, "Irecv 4"),
                handshake(partner),
                ("Wait", ("Irecv 4", (partner, 4), 0)),
                ("Recv", WORLD, (NOWHERE, 5), 36, (NOWHERE, ANY), 0),
            ]


def test_exchanges(ranks: list[RankFile]) -> None:
    for rank, _, n, records in section(ranks, 1):
        after, before = (rank + 1) % n, (rank - 1) % n
        assert records == [
            ("Sendrecv", WORLD, (after, 10), 8, (ANY, 10), 200, (before, 10), 8),
            ("Sendrecv", WORLD, (after, 11), 24, (before, ANY), 24, (before, 11), 24),
        ]


def test_nonblocking_calls_and_their_completion(ranks: list[RankFile]) -> None:
    for _, partner, _, records in section(ranks, 2):
        sends = ["Isend", "Ibsend", "Issend", "Irsend"]
        assert records == [
            *[("Irecv", WORLD, (ANY, tag), 400, f"Irecv {tag}") for tag in range(20, 24)],
            handshake(partner),
            *[(name, WORLD, (partner, 20 + i), 4 * (i + 1), f"{name} {20 + i}") for i, name in enumerate(sends)],
            ("Waitall", *[(f"Irecv {20 + i}", (partner, 20 + i), 4 * (i + 1)) for i in range(4)]),
            ("Waitall", *[(f"{name} {20 + i}",) for i, name in enumerate(sends)]),
            ("Wait",),
        ]


@pytest.mark.parametrize(
    ("way", "name"), list(enumerate(["Waitsome", "Testsome", "Waitany", "Testany", "Testall", "Test"]))
)
def test_each_request_completes_once_whichever_call_sees_it(ranks: list[RankFile], way: int, name: str) -> None:
    for _, partner, _, records in section(ranks, 3):
        ends = [i for i, record in enumerate(records) if record[0] == "Waitall"]
        begins = [0, *(end + 1 for end in ends)]
        part = records[begins[way] : ends[way]]
        receives = [("Irecv", WORLD, (ANY, 30 + i), 400, f"Irecv {30 + i}") for i in range(3)]
        sends = [("Isend", WORLD, (partner, 30 + i), 4 * (i + 1), f"Isend {30 + i}") for i in range(3)]
        assert part[:6] == receives + sends
        assert {record[0] for record in part[6:]} == {name}
        completed = sorted(completion for record in part[6:] for completion in record[1:])
        assert completed == [(f"Irecv {30 + i}", (partner, 30 + i), 4 * (i + 1)) for i in range(3)]
        assert records[ends[way]] == ("Waitall", *[(f"Isend {30 + i}",) for i in range(3)])


def test_persistent_requests_complete_when_active_and_cancelled_ones_say_so(ranks: list[RankFile]) -> None:
    for _, partner, _, records in section(ranks, 4):
        received = ("RecvInit 40", (partner, 40), 16)
        assert records == [
            ("RecvInit", WORLD, (ANY, 40), 40, "RecvInit 40"),
            ("SendInit", WORLD, (partner, 40), 16, "SendInit 40"),
            ("Start", "RecvInit 40"),
            ("Start", "SendInit 40"),
            ("Waitall", received, ("SendInit 40",)),
            ("Start", "RecvInit 40"),
            ("Start", "SendInit 40"),
            ("Wait", received),
            ("Waitall", ("SendInit 40",)),
            ("RequestFree", "RecvInit 40"),
            ("RequestFree", "SendInit 40"),
            ("Irecv", WORLD, (partner, 41), 4, "Irecv 41"),
            ("Cancel", "Irecv 41"),
            ("Wait", ("Irecv 41", (UNKNOWN, UNKNOWN), -1)),
        ]


def test_probes_and_the_messages_that_they_take(ranks: list[RankFile]) -> None:
    for _, partner, _, records in section(ranks, 5):
        assert records == [
            *[("Isend", WORLD, (partner, 50 + i), 40 + 4 * i, f"Isend {50 + i}") for i in range(4)],
            ("Probe", WORLD, (ANY, 50), (partner, 50), 40),
            ("Recv", WORLD, (partner, 50), 400, (partner, 50), 40),
            ("Probe", WORLD, (ANY, 51), (partner, 51), 44),
            ("Recv", WORLD, (partner, 51), 400, (partner, 51), 44),
            ("Mprobe", WORLD, (ANY, 52), (partner, 52), 48, "Mprobe 52"),
            ("Mrecv", "Mprobe 52", (partner, 52), 48),
            ("Mprobe", WORLD, (ANY, 53), (partner, 53), 52, "Mprobe 53"),
            ("Imrecv", "Mprobe 53", "Imrecv"),
            ("Wait", ("Imrecv", (partner, 53), 52)),
            ("Waitall", *[(f"Isend {50 + i}",) for i in range(4)]),
        ]


def test_unsuccessful_polls_become_one_record_with_their_number_and_time(ranks: list[RankFile]) -> None:
    for rank in ranks:
        shakes = [i for i, r in enumerate(rank.records) if r.name == "Sendrecv" and r.pair(1)[1] == HANDSHAKE]
        between = rank.records[shakes[-2] + 1 : shakes[-1]]
        assert [record.name for record in between] == ["Polls"]
        polls = between[0]
        assert polls.words[0] == 1000
        assert 0 < polls.words[1] <= polls.end - polls.begin


def collectives(rank: int, n: int) -> list[tuple]:
    """What section 7 calls, from the table of docs/trace-format.md."""
    counts = [4 * (i + 1) for i in range(n)]
    total, mine, root = sum(counts), counts[rank], rank == 1
    wide = [8 if i % 2 else 4 for i in range(n)]
    sent = [wide[rank]] * n
    return [
        ("Barrier", WORLD, NO_ROOT, 0, 0),
        ("Bcast", WORLD, (1, 0), 44, 44),
        ("Reduce", WORLD, (1, 0), 48, 48),
        ("Allreduce", WORLD, NO_ROOT, 52, 52),
        ("Gather", WORLD, (1, 0), 8, 8),
        ("Gatherv", WORLD, (1, 0), mine, total if root else 0, *(counts if root else [])),
        ("Scatter", WORLD, (1, 0), 12, 12),
        ("Scatterv", WORLD, (1, 0), total if root else 0, mine, *(counts if root else [])),
        ("Allgather", WORLD, NO_ROOT, 16, 16),
        ("Allgatherv", WORLD, NO_ROOT, mine, total, *counts),
        ("Alltoall", WORLD, NO_ROOT, 20, 20),
        (
            *("Alltoallv", WORLD, NO_ROOT, n * (rank + 1), total // 4),
            *[rank + 1] * n,
            *[i + 1 for i in range(n)],
        ),
        ("Alltoallw", WORLD, NO_ROOT, sum(sent), sum(wide), *sent, *wide),
        ("ReduceScatter", WORLD, NO_ROOT, total, mine, *counts),
        ("ReduceScatterBlock", WORLD, NO_ROOT, 24 * n, 24),
        ("Scan", WORLD, NO_ROOT, 28, 28),
        ("Exscan", WORLD, NO_ROOT, 32, 32),
    ]


def test_blocking_collectives(ranks: list[RankFile]) -> None:
    for rank, _, n, records in section(ranks, 7):
        assert records == collectives(rank, n)


def test_nonblocking_collectives_and_their_requests(ranks: list[RankFile]) -> None:
    for rank, _, n, records in section(ranks, 8):
        expected = []
        for name, comm, root, *sizes in collectives(rank, n):
            expected += [(f"I{name}", comm, root, f"I{name}", *sizes), ("Wait", (f"I{name}",))]
        assert records == expected


def test_sizes_with_in_place_are_those_that_the_call_means(ranks: list[RankFile]) -> None:
    scattered = ("Gather", "Gatherv", "Scatter", "Scatterv")
    in_place = ("Allreduce", *scattered, "Allgather", "Allgatherv", "Alltoall")
    for rank, _, n, records in section(ranks, 9):
        named = {record[0]: record for record in collectives(rank, n)}
        assert records == [named[name] for name in in_place]


def test_neighbourhood_collectives_have_totals(ranks: list[RankFile]) -> None:
    for rank in ranks:
        sizes_at = {"Neighbor": 2, "INeighbor": 3}
        found = [r.words[sizes_at[r.name] :][:2] for r in rank.records if r.name in sizes_at]
        assert found == [(16, 16), (24, 24), (12, 12), (20, 20)]


def test_lists_are_announced_by_the_info_bits(ranks: list[RankFile]) -> None:
    receives, sends = 1, 2
    for rank in ranks:
        root = rank.header["rank"] == 1
        info = {record.name: record.info for record in rank.records}
        assert info["Allgatherv"] == receives
        assert info["Gatherv"] == (receives if root else 0)
        assert info["Scatterv"] == (sends if root else 0)
        assert info["Alltoallv"] == info["IAlltoallw"] == receives | sends
        assert info["Allreduce"] == 0


def test_times_do_not_decrease_and_lie_within_the_run(ranks: list[RankFile]) -> None:
    for rank in ranks:
        times = [t for record in rank.records for t in (record.begin, record.end)]
        assert times == sorted(times)
        assert rank.records[0].name == "Init"
        assert rank.records[0].end == rank.header["init_end"]
        assert rank.records[-1].name == "Finalize"
        assert rank.records[-1].begin == rank.header["finalize_begin"]


def test_headers_say_who_and_how(ranks: list[RankFile]) -> None:
    for number, rank in enumerate(ranks):
        header = rank.header
        assert (header["magic"], header["version"], header["header_bytes"]) == (b"IDLEWTR1", 2, 256)
        assert (header["rank"], header["ranks"], header["state"], header["lost"]) == (
            number,
            len(ranks),
            1,
            0,
        )
        assert header["library"].startswith(("Open MPI", "MPICH"))
        assert header["host"]
        assert header["record_cost_ps"] > 0
        assert header["cpu_ns"] > 0
        # One machine has one clock: the offset found may be off by its stated error only.
        assert abs(header["offset_init"]) <= header["offset_init_error"]
        assert abs(header["offset_finalize"]) <= header["offset_finalize_error"]
        assert header["offset_init_at"] < header["init_end"] < header["finalize_begin"]
    # A node's ranks share what the first of them finds, which may be before the last of them comes to its end.
    begins = [rank.header["finalize_begin"] for rank in ranks]
    assert all(min(begins) < rank.header["offset_finalize_at"] for rank in ranks)


def test_a_clean_run_cuts_the_file_behind_its_last_record(ranks: list[RankFile]) -> None:
    assert [rank.tail for rank in ranks] == [0] * len(ranks)


@pytest.mark.parametrize("which", [open_mpi, mpich])
def test_error_codes_are_those_of_the_untraced_program(tmp_path: Path, capfd: pytest.CaptureFixture, which) -> None:
    use = which()
    expected = sorted(untraced_output(use, 2, program(use, "errors")).splitlines())
    capfd.readouterr()
    trace_of(tmp_path / "trace", use, 2, program(use, "errors"))
    assert sorted(capfd.readouterr().out.splitlines()) == expected


def test_threads_of_a_rank_record_each_call_once(tmp_path: Path) -> None:
    use = open_mpi()
    ranks = trace_of(tmp_path / "trace", use, 2, program(use, "threads"))
    for rank in ranks:
        assert rank.header["thread_level"] == 3
        calls = rank.named("Sendrecv")
        per_comm = {comm: [r.pair(1)[1] for r in calls if r.words[0] == comm] for comm in {r.words[0] for r in calls}}
        assert list(per_comm.values()) == [list(range(100))] * 2
        ends = [record.end for record in rank.records]
        assert ends == sorted(ends)


@pytest.mark.long
def test_a_file_grows_chunk_by_chunk_and_accounts_for_the_time_it_took(tmp_path: Path) -> None:
    use = open_mpi()
    n = 300_000
    (rank,) = trace_of(tmp_path / "trace", use, 1, program(use, "many"), n)
    sends = rank.named("Send")
    assert [record.pair(1) for record in sends] == [(NOWHERE, tag) for tag in range(n)]
    # 18 bytes a record, as each has another tag: 5.4 MB, so that 4 MiB were added once.
    assert len(rank.named("Tracer")) == 1
    times = [t for record in rank.records for t in (record.begin, record.end)]
    assert times == sorted(times)


def test_large_count_functions_are_recorded_as_their_small_kin(tmp_path: Path) -> None:
    use = mpich()
    for rank in trace_of(tmp_path / "trace", use, 2, program(use, "large")):
        me = rank.header["rank"]
        assert decoded(rank)[1:-1] == [
            ("Sendrecv", WORLD, (1 - me, 1), 12, (ANY, 1), 400, (1 - me, 1), 12),
            ("IAllgatherv", WORLD, NO_ROOT, "IAllgatherv", 4 * (me + 1), 12, 4, 8),
            ("Wait", ("IAllgatherv",)),
            ("Isendrecv", WORLD, (1 - me, 2), 12, (1 - me, 2), 400, "Isendrecv 2"),
            ("Wait", ("Isendrecv 2",)),
        ]


def test_self_is_known(ranks: list[RankFile]) -> None:
    assert all(any(r.name == "Barrier" and r.words[0] == SELF for r in rank.records) for rank in ranks)
