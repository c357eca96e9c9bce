"""On what machine and with what program a report's figures were made, as captions say it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from idlewave.report.data import ReportData

LONGEST = 60  # characters of a command in a caption


@dataclass(frozen=True)
class Setting:
    """The machine's name, and the traced run's command and ranks; "" and 0 where they are not known."""

    machine: str = ""
    command: str = ""
    ranks: int = 0

    @property
    def place(self) -> str:
        """The measured machine."""
        return self.machine or "the measured machine"

    @property
    def run(self) -> str:
        """The traced program."""
        return run_text(self.command)


def setting_of(data: ReportData) -> Setting:
    """What is known of `data`."""
    name = data.machine.name if data.machine is not None else data.environment.get("host", "")
    if data.program is None:
        return Setting(name)
    return Setting(name, data.program.command, data.program.ranks)


def run_text(command: str) -> str:
    """The traced program with its command, without folders: "the program (mpiexec -n 4 halo2d 2048)"."""
    words = [PurePath(word).name or word for word in command.split()]
    short = " ".join(words)
    short = short if len(short) <= LONGEST else f"{short[:LONGEST]}…"
    return f"the program ({short})" if short else "the program"
