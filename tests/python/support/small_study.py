"""A study of small cases that says which rows it computed, for tests of what is common to studies."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from idlewave import Machine
from idlewave.report.study_page import StudyPage
from idlewave.studies.case_study import CaseStudy, Row
from idlewave.studies.stopping import check_stop


@dataclass(frozen=True)
class SmallCase:
    """Its row is the square of `number`; each computation adds a line to the file `log`.

    `trouble`: "raise" fails, "kill" ends the worker, "wait" waits until the study is stopped; as long as the file
    LOG-trouble exists.
    """

    number: int
    log: str
    machine: Machine
    trouble: str = ""
    sleep_s: float = 0.0


def square(case: SmallCase) -> Row:
    time.sleep(case.sleep_s)
    if case.trouble and Path(f"{case.log}-trouble").exists():
        if case.trouble == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        while case.trouble == "wait":
            check_stop()
            time.sleep(0.01)
        raise ValueError("it is in trouble")
    with Path(case.log).open("a") as log:
        log.write(f"{case.number}\n")
    return {"square": case.number**2, "root": case.number**0.5}


def small_page(table: pd.DataFrame) -> StudyPage:
    return StudyPage("Squares", "Numbers.", [("squares", str(len(table)))], [], [], [])


SMALL = CaseStudy("small", 1, square, small_page)


def small_cases(folder: Path, count: int, trouble: dict[int, str] | None = None, sleep_s: float = 0) -> list[SmallCase]:
    """Cases whose log is in `folder`; `trouble` by the number of the case."""
    machine = Machine.preset("odin")
    log = str(folder / "computed")
    return [SmallCase(number, log, machine, (trouble or {}).get(number, ""), sleep_s) for number in range(count)]


def computed(folder: Path) -> list[int]:
    """The numbers of the rows that were computed, in that order."""
    log = folder / "computed"
    return [int(line) for line in log.read_text().split()] if log.exists() else []
