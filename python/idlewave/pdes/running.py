"""Runs of a model on the kernel."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .. import memory_needs
from ..kernel import MOST_SEED, RunConfiguration
from ..memory_limits import memory_for
from ..parameters import Parameter, completed

T = TypeVar("T")
Progress = Callable[[float], None] | None
"""A function that is called a few times a second with the share of simulated time that is committed."""

MOST_LPS = 2**32 - 2
SEED = Parameter(1, "Seed of the random numbers", least=0, most=MOST_SEED)


def run_model(
    name: str,
    model: Callable[..., T],
    table: type,
    given: Mapping[str, Any],
    end: int,
    progress: Progress,
) -> T:
    """The result of a model, in this process or in several.

    `model` is called with the values of the parameters in `table`, the run configuration, a line that describes the
    run, a function for progress, and the transport. `end` is the end of simulated time in ticks of the core. Raises
    UsageError, InputError, MpiError, MemoryLimit.
    """
    values = completed(table, given)
    configuration = RunConfiguration.of(given)

    def share(now: int) -> None:
        if progress is not None:
            progress(min(1.0, now / end) if end > 0 else 1.0)

    description = f"{name} {json.dumps(values, sort_keys=True)}"
    shown = None if progress is None else share
    with memory_for(f"running {name} of {_size(values)}", memory_needs.model(name, values, configuration.processes)):
        if configuration.processes > 1:
            from ..processes import run_in_processes

            return run_in_processes(model, (values, configuration, description), configuration.processes, shown)
        return model(values, configuration, description, shown, None)


def _size(values: Mapping[str, Any]) -> str:
    """The size of a model, for a message."""
    words = {"lps": "LPs", "persons": "persons", "routers": "routers", "hosts": "hosts"}
    return " and ".join(f"{values[name]:,} {word}" for name, word in words.items() if name in values)
