"""The Python interface reads like the story, copies nothing, and names what is wrong."""

from __future__ import annotations

import pickle
from pathlib import Path

import idlewave
import numpy as np
import pyarrow as pa
import pytest
from idlewave import Deadlock, InputError, Machine, Noise, Schedule, UsageError, simulate, study


def test_a_message_takes_o_L_o_and_its_bytes(machine: Machine, ping: Schedule) -> None:
    timeline = simulate(ping, machine)
    assert timeline.finish.tolist() == [1_500_000, 1_500_000 + 2_500_000 + 1_500_000 + 7 * 6_000]
    assert timeline.max_finish == timeline.finish[1]
    assert timeline.messages == 1


def test_finish_times_are_read_only_views_shared_with_arrow(machine: Machine, ping: Schedule) -> None:
    timeline = simulate(ping, machine)
    assert timeline.finish.dtype == np.int64
    assert not timeline.finish.flags.writeable
    column = timeline.to_arrow()["finish_ps"].chunk(0)
    assert column.buffers()[1].address == timeline.finish.ctypes.data
    through_capsule = pa.table(timeline)
    assert through_capsule["finish_ps"].to_pylist() == timeline.finish.tolist()


def test_a_timeline_can_be_sent_to_another_process(machine: Machine, ping: Schedule) -> None:
    timeline = simulate(ping, machine, record=True)
    copy = pickle.loads(pickle.dumps(timeline))
    assert (copy.finish == timeline.finish).all()
    assert (copy.max_finish, copy.messages) == (timeline.max_finish, timeline.messages)
    assert copy.ops_to_pandas().equals(timeline.ops_to_pandas())


def test_a_recorded_timeline_says_when_each_op_ran(machine: Machine, ping: Schedule) -> None:
    ops = simulate(ping, machine, record=True).ops_to_pandas()
    assert ops["kind"].tolist() == ["send", "recv"]
    assert ops["start_ps"].tolist() == [0, 0]
    assert ops["end_ps"].tolist() == [1_500_000, 5_542_000]
    assert not simulate(ping, machine).columns


def test_noise_is_chosen_by_the_seed_and_can_be_switched_off(machine: Machine) -> None:
    noise = Noise(np.array([0]), np.array([100_000_000]), 1_000_000_000)
    schedule = Schedule.pattern("dissemination", ranks=64)
    quiet = simulate(schedule, machine).max_finish
    noisy = [simulate(schedule, machine, noise=noise, seed=s).finish.tolist() for s in (1, 1, 2)]
    assert noisy[0] == noisy[1]
    assert noisy[0] != noisy[2]
    assert simulate(schedule, machine.with_noise(noise), noise=None).max_finish == quiet
    assert max(noisy[0]) >= quiet


def test_a_deadlock_says_who_waits_for_what(machine: Machine) -> None:
    schedule = Schedule.from_goal("num_ranks 2\nrank 0 {\n}\nrank 1 {\nneed: recv 8b from 0 tag 7\n}\n")
    with pytest.raises(Deadlock, match="rank 1, need") as caught:
        simulate(schedule, machine)
    assert caught.value.waiting == [
        (1, "need", "waits for a message from rank 0 with tag 7, which nobody sends"),
    ]
    assert caught.value.exit_status == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", r"x\.goal:1:1: expected 'num_ranks', found the end of the text"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 1\n}\n", r"x\.goal:3:12: expected a rank below num_ranks"),
        ("num_ranks 1\nrank 0 {\ncalc x\n}\n", r"x\.goal:3:6: expected a time in nanoseconds.*found 'x'"),
        ("num_ranks 1\nrank 0 {\ncalc 5\n", r"x\.goal:4:1: expected '}' at the end of rank 0"),
        ("num_ranks 1\nrank 0 {\na: calc 5\na requires b\n}\n", r"x\.goal:4:12: expected a label that was defined"),
    ],
)
def test_unreadable_GOAL_is_named_with_line_column_and_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Schedule.from_goal(text, name="x.goal")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere\.goal"):
        Schedule.load("nowhere.goal")


def test_a_schedule_survives_being_written_and_read(machine: Machine, tmp_path: Path) -> None:
    for name in ("bcast", "allreduce", "alltoall", "gather", "scan"):
        schedule = Schedule.pattern(name, ranks=13, bytes=1000)
        schedule.save(tmp_path / "x.goal")
        again = Schedule.load(tmp_path / "x.goal")
        assert simulate(again, machine).finish.tolist() == simulate(schedule, machine).finish.tolist()
        assert again.to_goal() == schedule.to_goal()


def test_every_algorithm_names_its_source_and_ends(machine: Machine) -> None:
    for row in idlewave.algorithms().itertuples():
        assert row.source
        schedule = Schedule.pattern(row.collective, ranks=7, bytes=100, algorithm=row.name)
        assert simulate(schedule, machine).max_finish > 0


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda m, s: simulate(s, m, scheduler="magic"), "magic"),
        (lambda m, s: simulate(s, m, dialect="klingon"), "klingon"),
        (lambda m, s: simulate(s, m, threads=2), "one thread"),
        (lambda m, s: simulate(s, m, seed=-1), "seed"),
        (lambda _m, s: s.extrapolate(4), "only a trace can be extrapolated"),
        (lambda _m, _s: Schedule.pattern("bcast", ranks=0), "ranks"),
        (lambda _m, _s: Schedule.pattern("bcast", ranks=2, bytes=-1), "bytes"),
        (lambda _m, _s: Schedule.pattern("dissemination", ranks=2, algorithm="ring"), "ring"),
        (lambda _m, _s: Schedule.pattern("bcast", ranks=2, reduction_cost=-1.0), "reduction_cost"),
        (lambda m, s: study(s, m, workers=0), "worker"),
    ],
)
def test_a_call_without_meaning_is_a_usage_error(call, expected: str, machine: Machine, ping: Schedule) -> None:
    with pytest.raises(UsageError, match=expected):
        call(machine, ping)


def test_an_unknown_pattern_or_algorithm_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match="allreduce"):
        Schedule.pattern("gossip", ranks=2)
    with pytest.raises(InputError, match="recursive_doubling"):
        Schedule.pattern("allreduce", ranks=2, algorithm="gossip")


def test_times_beyond_106_days_are_refused_not_wrapped(machine: Machine) -> None:
    long = "\n".join(f"a{i}: calc 9000000000000000" + (f"\na{i} requires a{i - 1}" if i else "") for i in range(3))
    with pytest.raises(InputError, match="106 days"):
        simulate(Schedule.from_goal(f"num_ranks 1\nrank 0 {{\n{long}\n}}\n"), machine)


def test_a_study_has_a_row_for_every_simulation_and_the_same_on_any_number_of_workers(machine: Machine) -> None:
    noise = Noise(np.array([0]), np.array([200_000]), 10_000_000)
    schedule = Schedule.pattern("allreduce", ranks=16)
    tables = [study(schedule, machine.with_noise(noise), seeds=range(5), workers=n) for n in (1, 3)]
    assert len(tables[0]) == 1 + 5
    assert tables[0]["noise"].tolist() == [False] + [True] * 5
    assert tables[0].drop(columns="seconds").equals(tables[1].drop(columns="seconds"))


def test_an_interrupted_study_has_told_what_it_found(machine: Machine) -> None:
    noise = Noise(np.array([0]), np.array([200_000]), 10_000_000)
    kept = []

    def interrupt(row: dict[str, object]) -> None:
        kept.append(row)
        if len(kept) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(Schedule.pattern("bcast", ranks=8), machine.with_noise(noise), seeds=range(50), on_row=interrupt)
    assert 3 <= len(kept) == len({(row["noise"], row["seed"]) for row in kept})
