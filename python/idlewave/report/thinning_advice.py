"""What a system's administrator can do about a source of noise, by its name."""

from __future__ import annotations

import re

from idlewave.units import parse_time

_PERIODIC = re.compile(r"every (\d+(?:\.\d+)?) ?([mnpuµ]?s)\b.*")
_RANDOM = re.compile(r"random (\d+(?:\.\d+)? ?[mnpuµ]?s)\b.*")
_TICKS_S = (0.001, 1 / 300, 0.004, 0.01)
"""The periods of Linux's tick."""
_NEAR = 0.01
_UNNAMED = ("task preempted", "task waiting", "another task (context switch)")
"""Switches to a task that the kernel did not name."""


def advice(source: str) -> str:
    """A sentence or two on how to remove the source."""
    periodic, random = _PERIODIC.fullmatch(source), _RANDOM.fullmatch(source)
    if source in _UNNAMED:
        return (
            "Keep other tasks from the ranks' cores; ps -eLo psr,pcpu,comm lists what runs there, since the recorded "
            "events do not say."
        )
    if source.startswith("task "):
        name = source.removeprefix("task ")
        return f"Stop {name} on compute nodes, or bind it to a core that no rank uses."
    if "timer" in source.lower():
        return _without_tick(f"{source}: take the tick from the ranks' cores")
    if periodic:
        seconds = parse_time(periodic[1] + periodic[2]) * 1e-12
        if any(abs(seconds / tick - 1) < _NEAR for tick in _TICKS_S):
            return _without_tick(f"{source}: it has the period of a tick; take that from the ranks' cores")
        return f"Find what runs {source}: idlewave measure noise --attribute names the task or interrupt; then move it."
    if random:
        return (
            f"Find the task that takes about {random[1]} at a time: idlewave measure noise --attribute; then move it."
        )
    if source.startswith("not explained"):
        return "Look for the firmware's interrupts (SMI) and at the hypervisor: no recorded event explains the detours."
    if source.startswith(("softirq ", "irq ")) or "+" in source:
        return f"{source}: move these interrupts to cores that no rank uses (/proc/irq/*/smp_affinity)."
    return f"Remove {source}: stop it, or move it to a core that no rank uses."


def _without_tick(what: str) -> str:
    return f"{what} (boot with nohz_full= and rcu_nocbs= for these cores)."
