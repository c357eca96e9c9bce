"""What a recorded timeline says of one-sided ops: words, waits, causes and traffic."""

from __future__ import annotations

import json
import random
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave import Level, Machine, Parameters, Recording, Schedule, Timeline
from idlewave.cli import cli
from idlewave.errors import Standstill
from random_goal import Limits
from random_one_sided import random_one_sided_goal, random_one_sided_machine

L, o, g = 1_000_000, 100_000, 200_000
MACHINE = Machine("m", Level(Parameters(L=L, o_s=o, o_r=o, g=g, G=100.0)))

EVERY_KIND = """num_ranks 3
rank 0 {
c: calc 0
n: put 8b to 2 tag 9
s: send 3b to 1
}
rank 1 {
l: lock at 0
c: calc 50000
c requires l
u: unlock at 0
u requires c
a: await from 2 tag 4
r: recv 3b from 0
}
rank 2 {
d: calc 1
l: shared_lock at 0
l requires d
p: put 1000b to 1 tag 4
p requires l
u: unlock at 0
u requires p
g: get 500b from 1
g requires u
a: await from -1 tag 9
}
"""
"""Rank 2 waits for a lock that rank 1 has while it computes."""


def recorded() -> Timeline:
    return idlewave.simulate(Schedule.from_goal(EVERY_KIND), MACHINE, record=True)


def rows(timeline: Timeline) -> pd.DataFrame:
    return timeline.ops_to_pandas().set_index(["rank", "op"])


def test_every_kind_of_op_has_its_word() -> None:
    found = rows(recorded())
    assert found.loc[0, "kind"].tolist() == ["calc", "put", "send"]
    assert found.loc[1, "kind"].tolist() == ["lock", "calc", "unlock", "await", "recv"]
    assert found.loc[2, "kind"].tolist() == ["calc", "shared_lock", "put", "unlock", "get", "await"]


def test_a_lock_that_another_rank_has_waits_for_its_unlock() -> None:
    found = rows(recorded())
    lock = found.loc[2, 1]
    first, unlock = found.loc[1, 0], found.loc[1, 2]
    assert first["wait_state"] == ""
    assert lock["wait_state"] == "lock contention"
    assert (lock["cause"], lock["cause_rank"], lock["cause_op"]) == ("message", 1, 2)
    assert lock["wait_ps"] == (unlock["start_ps"] + o + L) - (lock["start_ps"] + o + L)
    assert lock["end_ps"] == unlock["end_ps"]


def test_an_op_that_waits_for_a_put_or_a_lock_starts_by_its_end() -> None:
    found = rows(recorded()).loc[2]
    assert found.loc[2:4, "cause"].tolist() == ["end"] * 3
    assert found.loc[2:4, "cause_rank"].tolist() == [2] * 3
    assert found.loc[2:4, "cause_op"].tolist() == [1, 2, 3]


def test_an_await_waits_for_a_late_sender_and_names_its_put() -> None:
    found = rows(recorded())
    await_op, put = found.loc[1, 3], found.loc[2, 2]
    assert await_op["wait_state"] == "late sender"
    assert (await_op["match_rank"], await_op["match_op"]) == (2, 2)
    assert await_op["wait_ps"] == put["start_ps"] + o + L - await_op["start_ps"]
    early = found.loc[2, 5]
    assert (early["match_rank"], early["match_op"]) == (0, 1)


def test_bytes_of_puts_go_to_the_peer_and_those_of_gets_come_from_it() -> None:
    traffic = recorded().traffic("pair")
    found = {(row.rank, row.peer): (row.messages, row.bytes) for row in traffic.itertuples()}
    assert found == {(0, 1): (1, 3), (0, 2): (1, 8), (1, 2): (1, 500), (2, 1): (1, 1000)}
    assert set(recorded().traffic("size")["size"]) == {3, 8, 500, 1000}


def test_explain_says_that_ranks_waited_for_locks(tmp_path: Path) -> None:
    goal = tmp_path / "x.goal"
    goal.write_text(EVERY_KIND)
    run = ["explain", str(goal), "--machine", "odin", "--no-tolerance"]
    done = CliRunner().invoke(cli, run)
    assert done.exit_code == 0, done.output
    assert "lock contention" in done.output
    found = json.loads(CliRunner().invoke(cli, [*run, "--json"]).output)
    assert {wait["wait_state"] for wait in found["wait_states"]} >= {"lock contention", "late sender"}
    assert sum(found["critical_path_ps"].values()) == found["max_finish_ps"]


@pytest.mark.long
def test_a_part_of_the_record_is_that_part_of_the_whole() -> None:
    """What others did outside of it is not known: then a row has no cause, or none of its own."""
    compared = for_nic = 0
    for seed in range(80):
        dice = random.Random(seed)
        machine = random_one_sided_machine(dice, Limits())
        schedule = Schedule.from_goal(random_one_sided_goal(dice, Limits()))
        part = Recording(ranks=(1, 3), since_ps=4_000, until_ps=60_000)
        try:
            whole = idlewave.simulate(schedule, machine, record=True).ops_to_pandas().set_index(["rank", "op"])
        except Standstill:
            continue
        found = idlewave.simulate(schedule, machine, record=part).ops_to_pandas().set_index(["rank", "op"])
        starts = whole["start_ps"]
        inside = whole[starts.between(4_000, 59_999) & whole.index.get_level_values("rank").isin((1, 2, 3))]
        assert found.index.equals(inside.index), seed
        times = ["kind", "ready_ps", "start_ps", "end_ps"]
        pd.testing.assert_frame_equal(found[times], inside[times])
        sends = ~inside["kind"].isin(("recv", "await"))  # of those the reception may lie outside
        work = ["work_ps", "free_ps", "noise_ps"]
        pd.testing.assert_frame_equal(found[sends][work], inside[sends][work])
        waits = ["wait_state", "wait_ps"]
        initiated = inside["kind"].isin(("put", "get", "unlock"))  # a lock waits for what may lie outside
        pd.testing.assert_frame_equal(found[initiated][waits], inside[initiated][waits])
        for_nic += int((inside[initiated]["wait_state"] == "nic").sum())
        for name in ("cause_op", "match_op"):
            known = (found[name] >= 0) & (found["wait_state"] == inside["wait_state"])
            assert (found[name] == inside[name])[known].all(), seed
        compared += len(found)
    assert compared > 200
    assert for_nic > 10
