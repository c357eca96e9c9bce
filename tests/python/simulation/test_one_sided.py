"""One-sided communication against its closed forms (docs/model.md, R22 to R26), in the simulator and the oracle."""

from __future__ import annotations

import re
from pathlib import Path

import idlewave
import pytest
from idlewave import Level, Machine, Parameters
from loggops_rules import NotHeldError, simulate

L, o, g, G, O = 1_009, 101, 211, 3, 2  # noqa: E741 - the model's names; ps, and ps per byte
o_r, O_r = 307, 5
PARAMETERS = Parameters(L=L, o_s=o, o_r=0, g=g, G=G, O_s=O)
MESSAGES = Level(Parameters(L=50_000, o_s=7_000, o_r=7_000, g=9_000, G=100, O_s=10, O_r=10))
BY_NETWORK = Machine("by network", MESSAGES, one_sided=Level(PARAMETERS))
BY_CPU = Machine(
    "by cpu",
    MESSAGES,
    one_sided=Level(Parameters(L=L, o_s=o, o_r=o_r, g=g, G=G, O_s=O, O_r=O_r)),
    progress="cpu",
)
NS = 1000  # ps


def goal_of(*ranks: str) -> str:
    return f"num_ranks {len(ranks)}\n" + "".join(f"rank {r} {{\n{ops}\n}}\n" for r, ops in enumerate(ranks))


def ends(machine: Machine, *ranks: str) -> dict[str, int]:
    """When each op ended, by its label, which only one rank has; and "finish", when the last rank did."""
    goal = goal_of(*ranks)
    oracle = simulate(goal, machine)
    timeline = idlewave.simulate(idlewave.Schedule.from_goal(goal), machine, record=True)
    assert timeline.finish.tolist() == [rank.finish for rank in oracle.ranks]
    columns = [timeline.columns[name].tolist() for name in ("rank", "op", "end_ps")]
    found = {oracle.schedule[rank][op].label: end for rank, op, end in zip(*columns, strict=True)}
    ranks_and_ops = zip(oracle.ranks, oracle.schedule, strict=True)
    assert found == {ops[place].label: end for rank, ops in ranks_and_ops for place, end in rank.ended.items()}
    return {**found, "finish": timeline.max_finish}


def hold(size: int) -> int:
    """How long a put of `size` bytes takes from its start on, with everything idle."""
    return o + L + (size - 1) * G + L


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_put_ends_when_its_acknowledgement_has_come(size: int) -> None:
    found = ends(BY_NETWORK, f"p: put {size}b to 1", "c: calc 0")
    assert found["p"] == o + L + (size - 1) * G + L


def test_a_put_whose_bytes_keep_the_origins_cpu_ends_when_the_cpu_is_free() -> None:
    slow = Machine("slow", MESSAGES, one_sided=Level(Parameters(L=L, o_s=o, o_r=0, g=g, G=0, O_s=100)))
    found = ends(slow, "p: put 1001b to 1", "c: calc 0")
    assert found["p"] == o + 1000 * 100 > o + L + L


def test_the_origin_notices_an_acknowledgement_when_it_has_computed() -> None:
    found = ends(BY_NETWORK, "p: put 1b to 1\nc: calc 50\nc irequires p", "d: calc 0")
    assert found["p"] == found["c"] == o + 50 * NS > hold(1)


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_get_ends_when_its_reply_has_come(size: int) -> None:
    found = ends(BY_NETWORK, f"p: get {size}b from 1", "c: calc 0")
    assert found["p"] == o + L + L + (size - 1) * G


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_cpu_that_completes_one_sided_ops_takes_the_time_of_a_messages_reception(size: int) -> None:
    k = size - 1
    received = o_r + max(k * O_r, k * G)
    found = ends(BY_CPU, f"p: put {size}b to 1", "c: calc 0")
    assert found["p"] == o + L + received + L
    found = ends(BY_CPU, f"p: get {size}b from 1", "c: calc 0")
    assert found["p"] == (o + L + o_r) + (o + L + received)


@pytest.mark.parametrize("size", [1, 100])
def test_an_await_ends_when_the_data_of_its_put_have_landed(size: int) -> None:
    put = f"p: put {size}b to 1 tag 5"
    landed = o + L + (size - 1) * G
    assert ends(BY_NETWORK, put, "a: await from 0 tag 5")["a"] == landed
    assert ends(BY_NETWORK, put, "a: await from -1 tag -1")["a"] == landed
    late = ends(BY_NETWORK, put, "c: calc 90\na: await from 0 tag 5\na requires c")
    assert late["a"] == late["c"] == 90 * NS


def test_an_await_takes_the_oldest_notification_that_has_its_source_and_tag() -> None:
    puts = "p: put 1b to 1 tag 5\nq: put 1b to 1 tag 6\nr: put 1b to 1 tag 6\nq requires p\nr requires q"
    found = ends(BY_NETWORK, puts, "a: await from 0 tag 6\nb: await from 0 tag -1\nc: await from -1 tag 6")
    assert [found[name] for name in "bac"] == [o + L + i * hold(1) for i in range(3)]


def test_a_put_without_a_tag_notifies_nobody() -> None:
    ops = "p: put 1b to 1\nq: put 1b to 1 tag 3\nq requires p"
    assert ends(BY_NETWORK, ops, "a: await from -1 tag -1")["a"] == hold(1) + o + L


def test_awaits_and_receives_do_not_see_each_others_messages() -> None:
    sent = "s: send 1b to 1 tag 5\np: put 1b to 1 tag 5\np requires s"
    found = ends(BY_NETWORK, sent, "a: await from 0 tag 5\nr: recv 1b from 0 tag 5")
    assert found["a"] == 9_000 + L  # the NIC of the origin is free again after the g of the message
    assert found["r"] == 7_000 + 50_000 + 7_000


@pytest.mark.parametrize("size", [1, 64])
def test_a_ping_pong_of_notified_puts_takes_their_landings(size: int) -> None:
    rounds = 10
    ping, pong = [], []
    for i in range(rounds):
        ping += [f"p{i}: put {size}b to 1 tag {i}", f"b{i}: await from 1 tag {i}"]
        pong += [f"a{i}: await from 0 tag {i}", f"q{i}: put {size}b to 0 tag {i}", f"q{i} requires a{i}"]
        if i:
            ping.append(f"p{i} requires b{i - 1}")
    found = ends(BY_NETWORK, "\n".join(ping), "\n".join(pong))
    assert found[f"b{rounds - 1}"] == 2 * rounds * (o + L + (size - 1) * G)


@pytest.mark.parametrize(("bytes_cost", "overhead_cost"), [(3, 2), (2, 9)])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_flood_of_puts_has_the_bandwidth_of_its_slowest_resource(
    size: int, bytes_cost: int, overhead_cost: int
) -> None:
    level = Level(Parameters(L=L, o_s=o, o_r=0, g=g, G=bytes_cost, O_s=overhead_cost))
    n, k = 50, size - 1
    puts = "\n".join(f"p{i}: put {size}b to 1" for i in range(n))
    found = ends(Machine("flood", MESSAGES, one_sided=level), puts, "c: calc 0")
    each = max(o + k * overhead_cost, g + k * bytes_cost)
    assert found[f"p{n - 1}"] == max(n * (o + k * overhead_cost), o + (n - 1) * each + L + k * bytes_cost + L)


def test_puts_whose_cpu_is_busy_longer_than_their_answers_take_end_when_the_cpu_is_free() -> None:
    level = Level(Parameters(L=1000, o_s=1000, o_r=0, g=100_000, G=0, O_s=20))
    found = ends(Machine("copies", MESSAGES, one_sided=level), "p: put 1001b to 1\nq: put 1001b to 1", "c: calc 0")
    assert found["q"] == 1000 + 100_000 + 1000 + 1000 < 2 * 100_000
    assert found["p"] == 1000 + 20_000


@pytest.mark.parametrize("size", [1, 1000])
def test_a_rank_computes_while_its_nic_transmits_the_puts_that_it_has_started(size: int) -> None:
    n, k = 20, size - 1
    level = Level(Parameters(L=L, o_s=o, o_r=0, g=g, G=G, O_s=0))
    puts = "\n".join([*(f"p{i}: put {size}b to 1" for i in range(n)), "c: calc 1", f"c irequires p{n - 1}"])
    found = ends(Machine("queue", MESSAGES, one_sided=level), puts, "d: calc 0")
    assert found["c"] == n * o + NS
    assert found[f"p{n - 1}"] == o + (n - 1) * (g + k * G) + L + k * G + L > found["c"]


def test_a_send_that_a_program_starts_after_puts_leaves_after_them() -> None:
    ops = "p: put 1b to 1\nq: put 1b to 1\ns: send 1b to 1\nq irequires p\ns irequires q"
    found = ends(BY_NETWORK, ops, "r: recv 1b from 0")
    both_left = o + 2 * g
    assert both_left > 2 * o, "the send waits for the NIC"
    assert found["s"] == both_left + 7_000


def test_a_send_does_not_wait_for_puts_that_come_to_the_nic_after_it() -> None:
    puts = "\n".join(f"p{i}: put 1b to 1" for i in range(50))
    found = ends(BY_NETWORK, f"{puts}\ns: send 1b to 1 cpu 1", "r: recv 1b from 0")
    assert found["s"] == 7_000, "the NIC has no put yet when it starts"
    after = "d: calc 1 cpu 1\ns requires d"
    found = ends(BY_NETWORK, f"{puts}\ns: send 1b to 1 cpu 1\n{after}", "r: recv 1b from 0")
    ready = [o * (i + 1) for i in range(50)]
    before = sum(time <= NS for time in ready)
    assert found["s"] == o + before * g + 7_000, "behind the puts that the NIC had when it was ready"


def test_a_nic_transmits_in_the_order_in_which_it_was_handed_something() -> None:
    ops = "p: put 100b to 1\nq: get 1b from 2\nr: put 1b to 3\nq irequires p\nr irequires q"
    found = ends(BY_NETWORK, ops, "c: calc 0", "d: calc 0", "e: calc 0")
    assert found["q"] == o + (g + 99 * G) + L + L
    assert found["r"] == o + (g + 99 * G) + g + L + L


def test_a_reply_waits_behind_the_put_that_its_nic_has_and_precedes_what_comes_later() -> None:
    found = ends(BY_NETWORK, "x: get 1b from 1", "p: put 1001b to 2\nq: put 1b to 2", "c: calc 0")
    nic_free = o + (g + 1000 * G)
    assert o < o + L < o + 1000 * O + o, "p, the request of the get and q come to the NIC in this order"
    assert o + L < nic_free
    assert found["x"] == nic_free + L
    assert found["q"] == nic_free + g + L + L


def test_a_target_that_computes_delays_a_put_only_where_its_cpu_completes_it() -> None:
    busy = "c: calc 40"
    assert ends(BY_NETWORK, "p: put 1b to 1", busy)["p"] == hold(1)
    assert ends(BY_CPU, "p: put 1b to 1", busy)["p"] == 40 * NS + o_r + L
    assert ends(BY_NETWORK, "p: get 1b from 1", busy)["p"] == o + L + L
    assert ends(BY_CPU, "p: get 1b from 1", busy)["p"] == 40 * NS + o_r + o + L + o_r


def test_a_machine_without_parameters_of_one_sided_ops_gives_them_those_of_messages() -> None:
    near = Parameters(L=500, o_s=70, o_r=90, g=80, G=1, O_s=4, O_r=2)
    machine = Machine("nodes", MESSAGES, Level(near, eager_limit=0), node_ranks=2)
    found = ends(machine, "p: put 11b to 1\nq: put 11b to 2\nq requires p", "b: calc 30", "c: calc 0")
    assert found["p"] == 70 + 500 + 10 * 1 + 500
    assert found["q"] == found["p"] + 7_000 + 50_000 + 10 * 100 + 50_000


def epoch(rank: int, kind: str = "lock", target: int = 0, after: str = "") -> str:
    """A lock, a put of 8 bytes, and an unlock, of labels with the number of the rank."""
    ops = [f"l{rank}: {kind} at {target}", f"p{rank}: put 8b to {target}", f"u{rank}: unlock at {target}"]
    edges = [f"p{rank} requires l{rank}", f"u{rank} requires p{rank}"]
    return "\n".join([*ops, *edges, *([f"l{rank} requires {after}"] if after else [])])


def test_an_exclusive_lock_goes_from_rank_to_rank_and_each_has_it_for_its_put() -> None:
    ranks = 8
    found = ends(BY_NETWORK, "c: calc 0", *(epoch(rank) for rank in range(1, ranks)))
    held = L + hold(8) + (o + L)  # the grant comes, the put is done, the unlock arrives
    first = o + L
    assert [found[f"l{r}"] for r in range(1, ranks)] == [first + (r - 1) * held + L for r in range(1, ranks)]
    assert [found[f"u{r}"] for r in range(1, ranks)] == [first + r * held + L for r in range(1, ranks)]


def test_shared_locks_do_not_wait_for_each_other() -> None:
    ranks = 5
    at_target = [o + L + i * g for i in range(ranks - 1)]  # the target's NIC receives one after the other
    found = ends(BY_NETWORK, "c: calc 0", *(epoch(rank, "shared_lock") for rank in range(1, ranks)))
    assert [found[f"l{r}"] for r in range(1, ranks)] == [time + L for time in at_target]


def test_a_shared_lock_waits_behind_an_exclusive_one_that_came_before_it() -> None:
    waiting = "c: calc 1\n" + epoch(2, after="c")
    late = "d: calc 2\n" + epoch(3, "shared_lock", after="d")
    found = ends(BY_NETWORK, "z: calc 0", epoch(1, "shared_lock"), waiting, late)
    assert found["d"] + o + L < found["u1"] - L, "all requests came while the first lock was held"
    assert found["l2"] == found["u1"]  # acknowledgement and grant leave together, and take the same L
    assert found["l3"] == found["u2"]


def test_locks_of_other_numbers_and_ranks_do_not_wait_for_each_other() -> None:
    found = ends(BY_NETWORK, "c: calc 0", "l: lock at 0", "m: lock at 0 tag 1\nn: lock at 3", "d: calc 0")
    assert found["l"] == o + L + L
    assert found["m"] == o + L + g + L
    assert found["n"] == o + max(o, g) + L + L


@pytest.mark.parametrize(
    ("ranks", "waiting"),
    [
        (("c: calc 0", "a: await from 0"), {(1, "a")}),
        (("p: put 1b to 1 tag 4", "a: await from 0 tag 5"), {(1, "a")}),
        (("p: put 1b to 1", "a: await from -1 tag -1"), {(1, "a")}),
        (
            (
                "a: await from 1\np: put 1b to 1 tag 0\np requires a",
                "b: await from 0\nq: put 1b to 0 tag 0\nq requires b",
            ),
            {(0, "a"), (1, "b")},
        ),
        (("c: calc 0", "l: lock at 0", "c: calc 9\n" + epoch(2, after="c")), {(2, "l2")}),
        (
            (
                "l: lock at 0\nm: lock at 1\nm requires l\nu: unlock at 0\nu requires m",
                "l: lock at 1\nm: lock at 0\nm requires l\nu: unlock at 1\nu requires m",
            ),
            {(0, "m"), (1, "m")},
        ),
    ],
    ids=["no put", "another tag", "no notification", "await before put", "never unlocked", "two locks in two orders"],
)
@pytest.mark.parametrize("machine", [BY_NETWORK, BY_CPU], ids=["by network", "by cpu"])
def test_what_waits_for_ever_is_a_deadlock(
    machine: Machine, ranks: tuple[str, ...], waiting: set[tuple[int, str]]
) -> None:
    assert simulate(goal_of(*ranks), machine).stuck
    schedule = idlewave.Schedule.from_goal(goal_of(*ranks))
    for scheduler, threads in (("sequential", 1), ("yawns", 2), ("timewarp", 2), ("check", 1)):
        with pytest.raises(idlewave.Deadlock) as raised:
            idlewave.simulate(schedule, machine, scheduler=scheduler, threads=threads)
        whys = ("waits for a notification", "waits for lock 0")
        assert {(rank, op) for rank, op, why in raised.value.waiting if why.startswith(whys)} == waiting
        if len(waiting) > 1:
            assert {(rank, op) for rank, op, _ in raised.value.cycle} == waiting


def test_notifications_that_nobody_awaits_and_locks_that_nobody_else_wants_are_no_error() -> None:
    found = ends(BY_NETWORK, "p: put 1b to 1 tag 4\nl: lock at 1", "c: calc 0")
    assert found["finish"] == max(found["p"], found["l"])


@pytest.mark.parametrize("ops", ["u: unlock at 0 tag 3", "l: lock at 0\nu: unlock at 0 tag 3\nu requires l"])
def test_an_unlock_without_a_lock_is_an_error(ops: str) -> None:
    goal = goal_of("c: calc 0", ops)
    with pytest.raises(NotHeldError):
        simulate(goal, BY_NETWORK)
    with pytest.raises(idlewave.InputError, match=r"rank 1, op \d: expected it to hold lock 3 at rank 0"):
        idlewave.simulate(idlewave.Schedule.from_goal(goal), BY_NETWORK)


EVERY_OP = goal_of(
    "l1: put 5b to 1 tag 7 cpu 1\nl2: put 5b to 1 nic 1\nl3: get 9b from 1",
    "l1: await from 0 tag 7\nl2: await from -1 tag -1\n"
    "l3: lock at 0 tag 2\nl4: shared_lock at 0\nl5: unlock at 0 tag 2\nl5 requires l3",
)


def test_every_format_but_loggopsims_has_one_sided_ops(tmp_path: Path) -> None:
    schedule = idlewave.Schedule.from_goal(EVERY_OP)
    text = schedule.to_goal()
    assert [line for line in text.split("\n") if line and line[0] == "l"] == [
        line for line in EVERY_OP.split("\n") if line and line[0] == "l"
    ]
    for name in ("a.goal", "a.idg"):
        schedule.save(tmp_path / name)
        assert idlewave.Schedule.load(tmp_path / name).to_goal() == text
    with pytest.raises(idlewave.InputError, match="expected no one-sided op"):
        schedule.save(tmp_path / "a.bin")
    assert not (tmp_path / "a.bin").exists()
    with pytest.raises(idlewave.InputError, match="expected no one-sided ops"):
        idlewave.simulate(schedule, Machine("plain", Level(Parameters(L=1, o_s=1, o_r=1, g=1))), dialect="loggopsim")


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("put 5b from 1", "GOAL:3:8: expected 'to', found 'from'"),
        ("put 5b to 1 tag -1", "GOAL:3:17: expected a tag from 0 to 4294967294"),
        ("put 5b to 1 tag 4294967295", "expected a tag from 0 to 4294967294"),
        ("put 5 to 1", "GOAL:3:7: expected 'b' after the size"),
        ("put 5b to -1", "GOAL:3:11: expected a rank"),
        ("put 5b to 2", "GOAL:3:11: expected a rank"),
        ("get 5b from 1 tag 4", "GOAL:3:15: expected 'cpu', 'nic' or the end of the line, found 'tag'"),
        ("await 5b from 1", "GOAL:3:7: expected 'from'"),
        ("lock 1", "GOAL:3:6: expected 'at'"),
        ("unlock at 1 tag -1", "GOAL:3:17: expected a tag from 0 to 4294967294"),
    ],
)
def test_what_is_wrong_in_the_text_of_an_op_is_named_with_its_place(op: str, expected: str) -> None:
    with pytest.raises(idlewave.InputError, match=re.escape(expected)):
        idlewave.Schedule.from_goal(goal_of(op, "c: calc 0"))


def test_a_rank_finishes_no_earlier_than_data_have_landed_at_it() -> None:
    oracle = simulate(goal_of("p: put 100b to 1", "c: calc 0"), BY_NETWORK)
    schedule = idlewave.Schedule.from_goal(goal_of("p: put 100b to 1", "c: calc 0"))
    assert idlewave.simulate(schedule, BY_NETWORK).finish[1] == oracle.ranks[1].finish == o + L + 99 * G
