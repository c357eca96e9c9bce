"""Runs of the kernel in several processes give the answer of one, also from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from idlewave import pdes
from idlewave.errors import InputError, UsageError
from pdes_support import SMALL, outcome
from tracer_support import open_mpi

pytestmark = pytest.mark.slow

LONGER: dict[str, Any] = SMALL | {"end": 100.0}


@pytest.mark.parametrize(
    ("processes", "threads"),
    [(2, 1), (3, 2), *(pytest.param(*both, marks=pytest.mark.long) for both in ((2, 2), (2, 3), (3, 1), (3, 3)))],
)
@pytest.mark.parametrize("scheduler", ["yawns", "timewarp"])
def test_processes_give_the_answer_of_one(processes: int, threads: int, scheduler: str) -> None:
    open_mpi()
    shared = pdes.phold(**SMALL, scheduler=scheduler, threads=threads, processes=processes)
    assert outcome(shared) == outcome(pdes.phold(**SMALL))
    assert shared.remote_events > 0


def test_processes_need_no_lookahead() -> None:
    open_mpi()
    shared = pdes.phold(**SMALL, lookahead=0, scheduler="timewarp", processes=2)
    assert outcome(shared) == outcome(pdes.phold(**SMALL, lookahead=0))


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    pdes.phold(**LONGER, checkpoint=tmp_path, checkpoint_every=0)
    assert outcome(pdes.phold(**LONGER, checkpoint=tmp_path, restart=True, scheduler="timewarp", threads=2)) == outcome(
        pdes.phold(**LONGER)
    )
    with pytest.raises(InputError, match="it is of another run"):
        pdes.phold(**LONGER, seed=2, checkpoint=tmp_path, restart=True)
    with pytest.raises(InputError, match="there is no checkpoint"):
        pdes.phold(**LONGER, checkpoint=tmp_path / "nowhere", restart=True)
    with pytest.raises(InputError, match="there is a checkpoint already"):
        pdes.phold(**LONGER, checkpoint=tmp_path)
    with pytest.raises(UsageError, match="a restart needs the directory"):
        pdes.phold(**LONGER, restart=True)
