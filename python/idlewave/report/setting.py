"""What captions say beside the numbers: the machine, the program, the noise and the networks of the figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..machine import Scope
    from .parts import Report

LONGEST = 60
"""Characters of a command in a caption."""


@dataclass(frozen=True)
class Setting:
    """The machine's name, and the traced run's command and ranks; "" and 0 where they are not known.

    `noise` is the noise of the study, as the subject of a sentence. `scope` has the networks between its ranks, None
    where that is not known.
    """

    machine: str = ""
    command: str = ""
    ranks: int = 0
    noise: str = "noise"
    scope: Scope | None = None

    @property
    def place(self) -> str:
        """The measured machine."""
        return self.machine or "the measured machine"

    @property
    def run(self) -> str:
        """The traced program."""
        return run_text(self.command)


def setting_of(report: Report) -> Setting:
    """The setting of all figures of a report."""
    machine = "" if report.measurement is None else report.measurement.name
    ranks = 0 if report.trace is None else report.trace.ranks
    return Setting(machine, report.command, ranks, report.consistency.noise, report.scope)


def run_text(command: str) -> str:
    """The traced program with its command, without folders: "the program (mpiexec -n 4 halo2d 2048)"."""
    words = [PurePath(word).name or word for word in command.split()]
    short = " ".join(words)
    short = short if len(short) <= LONGEST else f"{short[:LONGEST]}…"
    return f"the program ({short})" if short else "the program"
