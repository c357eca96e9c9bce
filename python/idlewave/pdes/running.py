"""How a model is run."""

from __future__ import annotations

import json
from typing import Any

from .. import _core, memory_needs
from ..errors import UsageError
from ..kernel import RunConfiguration, RunOptions
from ..memory_limits import memory_for

MOST_LPS = 2**32 - 2


def run_model(name: str, parameters: dict[str, Any], options: RunOptions, end: int) -> dict[str, Any]:
    """What the core answers of a model, in this process or in several.

    `end`: of simulated time, in the core's ticks. Raises UsageError, InputError, MpiError, MemoryLimit.
    """
    configuration = RunConfiguration(**options)
    configuration.check()
    progress = configuration.progress

    def share(now: int) -> None:
        if progress is not None:
            progress(min(1.0, now / end) if end > 0 else 1.0)

    run = f"{name} {json.dumps(parameters, sort_keys=True)}"
    shown = None if progress is None else share
    with memory_for(
        f"running {name} of {_size(parameters)}", memory_needs.model(name, parameters, configuration.processes)
    ):
        if configuration.processes > 1:
            from ..processes import run_in_processes

            return run_in_processes(name, (parameters, configuration.core(run)), configuration.processes, shown)
        answer: dict[str, Any] = getattr(_core, name)(parameters, configuration.core(run), shown, None)
        return answer


def _size(parameters: dict[str, Any]) -> str:
    """How much of what a model has, for a message."""
    words = {"lps": "LPs", "persons": "persons", "routers": "routers", "hosts": "hosts"}
    return " and ".join(f"{parameters[name]:,} {word}" for name, word in words.items() if name in parameters)


def whole(what: str, value: float, most: float, unit: float = 1.0, least: float = 0.0) -> int:
    """A quantity in ticks of `unit`; raises UsageError unless it is from `least` to `most`."""
    if not least <= value <= most:
        raise UsageError(f"expected {what} from {least:g} to {most:g}, found {value:g}")
    return round(value / unit)
