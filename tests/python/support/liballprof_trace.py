"""A trace as liballprof writes it: four ranks of a program whose calls it prints, run by MPICH."""

from __future__ import annotations

from pathlib import Path

RANKS = 4
WORLD = 0x44000000  # MPI_COMM_WORLD of MPICH
HALF = 18446744071629176834  # a communicator of two ranks, as a signed number that was printed unsigned
DOUBLE, INT = "10,8,8", "1,4,4"


def calls_of(rank: int, ranks: int = RANKS) -> list[str]:
    """The calls of one rank, without times: a ring, receives that name no source, and collectives."""
    comm = f"{WORLD},{rank},{ranks}"
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    ones, uneven = ",".join("1" * ranks), (1, 2, 1, 1)[:ranks]
    starts = ",".join(map(str, (0, 1, 3, 4)[:ranks]))
    return [
        f"MPI_Comm_rank:{{}}:{comm}:140725783542300:{{}}",
        f"MPI_Irecv:{{}}:7000:10:{DOUBLE}:{left}:3:{comm}:9000:{{}}",
        f"MPI_Isend:{{}}:8000:10:{DOUBLE}:{right}:3:{comm}:9004:{{}}",
        "MPI_Waitall:{}:2:9000:1:{}",
        f"MPI_Send:{{}}:8000:5:{INT}:{right}:4:{comm}:{{}}"
        if rank % 2 == 0
        else f"MPI_Recv:{{}}:7000:9:{INT}:-2:-1:{comm}:1:{{}}",
        f"MPI_Irecv:{{}}:7000:10:{DOUBLE}:{left}:3:{comm}:9000:{{}}",
        f"MPI_Send:{{}}:8000:10:{DOUBLE}:{right}:3:{comm}:{{}}",
        "MPI_Wait:{}:9000:1:{}",
        f"MPI_Sendrecv:{{}}:8000:4:{DOUBLE}:{right}:5:7000:4:{DOUBLE}:{left}:5:{comm}:1:{{}}",
        f"MPI_Allreduce:{{}}:8000:7000:8:{DOUBLE}:3:{comm}:{{}}",
        f"MPI_Bcast:{{}}:8000:100:{DOUBLE}:{min(1, ranks - 1)}:{comm}:{{}}",
        f"MPI_Barrier:{{}}:{comm}:{{}}",
        f"MPI_Alltoall:{{}}:8000:2:{DOUBLE}:7000:2:{DOUBLE}:{comm}:{{}}",
        f"MPI_Reduce:{{}}:8000:7000:3:{DOUBLE}:3:0:{comm}:{{}}",
        f"MPI_Gather:{{}}:8000:3:{DOUBLE}:7000:3:{DOUBLE}:0:{comm}:{{}}",
        f"MPI_Scatter:{{}}:8000:3:{DOUBLE}:7000:3:{DOUBLE}:0:{comm}:{{}}",
        f"MPI_Allgather:{{}}:8000:3:{DOUBLE}:7000:3:{DOUBLE}:{comm}:{{}}",
        f"MPI_Allgatherv:{{}}:8000:{uneven[rank]}:{DOUBLE}"
        f":7000:6000:{','.join(map(str, uneven))}:5000:{starts}:{DOUBLE}:{comm}:{{}}",
        f"MPI_Scan:{{}}:8000:7000:3:{DOUBLE}:3:{comm}:{{}}",
        f"MPI_Reduce_scatter:{{}}:8000:7000:6000:{ones}:{DOUBLE}:3:{comm}:{{}}",
        f"MPI_Alltoallv:{{}}:8000:6000:{ones}:5000:{starts}:{DOUBLE}"
        f":7000:6000:{ones}:5000:{starts}:{DOUBLE}:{comm}:{{}}",
        f"MPI_Allreduce:{{}}:8000:7000:1:{DOUBLE}:3:{HALF},{rank // 2},{min(2, ranks)}:{{}}",
        f"MPI_Iprobe:{{}}:-2:1:{comm}:140725783540616:1:{{}}",
    ]


def lines_of(calls: list[str]) -> list[str]:
    """The lines of one rank that makes these calls, 1 ms apart."""
    begin = 3_065_235_000
    head = ["# htor's PMPI Tracer 1 Output File", "# clockdiff: 0.000000 s (relative to rank 0)", ""]
    timed = [call.format(begin + 1000 * (i + 1), begin + 1000 * (i + 1) + 10) for i, call in enumerate(calls)]
    end = f"MPI_Finalize:{begin + 1000 * (len(calls) + 1)}:-"
    return [*head, f"MPI_Init:-:1:2:{begin}", *timed, "# Finalize clockdiff: 0.000000", end]


def write_liballprof(folder: Path) -> Path:
    """The files of all ranks; returns that of rank 0."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(RANKS):
        (folder / f"trace-{rank}.txt").write_text("\n".join(lines_of(calls_of(rank))) + "\n")
    return folder / "trace-0.txt"
