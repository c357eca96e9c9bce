"""The pairs of ranks of a recording over time whose network is the one that a machine's variation is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .formatting import plural
from .machine import BETWEEN, WITHIN

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .machine import Machine, Place


_UNKNOWN = (
    "the recording does not say on which hosts its ranks were: pairs within a node and between nodes may be mixed"
)


class RecordedPairs(NamedTuple):
    """The phases of a recording without those of pairs that are left out, and sentences about what its factors are
    of."""

    table: pd.DataFrame
    notes: tuple[str, ...] = ()


def recorded_pairs(table: pd.DataFrame, hosts: Sequence[str], machine: Machine | None = None) -> RecordedPairs:
    """The phases of pairs of one kind, within a node or between nodes, of a recording whose ranks ran on `hosts`.

    `[network]`, which varies, is between nodes, unless the machine says that it was measured within one. Of a recording
    with pairs of both kinds only those of this kind are taken; of a recording of the other kind all are, since there
    are no others. Without hosts the kind of the pairs is not known, and all are taken. The notes say each of these.
    """
    import numpy as np

    tests = table["test"].isin(["latency", "bandwidth"]).to_numpy() if "test" in table else np.zeros(0, dtype=bool)
    if not tests.any():
        return RecordedPairs(table)
    if not {"rank", "peer"} <= set(table.columns):
        return RecordedPairs(table, (_UNKNOWN,))
    active = table.loc[tests, ["rank", "peer"]].to_numpy(dtype=np.int64)
    pairs = np.unique(active, axis=0)
    if pairs.min() < 0 or pairs.max() >= len(hosts):
        return RecordedPairs(table, (_UNKNOWN,))
    names = np.array([str(host) for host in hosts], dtype=object)
    within = _within(names, pairs)
    wanted = WITHIN if machine is not None and machine.node is None and machine.measured == WITHIN else BETWEEN
    place = _place_of_all(within)
    if place is None:
        own = np.zeros(len(table), dtype=bool)
        same_host = _within(names, active)
        own[tests] = same_host if wanted == WITHIN else ~same_host
        left_out = within if wanted == BETWEEN else ~within
        return RecordedPairs(table[own | ~tests], (_left_out(int(left_out.sum()), len(within), wanted),))
    if place != wanted:
        one = "of one host" if len(set(names)) == 1 else f"of pairs {place}"
        other = "the network between nodes" if wanted == BETWEEN else "the network within a node"
        return RecordedPairs(table, (f"the recording is {one}; its factors stand for {other} here",))
    return RecordedPairs(table)


def _within(names: npt.NDArray[np.object_], pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether both ranks of each pair, a row, ran on one host."""
    same: npt.NDArray[np.bool_] = names[pairs[:, 0]] == names[pairs[:, 1]]
    return same


def _place_of_all(within: npt.NDArray[np.bool_]) -> Place | None:
    if within.all():
        return WITHIN
    return None if within.any() else BETWEEN


def _left_out(count: int, pairs: int, wanted: Place) -> str:
    other = WITHIN if wanted == BETWEEN else BETWEEN
    verb = "is" if count == 1 else "are"
    return (
        f"{count} of {plural(pairs, 'pair')} of ranks of the recording {verb} {other}, and left out: the factors are "
        f"those of the network {wanted}, and the one {other} does not vary"
    )
