"""Tables of recorded ops for the tests of what is exported."""

from __future__ import annotations

import idlewave
import numpy as np
import pandas as pd
from idlewave import Level, Machine, Parameters

KINDS = ("send", "recv", "calc")


def op(rank: int, place: int, kind: str, start: int, end: int, **others: object) -> dict[str, object]:
    """A row; times in ps. What is not given is as for an op that nothing held up."""
    row: dict[str, object] = {
        "rank": rank,
        "op": place,
        "kind": kind,
        "peer": -1,
        "tag": -1,
        "size": 0,
        "ready_ps": start,
        "start_ps": start,
        "end_ps": end,
        "work_ps": start,
        "noise_ps": 0,
        "wait_ps": 0,
        "wait_state": "",
        "cause": "none",
        "cause_rank": -1,
        "cause_op": -1,
        "match_rank": -1,
        "match_op": -1,
        "call": "",
    }
    assert others.keys() <= row.keys()
    return row | others


def table(*rows: dict[str, object]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    for name in ("kind", "wait_state", "cause", "call"):
        frame[name] = frame[name].astype("category")
    return frame


def exchange() -> pd.DataFrame:
    """Rank 0 computes, is disturbed, and sends eagerly to rank 1, which waits for it; then rank 1 sends 1 MiB by
    rendezvous, which waits until rank 0, done with a second calc, posts the receive.
    """
    return table(
        op(0, 0, "calc", 0, 12_000_400, size=10_000, noise_ps=2_000_000),
        op(0, 1, "send", 12_000_400, 13_000_900, peer=1, tag=5, size=8, cause="end", cause_rank=0, cause_op=0),
        op(0, 2, "calc", 13_000_900, 30_000_000, size=16_999, call="solve"),
        op(0, 3, "recv", 30_000_000, 40_000_000, peer=-1, work_ps=36_000_000, match_rank=1, match_op=1, noise_ps=700),
        op(
            1,
            0,
            "recv",
            0,
            17_000_000,
            peer=0,
            tag=5,
            size=8,
            work_ps=15_500_900,
            wait_ps=15_500_900,
            wait_state="late sender",
            cause="message",
            cause_rank=0,
            cause_op=1,
            match_rank=0,
            match_op=1,
        ),
        op(
            1,
            1,
            "send",
            17_000_000,
            34_000_000,
            peer=0,
            tag=7,
            size=1 << 20,
            work_ps=33_000_000,
            wait_ps=15_000_000,
            wait_state="late receiver",
            cause="end",
            cause_rank=1,
            cause_op=0,
        ),
    )


def one_sided(*, by_cpu: bool = False) -> pd.DataFrame:
    """Rank 0 notifies rank 1 by a put, gets from it, and waits for a lock that rank 1 has; then both compute.

    The sizes are 11 bytes, o is 2 µs, L 10 µs, G 1 µs a byte; where a CPU completes it, o_r is 3 µs.
    """
    goal = """num_ranks 2
rank 0 {
put: put 11b to 1 tag 3
get: get 11b from 1
lock: lock at 1
work: calc 5000
get requires put
lock requires get
work requires lock
}
rank 1 {
held: lock at 1
await: await from 0 tag 3
work: calc 90000
unlock: unlock at 1
await requires held
work requires await
unlock requires work
}
"""
    us = 10**6
    parameters = Parameters(L=10 * us, o_s=2 * us, o_r=3 * us if by_cpu else 0, g=0, G=float(us))
    machine = Machine("m", Level(parameters), one_sided=Level(parameters), progress="cpu" if by_cpu else "network")
    return idlewave.simulate(idlewave.Schedule.from_goal(goal), machine, record=True).ops_to_pandas()


def random_ops(seed: int, ranks: int = 4, ops_a_rank: int = 40) -> pd.DataFrame:
    """Ops whose times mean nothing, overlaps of all sorts included: nothing but begins that do not lie after ends."""
    random = np.random.default_rng(seed)
    rows = []
    for rank in range(ranks):
        for place in range(ops_a_rank):
            kind = KINDS[random.integers(3)]
            start, work, end = np.sort(random.integers(0, 100_000, 3)).tolist()
            if kind == "calc" or random.random() < 0.3:
                work = start
            if kind == "recv" and random.random() < 0.3:
                start, work = work, start  # its message came before it was posted
            if random.random() < 0.1:
                end = max(start, work)
            noise = int(random.integers(0, 3)) * (end - start) // 4
            rows.append(op(rank, place, kind, start, end, work_ps=work, noise_ps=noise, peer=0, tag=0))
    return table(*rows)
