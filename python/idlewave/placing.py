"""Which partition has which LPs, from who tells whom: a partition of the communication graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def place(between: npt.NDArray[np.uint64], partitions: int) -> list[int]:
    """The partition of each group of LPs, such that all partitions have about as many events, and few are for others.

    `between`: how many events each group was told by each; as a square matrix, row by row. METIS cuts the graph
    (G. Karypis, V. Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs, SIAM J. Sci.
    Comput. 20(1), 1998); the answer depends on nothing else, so that all processes of a run find the same. Raises
    LibraryError if pymetis cannot be loaded.
    """
    import numpy as np

    told = between.reshape(math.isqrt(len(between)), -1)
    if partitions == 1:
        return [0] * len(told)
    if partitions >= len(told):
        return list(range(len(told)))
    metis = metis_library()
    cut = told + told.T
    np.fill_diagonal(cut, 0)
    starts, neighbours = [0], []
    edges: list[int] = []
    for row in cut:
        others = np.flatnonzero(row)
        neighbours += others.tolist()
        edges += _scaled(row[others], cut.max())
        starts.append(len(neighbours))
    handled = told.sum(axis=0)
    weights = _scaled(handled, handled.max())
    graph = metis.CSRAdjacency(starts, neighbours)
    _, parts = metis.part_graph(partitions, graph, eweights=edges, vweights=weights, options=metis.Options(seed=1))
    return [int(part) for part in parts]


def _scaled(values: npt.NDArray[np.uint64], most: int) -> list[int]:
    """Weights that METIS can add up in 32 bits, at least 1."""
    room = 2**18
    scale = max(1.0, float(most) / room)
    return [max(1, round(float(value) / scale)) for value in values]


def metis_library() -> Any:  # noqa: ANN401 - a module without types
    """Raises LibraryError if it cannot be loaded."""
    try:
        import pymetis
    except ImportError as error:
        from .errors import LibraryError

        raise LibraryError("a placement by the communication graph", "pymetis", error, "placement") from error
    return pymetis
