"""A placement by the graph of who tells whom keeps together those that tell each other."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from idlewave import pdes
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


@pytest.mark.parametrize("way", [{"threads": 3}, {"threads": 1, "processes": 2}])
def test_a_run_that_is_placed_by_its_graph_gives_the_same_answer(way: dict[str, Any]) -> None:
    open_mpi()
    city: dict[str, Any] = {"persons": 20_000, "districts": 8, "days": 150, "travel_contacts": 0.5}
    alone = pdes.epidemic(**city)
    placed = pdes.epidemic(**city, scheduler="yawns", placement="graph", **way)
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
        place(np.zeros(4, np.uint64), 2)
