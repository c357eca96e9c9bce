"""Programs and noise of published experiments. docs/studies/verify.md says what was published and what is assumed."""

from __future__ import annotations

from collections.abc import Sequence

from ...jobs import Job, Operation
from ...machine import Level, Machine, Parameters
from ...pattern_options import PatternOptions
from ...schedule import Schedule

ALLREDUCES = 10
"""Operations of a loop."""
ALGORITHMS = ("reduce_bcast", "recursive_doubling")
"""The algorithm of the published allreduces is not known: one of two trees, and the one of the fewest steps."""
POP_CALLS = {"bcast": 703, "barrier": 575, "allreduce": 608}
"""The collectives of POP, as published."""
POP_SHARE = 0.002
"""The share of POP's messages that are nonblocking point-to-point, as published."""
POP_COMPUTE_NS = 100_000
"""Computation after each call of POP, assumed."""
POP_HALO_BYTES = 1024
POP_NEIGHBOURS = 4
"""Messages of a rank in a halo exchange."""
AMG_LEVELS = ((8192, 80_000), (2048, 20_000), (512, 5_000), (128, 2_000))
"""Bytes of a face and computation, ns, on each level of the multigrid cycle, assumed: an eighth of the points each."""
AMG_CYCLES = 2


def cray_xt() -> Machine:
    """A machine like a Cray XT: 8.1 µs half round trip, 2.5 GB/s, assumed."""
    return Machine("like a Cray XT", Level(Parameters(L=305_000, o_s=3_920_000, o_r=3_920_000, g=3_920_000, G=400.0)))


def allreduces(ranks: int, size: int, algorithm: str) -> Schedule:
    """A loop of allreduces."""
    loop = Operation("allreduce", bytes=size, algorithm=algorithm, times=ALLREDUCES)
    return Schedule.compose([Job(ranks, [loop])], name="allreduce")


def pop_calls(ranks: int, percent: int) -> dict[str, int]:
    """How often the POP-like program calls each operation, if it has so many percent of POP's calls."""
    calls = {name: max(1, round(count * percent / 100)) for name, count in POP_CALLS.items()}
    messages = _collective_messages(ranks, calls) / ranks
    halos = max(1, round(POP_SHARE * messages / (1 - POP_SHARE) / POP_NEIGHBOURS))
    return {**calls, "halo2d": halos}


def pop_messages(ranks: int, percent: int = 100) -> int:
    """The messages of so many percent of POP's collectives on so many ranks: binomial broadcasts, barriers by
    dissemination, and allreduces by recursive doubling, for a power of two."""
    return _collective_messages(ranks, pop_calls(ranks, percent))


def _collective_messages(ranks: int, calls: dict[str, int]) -> int:
    rounds = (ranks - 1).bit_length()
    return calls["bcast"] * (ranks - 1) + (calls["barrier"] + calls["allreduce"]) * ranks * rounds


def pop(ranks: int, percent: int) -> Schedule:
    """A program that calls as POP does: its collectives and a few halo exchanges, evenly mixed, each with a computation
    after it."""
    calls = pop_calls(ranks, percent)
    order = sorted(((number + 0.5) / count, name) for name, count in calls.items() for number in range(count))
    sizes = {"barrier": 0, "halo2d": POP_HALO_BYTES}
    compute = Operation("compute", options=PatternOptions(compute_ns=POP_COMPUTE_NS))
    operations = [one for _, name in order for one in (Operation(name, bytes=sizes.get(name, 8)), compute)]
    return Schedule.compose([Job(ranks, operations)], name="like POP")


def amg(ranks: int) -> Schedule:
    """Multigrid cycles as AMG's: halo exchanges in three dimensions with less and less work, and back."""
    levels = [*AMG_LEVELS, *AMG_LEVELS[-2::-1]]
    operations = [_halo(ranks, size, compute_ns) for size, compute_ns in levels]
    return Schedule.compose([Job(ranks, operations, repetitions=AMG_CYCLES)], name="like AMG")


def _halo(ranks: int, size: int, compute_ns: int) -> Operation:
    side = round(ranks ** (1 / 3))
    dims: Sequence[int] = (side, side, side) if side**3 == ranks else ()
    return Operation("halo3d", bytes=size, options=PatternOptions(dims=dims, periodic=False, compute_ns=compute_ns))
