"""Small valid files for readers that are executed many times: together they have all that the readers read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chakra_trace import COLLECTIVE, COMPUTATION, LOAD, METADATA, RECEIVE, SEND, metadata, node
from liballprof_trace import DOUBLE, INT, WORLD, calls_of, lines_of
from reader_attempts import Files


def small_liballprof() -> Sequence[Files]:
    """Traces of one and two ranks with up to six calls each."""
    samples = []
    for ranks in (1, 2):
        calls = [[*calls_of(rank, ranks), *_other_calls(rank, ranks)] for rank in range(ranks)]
        for i in range(0, len(calls[0]), 6):
            texts = [_text(lines_of(of_rank[i : i + 6])) for of_rank in calls]
            samples.append({f"in/trace-{rank}.txt": text for rank, text in enumerate(texts)})
    lines = lines_of([])
    own_clock = [lines[0], "# clockdiff: 0.000125 s (relative to rank 0)", *lines[2:]]
    threads = [line.replace("MPI_Init:-:1:2", "MPI_Init_thread:-:1:2:3:3") for line in lines]
    samples.append({"in/trace-0.txt": _text(lines), "in/trace-1.txt": _text(own_clock)})
    return [*samples, {"in/trace-0.txt": _text(threads)}]


def _text(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _other_calls(rank: int, ranks: int) -> list[str]:
    """Those that `calls_of` lacks."""
    comm, to = f"{WORLD},{rank},{ranks}", (rank + 1) % ranks
    of_self = f"{WORLD + 1},0,1"
    sends = [f"MPI_{kind}send:{{}}:8000:5:{INT}:{to}:4:{comm}:{{}}" for kind in "BSR"]
    begun = [f"MPI_I{kind}send:{{}}:8000:5:{INT}:{to}:4:{comm}:{9100 + i}:{{}}" for i, kind in enumerate("bsr")]
    return [
        *sends,
        *begun,
        "MPI_Waitall:{}:2:9100:1:{}",
        f"MPI_Recv:{{}}:7000:9:{INT}:{to}:4:{comm}:1:{{}}",
        f"MPI_Recv:{{}}:7000:9:{INT}:-1:4:{comm}:1:{{}}",
        f"MPI_Exscan:{{}}:8000:7000:3:{DOUBLE}:3:{comm}:{{}}",
        f"MPI_Iallreduce:{{}}:8000:7000:8:{DOUBLE}:3:{comm}:9200:{{}}",
        "MPI_Wait:{}:9200:1:{}",
        f"MPI_Ibarrier:{{}}:{comm}:9204:{{}}",
        "MPI_Waitany:{}:2:9000:1:1:{}",
        "MPI_Testall:{}:2:9000:1:1:{}",
        f"MPI_Bcast:{{}}:8000:100:{DOUBLE}:0:{of_self}:{{}}",
        "MPI_Win_fence:{}:0:1234:{}",
        f"MPI_Comm_split:{{}}:{comm}:0:1:140725783542300:{{}}",
    ]


def small_chakra() -> Sequence[Files]:
    """Traces of one and two ranks with up to three nodes each."""
    return [{f"in/et.{rank}.et": data for rank, data in enumerate(ranks)} for ranks in _chakra_ranks()]


def _chakra_ranks() -> Iterator[list[bytes]]:
    begin = metadata() + node(0, METADATA)
    yield [begin + node(1, COMPUTATION, (0,), micros=10, is_cpu_op=False) + node(2, COMPUTATION, (1, 0), micros=4)]
    yield [
        metadata("0.0.4") + node(1, COMPUTATION, (2,), micros=3, num_ops=1000) + node(2, COMPUTATION, is_cpu_op=True)
    ]
    yield [
        begin + node(7, LOAD, (0,), micros=2, tensor_size=64) + node(8, LOAD + 1, (7,), control=(0,), tensor_size=64)
    ]
    yield [begin + node(300, 0) + node(70_000, COMPUTATION, (300,), control=(0, 300), micros=5, num_ops=7)]
    sent, taken = {"comm_tag": 5, "comm_size": 1000}, {"tensor_size": 1000}
    yield [begin + node(1, SEND, (0,), comm_dst=1, **sent), begin + node(1, RECEIVE, (0,), comm_src=0, **sent)]
    yield [begin + node(1, RECEIVE, comm_src=1, **taken), begin + node(1, SEND, comm_dst=0, **taken)]
    yield [begin + node(1, SEND, comm_dst=0, **taken) + node(2, RECEIVE, comm_src=0, comm_tag=0, comm_size=1000)]
    for kind in range(10):
        call = node(1, COLLECTIVE, (0,), comm_type=kind, comm_size=4096)
        yield [begin + call + node(2, COMPUTATION, (1,), micros=1)] * (1 + kind % 2)
    grouped = node(1, COLLECTIVE, comm_type=0, comm_size=8, pg_name="even")
    yield [begin + grouped + node(2, COLLECTIVE, (1,), comm_type=9, pg_name="even"), begin]
    of_all = node(1, COLLECTIVE, comm_type=5, comm_size=8, involved_dim=[True, True])
    yield [begin + of_all, begin + of_all]


_RULES = (
    "2 # collectives\n2 2 2 1\n0 3 0 0\n4 1\n0 4 0 0\n7 1 4 2 0 3 0 0\n1024 2 0 0\n",
    "rule-file-version-2\n1\n7\n2\n0 1\n0 0 0 0 # open\n8 2\n0 6 0 0 4\n0x1000 3 4 1024\n",
    "rule-file-version-1\n1 7 # bcast\n1 0\n2 0 2 0 4096\n65536 5 0 0\n",
    "3\n6 1 4 1 0 4 0 0\n8 1 1 1 0 1 0 0\n14 1 2 1\n0 2 0 0\n",
    "2\n11 1 16 1 0 3 0 512 # reduce\n13 1 4 1 0 3 0 0\n",
    "2\n0 1 4 1 0 2 0 0\n15 2 2 1 0 1 0 0\n64 1 0 2 0 0\n",
    "1\n9 1 5 3 0 1 0 0\n010 2 0 0\n+99 3 0 0\n",
    "rule-file-version-2\n1\n3 1 2 1\n0 2 0 0\n",
    "0\n",
)
"""Files of Open MPI, of most collectives."""


def small_rules() -> Sequence[Files]:
    """Rules in Open MPI's form."""
    return [{"rules.conf": text.encode()} for text in _RULES]


def small_rule_tables() -> Sequence[Files]:
    """Rules in tables of CSV."""
    plain = "collective,ranks,bytes,algorithm\n"
    tables = (
        f"{plain}allreduce,2,0,ring\nbcast,2,0,chain\nbcast,4,4096,binomial\n",
        "collective,ranks,bytes,algorithm,segment\nallreduce,2,0,ring,0\nbcast,2,0,chain,4096\nbarrier,1,0,tree,\n",
        '\ufeff"algorithm","collective","bytes","ranks"\n"bruck","alltoall","0","8"\n"pairwise",alltoall,1024,8\n',
        f"{plain}reduce,16,8,rabenseifner\r\nscan,2,0,linear\r\n\r\nexscan,2,0,linear\r\n",
        "ranks,bytes,collective,algorithm,note\n2,0,gather,binomial,of us\n3,0,scatter,linear,\n3,9,allgather,ring,x\n",
    )
    return [{"rules.csv": table.encode()} for table in tables]
