"""``idlewave-probe NAME OPTIONS``: a probe by itself, to be started by srun or mpiexec on the nodes of a job.

The command line's ``idlewave measure`` starts the probes with mpiexec. Where a batch system starts programs itself,

    srun --ntasks-per-node=1 idlewave-probe detour --output noise/
    srun --nodes=2 --ntasks=2 idlewave-probe loggp --output network/

each task becomes the probe (no process stays between), whose options are its own: ``idlewave-probe loggp --help``.
What links MPI is compiled when it is first needed; ``idlewave-probe --build`` does so on the login node, once.
Beside what the probe writes, ``environment.json`` says where it was measured. ``idlewave noise`` and
``idlewave measure network --from`` read the folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import mpi
from .errors import MeasurementError, UsageError
from .escaping import quote
from .exit_status import run
from .termination_signals import leave_signals, work_begins
from .wait_notices import show_notices

ALONE = ("detour", "ftq", "fwq", "inject", "loggp-local", "contention")
"""Probes that link no MPI: each task measures its own node."""
TOGETHER = ("loggp", "pairs", "patterns", "collectives", "clocks", "one-sided", "contention-mpi")
"""Probes whose tasks are the ranks of one MPI job."""
STARTED = ("epoch", "overtime")
"""Programs that commands start: `idlewave measure network` that of several of these probes, `idlewave measure overtime`
the other."""

_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)
"""Rank and size, in the probes' own order: in an allocation, mpiexec's processes may have Slurm's variables, too."""


@dataclass(frozen=True)
class Task:
    """Which of a launcher's processes this is; rank 0 of 1 where there is no launcher."""

    rank: int
    ranks: int

    @classmethod
    def mine(cls, environment: dict[str, str]) -> Task:
        """As Open MPI, MPICH's Hydra or Slurm say in their variables."""
        for names in _LAUNCHERS:
            rank, ranks = (environment.get(name, "") for name in names)
            if rank.isdigit() and ranks.isdigit():
                return cls(int(rank), int(ranks))
        return cls(0, 1)


def program(name: str) -> tuple[Path, mpi.Mpi | None]:
    """The probe `name`, compiled if need be, and the MPI that it links. Raises UsageError for an unknown name."""
    if name in ALONE:
        return mpi.package_data() / "bin" / f"idlewave-{name}", None
    if name not in TOGETHER:
        raise UsageError(f"there is no probe {quote(name)}: expected one of {', '.join((*ALONE, *TOGETHER))}")
    found = mpi.find()
    return mpi.build(found, name), found


def output_folder(options: Sequence[str]) -> Path | None:
    """The folder that a probe's options name with --output, None if they name none."""
    for i, option in enumerate(options):
        if option == "--output" and i + 1 < len(options):
            return Path(options[i + 1])
        if option.startswith("--output="):
            return Path(option.removeprefix("--output="))
    return None


def main() -> NoReturn:
    """Become the probe that the command line names. Exit status: the probe's own; else as `exit_status` says."""
    run(lambda: become(sys.argv[1:]))


def become(arguments: list[str]) -> NoReturn:
    """Become the probe that `arguments` name, with the options behind its name. Raises what is in the way."""
    show_notices()
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)  # noqa: T201
        print(f"Probes: {', '.join((*ALONE, *TOGETHER))}")  # noqa: T201
        sys.exit(0 if arguments else 2)
    if arguments[0] == "--build":
        work_begins()
        for name in TOGETHER:
            print(program(name)[0])  # noqa: T201
        for name in STARTED:
            print(mpi.build(mpi.find(), name))  # noqa: T201
        sys.exit(0)
    name, options = arguments[0], arguments[1:]
    work_begins()
    path, chosen = program(name)
    folder = output_folder(options)
    if folder is not None:
        _describe(folder, chosen, arguments)
    sys.stdout.flush()
    leave_signals()  # what came between our answer and the probe's would be lost
    try:
        os.execve(path, [str(path), *options], chosen.environment() if chosen else os.environ)
    except OSError as error:
        raise MeasurementError(f"the probe {path} cannot be run: {error.strerror}") from error


def _describe(folder: Path, chosen: mpi.Mpi | None, arguments: list[str]) -> None:
    """Write environment.json: that of an MPI job by its rank 0, of other probes by each task for its own node."""
    from .host_environment import describe_recording
    from .output import write_json
    from .provenance import command_text

    task = Task.mine(dict(os.environ))
    if chosen is not None and task.rank > 0:
        return
    if chosen is None and task.ranks > 1:
        folder = folder / f"{os.uname().nodename}-{task.rank}"
    by = command_text(["idlewave-probe", *arguments])
    write_json(folder / "environment.json", describe_recording(arguments[0], chosen, by=by))
