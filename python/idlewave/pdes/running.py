"""Runs of a model on the kernel."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .. import _core, memory_needs
from ..kernel import MOST_SEED, RunConfiguration
from ..memory_limits import memory_for
from ..parameters import Parameter, completed, filled

P = TypeVar("P")
T = TypeVar("T")
Progress = Callable[[float], None] | None
"""A function that is called a few times a second with the share of simulated time that is committed."""

MOST_LPS = 2**32 - 2
SEED = Parameter(1, "Seed of the random numbers", least=0, most=MOST_SEED)


@dataclass(frozen=True)
class ModelRun:
    """A run of a model: its table of parameters, their values, the run configuration, and a line that describes it."""

    table: type
    values: Mapping[str, Any]
    configuration: RunConfiguration
    description: str

    def core(self, parameters: P, *parts: object) -> tuple[P, _core.RunConfiguration]:
        """The first two arguments of the core's function: the parameters, filled, and the run configuration.

        `parts`: structs within `parameters` that have fields of the table, too.
        """
        return filled(self.table, self.values, parameters, *parts), self.configuration.core(self.description)


def run_model(
    name: str,
    model: Callable[[ModelRun, Callable[[int], None] | None, _core.Transport | None], T],
    table: type,
    given: Mapping[str, Any],
    end: int,
    progress: Progress,
) -> T:
    """The result of a model, in this process or in several.

    `model` is called with the run, a function for progress, and the transport. `given` has the parameters of `table`
    and the run configuration. `end` is the end of simulated time in ticks of the core. Raises UsageError, InputError,
    MpiError, MemoryLimit.
    """
    values = completed(table, given)
    configuration = RunConfiguration.of(given)

    def share(now: int) -> None:
        if progress is not None:
            progress(min(1.0, now / end) if end > 0 else 1.0)

    run = ModelRun(table, values, configuration, f"{name} {json.dumps(values, sort_keys=True)}")
    shown = None if progress is None else share
    with memory_for(f"running {name} of {_size(values)}", memory_needs.model(name, values, configuration.processes)):
        if configuration.processes > 1:
            from ..processes import run_in_processes

            return run_in_processes(model, (run,), configuration.processes, shown)
        return model(run, shown, None)


def _size(values: Mapping[str, Any]) -> str:
    """The size of a model, for a message."""
    words = {"lps": "LPs", "persons": "persons", "routers": "routers", "hosts": "hosts"}
    return " and ".join(f"{values[name]:,} {word}" for name, word in words.items() if name in values)
