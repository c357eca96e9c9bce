"""A placement by the graph of who tells whom keeps together those that tell each other."""

from __future__ import annotations

import builtins
import pickle
from typing import Any

import numpy as np
import pytest
from idlewave import kernel, pdes
from idlewave.errors import LibraryError
from idlewave.placing import place
from tracer_support import open_mpi

GROUPS = 64


def cliques(count: int) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Who tells whom where `count` cliques of groups tell others next to nothing; and the clique of each group."""
    dice = np.random.default_rng(1)
    clique = dice.permutation(GROUPS) % count
    inside = clique[:, None] == clique[None, :]
    between = np.where(inside, dice.integers(100, 200, (GROUPS, GROUPS)), dice.integers(0, 3, (GROUPS, GROUPS)))
    return between.astype(np.uint64), clique


@pytest.mark.parametrize("scale", [1, 10**12])
@pytest.mark.parametrize("partitions", [2, 4])
def test_cliques_are_not_cut(partitions: int, scale: int) -> None:
    between, clique = cliques(4)
    table = place((between * np.uint64(scale)).reshape(-1), partitions)
    assert np.bincount(table).tolist() == [GROUPS // partitions] * partitions
    assert all(len({table[i] for i in np.flatnonzero(clique == one)}) == 1 for one in range(4))
    assert table == place((between * np.uint64(scale)).reshape(-1), partitions), "the same in all processes"


def test_one_partition_has_all_and_silence_is_shared() -> None:
    assert place(cliques(2)[0].reshape(-1), 1) == [0] * GROUPS
    assert set(np.bincount(place(np.zeros(GROUPS**2, np.uint64), 4), minlength=4)) == {GROUPS // 4}


@pytest.mark.parametrize("partitions", [3, 4, 16])
def test_more_partitions_than_groups_have_a_group_each_or_none(partitions: int) -> None:
    assert place(np.ones(9, np.uint64), partitions) == [0, 1, 2]


@pytest.mark.parametrize("way", [{"threads": 3}, {"threads": 1, "processes": 2}])
def test_a_run_that_is_placed_by_its_graph_gives_the_same_answer(
    way: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_mpi()
    monkeypatch.setattr(kernel, "MIGRATE_AFTER", 2000)
    city: dict[str, Any] = {"persons": 20_000, "districts": 8, "days": 200, "first_infectious": 100}
    alone = pdes.epidemic(**city)
    placed = pdes.epidemic(**city, scheduler="yawns", placement="graph", **way)
    assert placed.run.segments == 2
    assert placed.run.digest == alone.run.digest
    assert placed.infectious == alone.infectious


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "pymetis":
            raise ImportError("it is not here")
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LibraryError, match=r"pip install 'idlewave\[placement\]'"):
        place(np.zeros(64, np.uint64), 2)
    with pytest.raises(LibraryError) as found:
        pdes.phold(scheduler="yawns", threads=2, placement="graph")
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)
