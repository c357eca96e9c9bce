"""What is simulated: a machine with its links, and the problem on so many ranks by one exchange."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...errors import UsageError
from ...ft_pattern import FtCosts
from ...machine import Level, Machine, Parameters

PRESET = "bluegene-p"
PRESET_COSTS = FtCosts(10.0, 10.0, 10.0, 20.0)
"""Of a core of Blue Gene/P, estimated: 5 floating-point operations a point and binary logarithm, at 0.5 Gflop/s."""
MOST_LINKS = 6
"""The links of a node's torus in Blue Gene/P."""
PROBLEM = "D"
RANKS = (1024, 2048, 4096, 8192, 16384, 32768)
LINKS = tuple(range(1, MOST_LINKS + 1))


@dataclass(frozen=True)
class Setting:
    """A machine, by the name that it has in the study, and what a rank computes on it."""

    machine: Machine
    costs: FtCosts
    links: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """The machine's."""
        return self.machine.name


@dataclass(frozen=True)
class Case:
    """A row of the study before it is simulated."""

    setting: Setting
    problem: str
    ranks: int
    exchange: str
    links: int
    iterations: int = 1

    @property
    def machine(self) -> Machine:
        """The machine with these links."""
        return with_links(self.setting.machine, self.links)

    @property
    def key(self) -> tuple[object, ...]:
        """What makes a row of a table the row of this case (`rows.KEY`)."""
        c = self.setting.costs
        machine = self.setting.machine
        case = (self.problem, self.ranks, self.exchange, self.links, self.iterations)
        return (machine.name, machine.identity(), *case, c.x, c.y, c.z, c.evolution)


@dataclass(frozen=True)
class FtCase:
    """The same as plain values, in the order of `rows.KEY`: what a row of the table is stored by."""

    machine: Machine
    problem: str
    ranks: int
    exchange: str
    links: int
    iterations: int
    x_ns: float
    y_ns: float
    z_ns: float
    point_ns: float

    @classmethod
    def of(cls, case: Case) -> FtCase:
        """`case` as plain values."""
        c = case.setting.costs
        key = (case.problem, case.ranks, case.exchange, case.links, case.iterations)
        return cls(case.setting.machine, *key, float(c.x), float(c.y), float(c.z), float(c.evolution))

    @property
    def case(self) -> Case:
        """The case."""
        setting = Setting(self.machine, FtCosts(self.x_ns, self.y_ns, self.z_ns, self.point_ns), (self.links,))
        return Case(setting, self.problem, self.ranks, self.exchange, self.links, self.iterations)


def with_links(machine: Machine, links: int) -> Machine:
    """The machine whose NICs send over so many links at a time, messages in turn: a byte takes so many times less.

    What a message costs by itself, o and g, stays: it is the CPU's and the NIC's work, whichever link it goes by. So
    only messages gain that are long enough for G to count. A network within the node has no links and stays as it is.
    """
    if links == 1:
        return machine
    if links < 1:
        raise UsageError(f"expected at least 1 link, found {links}")
    one_sided = None if machine.one_sided is None else _divided(machine.one_sided, links)
    return replace(machine, network=_divided(machine.network, links), one_sided=one_sided)


def _divided(level: Level, links: int) -> Level:
    def faster(parameters: Parameters) -> Parameters:
        return replace(parameters, G=parameters.G / links)

    segments = tuple(replace(segment, parameters=faster(segment.parameters)) for segment in level.segments)
    return replace(level, parameters=faster(level.parameters), segments=segments)


def cases(
    settings: list[Setting], problem: str, sizes: list[int], exchanges: list[str], iterations: int = 1
) -> list[Case]:
    """All rows: each number of ranks with all links of the machine, and on the fewest ranks each number of links.

    Small ones come first, so that a study that is interrupted has rows of every exchange.
    """
    found = []
    for ranks in sorted(sizes):
        for setting in settings:
            links = setting.links if ranks == min(sizes) else (max(setting.links),)
            found += [Case(setting, problem, ranks, exchange, k, iterations) for k in links for exchange in exchanges]
    return found
