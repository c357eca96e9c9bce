"""``idlewave contention``: contention in memory, made, measured and remedied."""

from __future__ import annotations

import click

from .lazy_groups import LazyGroup

COMMANDS = {
    "make": ("contention_commands", "Write into memory at a rate, from some cores."),
    "measure": ("contention_commands", "Measure how traffic into memory slows victims or a command."),
    "remedy": ("contention_commands", "Compare throttling the traffic with reserving a core for it."),
}
"""For the name of each command the module that has it and its line in the help."""


@click.group(cls=LazyGroup, later=COMMANDS)
def contention() -> None:
    """Contention in memory: writes into a node's memory, as a NIC makes them, slow what computes there.

    The writes are made by other cores, at the rate that a NIC would have: an emulation.
    """
