from __future__ import annotations

import idlewave
import pytest
from idlewave import Job, Operation, PatternOptions, Schedule

MACHINE = idlewave.Machine.from_toml(
    'name = "m"\n[network]\nL = "700ps"\no = "150ps"\ng = "200ps"\nG = "2ps"\nO = "0ps"\nS = "inf"\n'
)


def finish(schedule: Schedule) -> list[int]:
    return idlewave.simulate(schedule, MACHINE).finish.tolist()


def test_a_sequence_is_as_long_as_its_goal_text() -> None:
    grid = Job(
        12,
        [
            Operation("compute", options=PatternOptions(compute_ns=40)),
            Operation("halo2d", bytes=100, options=PatternOptions(dims=(4, 3))),
            Operation("allreduce", bytes=8, group="strided", group_size=3, times=2),
            Operation("bcast", bytes=50, group="blocks", group_size=3, rotating_root=True, times=3),
        ],
        repetitions=2,
    )
    composed = Schedule.compose([grid])
    assert finish(composed) == finish(Schedule.from_goal(composed.to_goal()))


def test_threads_change_nothing() -> None:
    composed = Schedule.compose([Job(3000, [Operation("allreduce", bytes=8), Operation("barrier")], repetitions=3)])
    one = idlewave.simulate(composed, MACHINE)
    for threads in (1, 2, 3):
        several = idlewave.simulate(composed, MACHINE, scheduler="yawns", threads=threads)
        assert several.finish.tolist() == one.finish.tolist()
        assert several.messages == one.messages


def test_ranks_without_a_job_do_nothing() -> None:
    composed = Schedule.compose([Job(2, [Operation("barrier")], placement=(1, 3))], ranks=5)
    assert [time > 0 for time in finish(composed)] == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (Job(2, [Operation("nothing")]), "no pattern is called 'nothing'"),
        (Job(2, [Operation("barrier", group="rows")]), "no group is called 'rows'"),
        (Job(2, [Operation("barrier", group="blocks", group_size=3)]), "group size from 1 to 2, found 3"),
        (Job(0, [Operation("barrier")]), "expected ranks from 1 to 4294967294, found 0"),
        (Job(2, [Operation("barrier")], placement=(1, 1)), "wants rank 1 of the machine, which job 0 has"),
        (Job(2, [Operation("halo2d", options=PatternOptions(dims=(3, 1)))]), "2"),
        (Job(2, [Operation("bcast", options=PatternOptions(root=2))]), "root from 0 to 1, found 2"),
    ],
)
def test_what_has_no_meaning_is_named(job: Job, says: str) -> None:
    with pytest.raises(idlewave.IdlewaveError, match=says):
        Schedule.compose([job])
