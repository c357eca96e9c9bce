"""What a study is asked for."""

from __future__ import annotations

from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from command_examples import make_material
from command_runs import run_command
from idlewave import Machine, Noise, Schedule, UsageError


@pytest.fixture
def noisy(machine: Machine) -> Machine:
    return machine.with_noise(Noise(np.array([0]), np.array([50]), 1000))


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_material(tmp_path_factory.mktemp("material"))


def test_a_number_of_seeds_is_so_many_and_a_number_of_ranks_is_one(noisy: Machine) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    columns = ["ranks", "noise", "seed", "finish_ps", "messages"]
    expected = idlewave.study(schedule, noisy, ranks=[4], seeds=range(2))[columns]
    for ranks, seeds in ((4, 2), (np.int64(4), np.int32(2)), (np.array([4]), np.arange(2))):
        pd.testing.assert_frame_equal(idlewave.study(schedule, noisy, ranks=ranks, seeds=seeds)[columns], expected)
    assert len(idlewave.study(schedule, noisy, seeds=0)) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"seeds": -1}, "expected a number of seeds from 0 on, found -1"),
        ({"seeds": 1.5}, "expected a number of seeds that is a whole number, found '1.5'"),
        ({"seeds": True}, "expected a number of seeds that is a whole number, found 'True'"),
        ({"seeds": None}, "expected a number of seeds that is a whole number, found 'None'"),
        ({"seeds": [0, 1.5]}, "expected a seed that is a whole number, found '1.5'"),
        ({"seeds": [0, -1]}, "expected a seed from 0 to 2^64 - 1, found -1"),
        ({"seeds": [3, 0, 3]}, "expected each seed once, found 3 more than once"),
        ({"seeds": "16"}, "expected a seed that is a whole number, found '16'"),
        ({"ranks": [4, 4]}, "expected each number of ranks once, found 4 more than once"),
        ({"ranks": ["4"]}, "expected a number of ranks that is a whole number, found '4'"),
        ({"ranks": []}, "expected at least one number of ranks"),
    ],
)
def test_what_are_no_seeds_or_ranks_is_refused(asked: dict[str, object], words: str, noisy: Machine) -> None:
    with pytest.raises(UsageError) as refused:
        idlewave.study(Schedule.pattern("bcast", ranks=4), noisy, **asked)
    assert str(refused.value) == words


def test_the_command_refuses_a_number_of_ranks_twice(material: dict[str, str], tmp_path: Path) -> None:
    refused = run_command(["study", material["goal"], "-m", "odin", "--ranks", "2,2"], tmp_path)
    assert (refused.status, "expected each number of ranks once" in refused.complained) == (2, True)
