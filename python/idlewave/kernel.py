"""The configuration of a run on the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

from . import _core
from .errors import UsageError
from .formatting import join_words
from .parameters import Parameter, completed, parameters_of

_TABLE = {scheduler.name: scheduler for scheduler in _core.schedulers()}
"""The kernel's table of schedulers, by name."""
SCHEDULERS = tuple(_TABLE)
PLACEMENTS = (*_core.PlacementKind.__members__, "graph")
MOST_SEED = 2**64 - 1
ONE_LOOP = ("sequential", "yawns")
"""The schedulers that the simulator's own loop is (core/pdes/run.hpp); others need the kernel's partitions."""
BEYOND_ONE_LOOP = tuple(name for name in SCHEDULERS if name not in ONE_LOOP)
MIGRATE_AFTER = 2**20
"""Events a partition, after which LPs migrate if one partition has executed far more events than the others."""


class RunOptions(TypedDict, total=False):
    """How a run is made. The results are the same for every run configuration."""

    scheduler: Annotated[
        str,
        Parameter(
            "sequential",
            "Scheduler: " + join_words([f"{each.name}, {each.description}" for each in _TABLE.values()], "; or ", "; "),
            choices=SCHEDULERS,
        ),
    ]
    threads: Annotated[
        int, Parameter(1, "Threads of each process; a thread simulates one partition of the LPs", least=1, most=1024)
    ]
    processes: Annotated[int, Parameter(1, "Processes, started by mpiexec", least=1, most=2**20)]
    placement: Annotated[
        str | Sequence[int],
        Parameter(
            "block",
            "Placement of LPs on partitions: neighbours together (block), every n-th LP (cyclic), by METIS after a "
            "count of who sends events to whom (graph), or the partition of each LP",
            choices=PLACEMENTS,
        ),
    ]
    pin: Annotated[bool, Parameter(False, "Pin each thread to a processor of its own")]
    lazy: Annotated[
        bool, Parameter(False, "Cancel an event under timewarp only if it is not sent again after a rollback")
    ]
    migrate: Annotated[
        bool, Parameter(False, "Let LPs migrate if one partition executes far more events than the others")
    ]
    checkpoint: Annotated[str | Path | None, Parameter(None, "Directory for checkpoints")]
    checkpoint_every: Annotated[float, Parameter(600.0, "Time between two checkpoints", unit="s", least=0.0)]
    restart: Annotated[bool, Parameter(False, "Begin with the last checkpoint in that directory")]


class SimulationOptions(RunOptions, total=False):
    """How a simulation is run, and with which noise."""

    seed: Annotated[int, Parameter(0, "Seed of the noise", least=0, most=MOST_SEED)]


class RunConfiguration:
    """A run configuration that is complete and possible."""

    def __init__(self, **options: Unpack[RunOptions]) -> None:
        """Options of other tables are left out. Raises UsageError if the configuration is not possible."""
        self.options: dict[str, Any] = completed(RunOptions, options)
        self._migrate_after = MIGRATE_AFTER if self.options["migrate"] or self._by_graph else 0
        self._check()

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> RunConfiguration:
        """The run configuration in the options of a function, which may have others, too. Raises UsageError."""
        return cls(**options)

    @property
    def threads(self) -> int:
        """The threads of each process."""
        return int(self.options["threads"])

    @property
    def processes(self) -> int:
        """The number of processes."""
        return int(self.options["processes"])

    @property
    def in_partitions(self) -> bool:
        """Whether the run needs the kernel's partitions."""
        return bool(self._beyond_one_loop())

    def check_in_one_loop(self, what: str) -> None:
        """Raise UsageError if the run needs the kernel's partitions, which are not able to do `what` yet."""
        found = self._beyond_one_loop()
        if found:
            raise UsageError(
                f"{what} on sequential and yawns in one process, with --scheduler, --threads and the defaults of the "
                f"other options of a run; found {', '.join(found)}"
            )

    def core(self, description: str) -> _core.RunConfiguration:
        """The configuration of the core; `description` names the model and its parameters in one line."""
        options = self.options
        core = _core.RunConfiguration()
        core.scheduler = options["scheduler"]
        core.threads = self.threads
        core.pin = options["pin"]
        core.lazy_cancellation = options["lazy"]
        core.migrate_after = self._migrate_after
        if not isinstance(options["placement"], str):
            core.placement = [int(partition) for partition in options["placement"]]
        elif self._by_graph:
            core.place_by_graph()
        else:
            core.placement_kind = _core.PlacementKind[options["placement"]]
        checkpoint = core.checkpoint
        checkpoint.directory = "" if options["checkpoint"] is None else str(options["checkpoint"])
        checkpoint.description = description
        checkpoint.interval = options["checkpoint_every"]
        checkpoint.restart = options["restart"]
        return core

    @property
    def _by_graph(self) -> bool:
        return isinstance(self.options["placement"], str) and self.options["placement"] == "graph"

    def _beyond_one_loop(self) -> list[str]:
        """The options that only the kernel's partitions can follow, as text."""
        found = []
        if self.options["scheduler"] in BEYOND_ONE_LOOP:
            found.append(f"scheduler {self.options['scheduler']}")
        for name, (_, parameter) in parameters_of(RunOptions).items():
            value = self.options[name]
            if name not in ("scheduler", "threads", "checkpoint_every") and value != parameter.default:
                found.append(name if isinstance(value, bool) or name == "checkpoint" else f"{name} {value}")
        return found

    def _check(self) -> None:
        options = self.options
        scheduler, placement = options["scheduler"], options["placement"]
        for name, text in (("threads", "on one thread, not on"), ("processes", "in one process, not in")):
            if _TABLE[scheduler].one_thread and options[name] != 1:
                preposition = text.split()[0]
                others = join_words([each.name for each in _TABLE.values() if not each.one_thread])
                raise UsageError(f"{scheduler} runs {text} {options[name]}; {others} run {preposition} several")
        if not isinstance(placement, str):
            _check_placement(placement, self.threads * self.processes)
        if self._by_graph:
            from .placing import metis_library

            metis_library()
        if options["lazy"] and not _TABLE[scheduler].rolls_back:
            optimistic = join_words([each.name for each in _TABLE.values() if each.rolls_back], last=" or ")
            raise UsageError(f"lazy cancellation needs the scheduler {optimistic}")
        if options["checkpoint"] is None and options["restart"]:
            raise UsageError("a restart needs the directory in which the checkpoint is")


def _check_placement(placement: Sequence[int], partitions: int) -> None:
    for lp, partition in enumerate(placement):
        if not 0 <= partition < partitions or partition != int(partition):
            raise UsageError(f"the placement puts LP {lp} on partition {partition}, and there are {partitions}")


def checked_seed(seed: int) -> int:
    """The seed. Raises UsageError if it is out of range."""
    return int(completed(SimulationOptions, {"seed": seed})["seed"])
