"""Machines with other parameters: a network that is so many times as fast, or whose messages cost more CPU time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ..errors import UsageError
from ..formatting import unknown_name
from ..machine import Level, Machine, Parameters

NAMES = ("L", "o", "g", "G", "O")
"""The parameters that can be scaled; o is o_s and o_r, O is O_s and O_r."""
MOST_FACTOR = 1e6
_FIELDS = {"L": ("L",), "o": ("o_s", "o_r"), "g": ("g",), "G": ("G",), "O": ("O_s", "O_r")}


def scaled(machine: Machine, names: Collection[str], factor: float) -> Machine:
    """The machine with these parameters times `factor`, on all levels and for messages of every size.

    Raises UsageError for another name, or a factor that is negative or beyond 1e6.
    """
    for name in names:
        if name not in NAMES:
            raise UsageError(unknown_name("parameter", name, NAMES))
    if not 0 <= factor <= MOST_FACTOR:
        raise UsageError(f"expected a factor from 0 to {MOST_FACTOR:.0f}, found {factor}")
    if factor == 1:
        return machine
    fields = [field for name in names for field in _FIELDS[name]]

    def change(old: Parameters) -> Parameters:
        values = {name: getattr(old, name) * factor for name in fields}
        return replace(old, **{k: v if isinstance(getattr(old, k), float) else round(v) for k, v in values.items()})

    return changed(machine, change)


def with_overhead_share(machine: Machine, share: float) -> Machine:
    """The machine whose CPUs spend o = `share` · g and O = `share` · G on messages: with 0 the network does all by
    itself, with 1 nothing beside the CPU. c and o_p are left out."""

    def change(old: Parameters) -> Parameters:
        o, per_byte = round(share * old.g), share * old.G
        return replace(old, o_s=o, o_r=o, O_s=per_byte, O_r=per_byte, c=0, o_p=0)

    return changed(machine, change)


def without_network_costs(machine: Machine) -> Machine:
    """The machine whose messages cost nothing."""
    return changed(machine, lambda _: Parameters(L=0, o_s=0, o_r=0, g=0))


def changed(machine: Machine, change: Callable[[Parameters], Parameters]) -> Machine:
    """The machine with other parameters on all levels, for messages of every size."""

    def level(old: Level | None) -> Level | None:
        if old is None:
            return None
        segments = tuple(replace(segment, parameters=change(segment.parameters)) for segment in old.segments)
        return replace(old, parameters=change(old.parameters), segments=segments)

    network = level(machine.network)
    assert network is not None
    one_sided = level(machine.one_sided)
    if one_sided is not None and machine.progress == "network":
        one_sided = _without_target_overheads(one_sided)
    return replace(
        machine, network=network, node=level(machine.node), shared_buffer=level(machine.shared_buffer),
        one_sided=one_sided,
    )  # fmt: skip


def _without_target_overheads(level: Level) -> Level:
    """One-sided operations that the network completes have none at their target."""
    segments = tuple(
        replace(segment, parameters=replace(segment.parameters, o_r=0, O_r=0.0)) for segment in level.segments
    )
    return replace(level, parameters=replace(level.parameters, o_r=0, O_r=0.0), segments=segments)
