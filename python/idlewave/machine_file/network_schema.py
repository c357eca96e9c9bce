"""The schema of a machine.toml: the tables of the network, and the file as a whole.

Its annotations are types, not texts (no `from __future__ import annotations`), each of which msgspec would compile.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from ..cold_caches import problem_of
from ..input.value_types import Amount, Closed, Cost, Time, Whole, WholeFrom1
from ..machine import BETWEEN, WITHIN, Place, Progress
from ..units import exact_cost, exact_time
from .noise_schema import NoiseTable

NodeRanks = Annotated[int, Meta(ge=1, lt=2**32, description="a whole number from 1 to 4294967295")]
EagerLimit = Annotated[
    Whole | Literal["inf"], Meta(description='a whole number from 0 on (bytes of the largest eager message) or "inf"')
]


class ParameterTable(Closed):
    """LogGOPS parameters. None: the level below, or the segment before, has the value."""

    L: Time | None = None
    o: Time | None = None
    o_s: Time | None = None
    o_r: Time | None = None
    g: Time | None = None
    G: Cost | None = None
    O: Cost | None = None  # noqa: E741 - the model's name
    O_s: Cost | None = None
    O_r: Cost | None = None
    c: Time | None = None
    o_p: Time | None = None

    def __post_init__(self) -> None:
        for both in ("o", "O"):
            if getattr(self, both) is not None and not (
                getattr(self, f"{both}_s") is None and getattr(self, f"{both}_r") is None
            ):
                raise ValueError(f"{both}: expected either {both}, or {both}_s and {both}_r, found both")

    def given(self) -> dict[str, Any]:
        """The parameters that the table has, by their names in the model: o is o_s and o_r, O is O_s and O_r."""
        values = {
            "L": self.L,
            "o_s": self.o if self.o_s is None else self.o_s,
            "o_r": self.o if self.o_r is None else self.o_r,
            "g": self.g,
            "G": self.G,
            "O_s": self.O if self.O_s is None else self.O_s,
            "O_r": self.O if self.O_r is None else self.O_r,
            "c": self.c,
            "o_p": self.o_p,
        }
        return {name: value for name, value in values.items() if value is not None}


class SegmentTable(ParameterTable, kw_only=True):
    """[[network.segment]]: parameters of messages of at least `start` bytes."""

    start: WholeFrom1 = field(name="from")


class LevelTable(ParameterTable):
    """The keys that [network] and [network.node] share."""

    S: EagerLimit | None = None
    segment: tuple[SegmentTable, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for i in range(1, len(self.segment)):
            before, start = self.segment[i - 1].start, self.segment[i].start
            if start <= before:
                raise ValueError(
                    f"segment[{i}].from: expected more than the segment before has, {before}, found {start}"
                )


class NodeTable(LevelTable, kw_only=True):
    """[network.node]: the network between ranks of one node of `ranks` ranks."""

    ranks: NodeRanks


class SharedBufferTable(LevelTable, kw_only=True):
    """[network.shared_buffer]: messages of collectives through a buffer that the ranks of a node share."""

    L: Time

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.S is not None:
            raise ValueError(f"S: expected nothing, since its messages are always eager, found {self.S}")


class OneSidedTable(LevelTable, kw_only=True):
    """[network.one_sided]: one-sided operations between all ranks."""

    L: Time
    g: Time
    G: Cost
    progress: Progress = "network"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, words in (("o_s", Time.words), ("O_s", Cost.words)):
            if name not in self.given():
                raise ValueError(f"{name}: expected {words}, found nothing")
        if self.S is not None:
            raise ValueError(f"S: expected nothing, since one-sided operations make no rendezvous, found {self.S}")
        self._refuse_in(self, "")
        for i, segment in enumerate(self.segment):
            self._refuse_in(segment, f"segment[{i}].")

    def _refuse_in(self, table: ParameterTable, name: str) -> None:
        for key in ("c", "o_p"):
            if (value := getattr(table, key)) is not None:
                raise ValueError(
                    f"{name}{key}: expected nothing, since one-sided operations have none, found {exact_time(value)}"
                )
        for key, exact in (("o_r", exact_time), ("O_r", exact_cost)):
            if self.progress == "network" and (value := getattr(table, key)) is not None:
                raise ValueError(f"{name}{key}: expected it only beside progress = 'cpu', found {exact(value)}")


class VariationTable(Closed, kw_only=True):
    """[network.variation]: factors of L and G over time, in a file; `recorded` says where, in words."""

    file: str
    period: Time | None = None
    recorded: str = field(name="from", default="")

    def __post_init__(self) -> None:
        if self.period == 0:
            raise ValueError("period: expected a time above 0, found 0")


class NetworkTable(LevelTable, kw_only=True):
    """[network].

    `name` is the network's name where it is another machine's. `measured` says where it was measured, and `ranks` how
    many ranks the node has that it was measured within.
    """

    L: Time
    g: Time
    G: Cost
    S: EagerLimit
    node: NodeTable | None = None
    shared_buffer: SharedBufferTable | None = None
    one_sided: OneSidedTable | None = None
    variation: VariationTable | None = None
    name: str = ""
    measured: Place | None = None
    ranks: NodeRanks | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, words in (("o_s", Time.words), ("o_r", Time.words), ("O_s", Cost.words), ("O_r", Cost.words)):
            if name not in self.given():
                raise ValueError(f"{name}: expected {words}, found nothing")
        if self.measured != WITHIN:
            if self.ranks is not None:
                raise ValueError(f"ranks: expected it only beside measured = '{WITHIN}', found {self.ranks}")
            return
        if self.node is not None:
            raise ValueError(f"measured: expected '{BETWEEN}' beside [network.node], found '{self.measured}'")
        if self.ranks is None:
            raise ValueError("ranks: expected the ranks of the node that it was measured within, found nothing")


class CollectiveTable(Closed, kw_only=True):
    """[[collective]]: an `AlgorithmRule`. `call` is a time, the costs are times per byte."""

    name: str
    algorithm: str
    ranks: NodeRanks = 1
    start: Whole = field(name="from", default=0)
    segment: Whole | None = None
    reduction_cost: Cost = Cost(0)
    call: Time = Time(0)
    call_per_byte: Cost = Cost(0)
    residual: Amount | None = None
    of_library: bool = False
    of_all_ranks: bool = False
    fallback: bool = False


class ColdCallTable(Closed, kw_only=True):
    """[[cold_caches.call]]: the extra time of the first call after a computation of the length `after`."""

    after: Time
    time: Time


class ColdBufferTable(Closed, kw_only=True):
    """[[cold_caches.buffer]]: the extra time of the two ends of a message of `size` bytes."""

    size: WholeFrom1
    time: Time


class ColdCachesTable(Closed, kw_only=True):
    """[cold_caches]: a `ColdCaches`."""

    buffer_after: Time
    call: tuple[ColdCallTable, ...] = ()
    buffer: tuple[ColdBufferTable, ...] = ()

    def __post_init__(self) -> None:
        if self.buffer_after == 0:
            raise ValueError("buffer_after: expected a time above 0, found 0")
        calls = [(row.after, row.time) for row in self.call]
        if problem := problem_of(calls, [(row.size, row.time) for row in self.buffer]):
            raise ValueError(problem)


class MachineTable(Closed):
    """A machine.toml."""

    network: NetworkTable
    name: str = "unnamed"
    description: str = ""
    noise: NoiseTable | None = None
    collective: tuple[CollectiveTable, ...] = ()
    cold_caches: ColdCachesTable | None = None


class ScopeTable(Closed, kw_only=True):
    """A `machine.Scope`, as the provenance of a study has it."""

    network: str = ""
    measured: Place | None = None
    latency: Whole
    node_ranks: NodeRanks | None = None
    node_latency: Whole | None = None
