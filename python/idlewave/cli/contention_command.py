"""``idlewave contention``: contention in memory, made, measured, remedied, detected and scaled."""

from __future__ import annotations

import click

from .lazy_groups import LazyGroup

COMMANDS = {
    "make": ("contention_make_command", "Write into memory at a rate, from some cores."),
    "measure": ("contention_measure_command", "Measure how traffic into memory slows victims or a command."),
    "remedy": ("contention_remedy_command", "Compare throttling the traffic with reserving a core for it."),
    "learn": ("contention_learn_command", "Train detectors of traffic on a table of contention, and evaluate them."),
    "watch": ("contention_watch_command", "Watch a running job: how probable traffic is, interval by interval."),
    "scale": ("contention_scale_command", "Simulate what measured traffic does to a program at scale."),
}
"""For the name of each command the module that has it and its line in the help."""


@click.group(cls=LazyGroup, later=COMMANDS)
def contention() -> None:
    """Contention in memory: writes into a node's memory, as a NIC makes them, slow what computes there.

    The writes are made by other cores, at the rate that a NIC would have: an emulation.
    """
