"""The study: what is missing in its folder is simulated and measured, a row at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import memory_needs
from ...errors import InputError
from ...ft_pattern import EXCHANGES, FtCosts, ft_shape
from ...machine import Machine
from ...output import make_folder, write_table
from ...timeline import Recording
from ..case_runner import OnProgress, Running, run_cases
from ..case_study import SIMULATION, CaseStudy, Row
from ..run_study import StudyTable, collect_tables
from . import measured
from .losses import MOST_RANKS, loss_of, losses_table
from .rows import KEY, simulated_row
from .settings import LINKS, PRESET, PRESET_COSTS, PROBLEM, RANKS, Case, FtCase, Setting, cases
from .transfers import Beside, beside_published

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]
"""Called with what is done next, the number of steps done, and of all."""
LOSSES, MEASURED = "losses", "measured.parquet"
"""In the folder of the study: the folder of the losses, which have a table as the rows have; and the runs."""
RANK_OF_FT = 3500
"""Bytes of a simulated rank in FT, at least: 3,700 to 25,000 for class D on 1,024 and 4,096 ranks."""
EXPLAINED = ("two-sided", "put")
_RUNS = (*measured.MEASURED_KEY, "load", "seconds", *measured.PHASES)
"""The columns of the runs."""


@dataclass(frozen=True)
class FtStudy:
    """What the study found: the rows asked for, what exchanges lose, predicted beside measured and the runs (both may
    be empty), and transfers on the preset beside published ones."""

    settings: list[Setting]
    rows: pd.DataFrame
    losses: pd.DataFrame
    compared: pd.DataFrame
    runs: pd.DataFrame
    beside: list[Beside] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """What the study is to hold. `machine` is the measured one, beside the preset; `measure` runs the program, too."""

    machine: Machine | None = None
    costs: FtCosts | None = None
    problem: str = PROBLEM
    ranks: Sequence[int] = RANKS
    links: Sequence[int] = LINKS
    exchanges: Sequence[str] = EXCHANGES
    iterations: int = 1
    measure: bool = False
    mpiexec: str | None = None
    classes: Sequence[str] = measured.CLASSES
    measured_ranks: Sequence[int] = measured.RANKS
    runs: int = measured.RUNS
    preset: Setting = field(default_factory=lambda: Setting(Machine.preset(PRESET), PRESET_COSTS))

    def settings(self, costs: FtCosts | None) -> list[Setting]:
        """The machines; `costs` are those of the measured one, if its program ran."""
        found = [Setting(self.preset.machine, self.preset.costs, tuple(self.links))]
        if self.machine is not None:
            found.append(Setting(self.machine, self.costs or costs or FtCosts()))
        return found


def ft_study(
    plan: Plan, folder: str | Path, progress: Progress = lambda *_: None, running: Running | None = None
) -> FtStudy:
    """Do what `plan` asks for and the tables in `folder` lack, and return what they then have of it.

    Each row is written when it is there, so that an interrupted study goes on where it was. Rows of other machines,
    problems and costs stay in the folder. Raises UsageError for a problem that so many ranks cannot share, MpiError and
    ProgramError if FT cannot be built or fails, and what `run_cases` raises, InputError for a table of an earlier
    version, too.
    """
    target = make_folder(folder)
    runs = _measure(plan, target, progress)
    costs = None if not len(runs) else measured.costs_of(runs, runs["problem"].iloc[-1], int(runs["ranks"].iloc[-1]))
    found = []
    for table, what in zip(ft_tables(plan, costs), ("simulations", "critical paths"), strict=False):
        shown = replace(running or Running(), on_progress=_shown(progress, what))
        found.append(run_cases(table.study, table.cases, target / table.folder, shown))
    return _found_study(plan, costs, found, runs)


def _shown(progress: Progress, what: str) -> OnProgress:
    return lambda now: progress(what, now.done, now.total)


def collect_ft(plan: Plan, folder: Path) -> FtStudy:
    """What the tasks of an array have computed into `folder`. Raises InputError that says which tasks lack rows."""
    found = collect_tables(ft_tables(plan), folder)
    return _found_study(plan, None, found, _no_runs())


def ft_tables(plan: Plan, costs: FtCosts | None = None) -> list[StudyTable[FtCase]]:
    """The tables that `plan` asks for: the rows, and what two exchanges lose on every machine with all its links, on
    as many ranks as can be recorded.

    `costs` are those of the measured machine, if its program ran. Raises UsageError for a problem that so many ranks
    cannot share.
    """
    ranks = min(*plan.ranks, MOST_RANKS)
    explained = [
        Case(setting, plan.problem, ranks, exchange, max(setting.links), plan.iterations)
        for setting in plan.settings(costs)
        for exchange in EXPLAINED
        if exchange in plan.exchanges
    ]
    tables = [StudyTable(FT, ft_cases(plan, costs)), StudyTable(FT_LOSSES, _each_once(explained), LOSSES)]
    return [table for table in tables if table.cases]


def _found_study(plan: Plan, costs: FtCosts | None, tables: list[pd.DataFrame], runs: pd.DataFrame) -> FtStudy:
    """`tables` are those of `ft_tables`."""
    losses = tables[1] if len(tables) > 1 else losses_table([])
    beside = beside_published(plan.preset.machine, max(plan.links))
    return FtStudy(plan.settings(costs), tables[0], losses, _compare(plan, runs), runs, beside)


def ft_row(case: FtCase) -> Row:
    """The row of a case, without the values of the case."""
    return _found(simulated_row(case.case))


def loss_row(case: FtCase) -> Row:
    """What the exchange of a case loses, without the values of the case."""
    return _found(loss_of(case.case))


def ft_memory(case: FtCase) -> int:
    """A lower bound of the memory of a simulation, bytes."""
    return RANK_OF_FT * case.ranks


def loss_memory(case: FtCase) -> int:
    """The same of one that is recorded: of each slab at least a message to each other rank of its team."""
    shape = ft_shape(case.problem, case.ranks)
    messages = case.ranks * (shape.lines * (shape.tz - 1) + shape.planes * (shape.ty - 1)) * case.iterations
    return memory_needs.recorded(case.ranks, messages, Recording().most_bytes)


FT = CaseStudy("ft", 1, ft_row, memory=ft_memory)
FT_LOSSES = CaseStudy("ft-losses", 1, loss_row, memory=loss_memory)
"""The studies of cases that it is made of, beside the runs of the program."""


def _found(row: dict[str, Any]) -> Row:
    return {name: value for name, value in row.items() if name not in KEY and name != SIMULATION}


def ft_cases(plan: Plan, costs: FtCosts | None = None) -> list[FtCase]:
    """The rows that `plan` asks for; `costs` are those of the measured machine, if its program ran.

    Raises UsageError for a problem that so many ranks cannot share.
    """
    wanted = cases(plan.settings(costs), plan.problem, list(plan.ranks), list(plan.exchanges), plan.iterations)
    for case in wanted:
        ft_shape(case.problem, case.ranks)
    return _each_once(wanted)


def _each_once(wanted: list[Case]) -> list[FtCase]:
    """The cases as plain values, each once: the measured machine may be the preset, too."""
    return [*{FT.digest(case): case for case in map(FtCase.of, wanted)}.values()]


def _measure(plan: Plan, folder: Path, progress: Progress) -> pd.DataFrame:
    """The runs of the program that are asked for."""
    table = _table(folder / MEASURED, _RUNS)
    if not plan.measure:
        return table.iloc[:0]
    program = measured.Program.built(plan.mpiexec)
    exchanges = [*plan.exchanges, *({measured.REFERENCE} - {*plan.exchanges})]
    own = table[table["mpi"] == program.mpi]
    keys = [tuple(row) for row in own[list(measured.MEASURED_KEY[1:])].itertuples(index=False)]
    missing = measured.runs_to_make(keys, plan.classes, plan.measured_ranks, exchanges, plan.runs)
    for number, key in enumerate(missing):
        progress("FT class {}, {} ranks, {}, run {}".format(*key), number, len(missing))
        table = _with_row(table, program.row(*key))
        write_table(folder / MEASURED, table)
    chosen = (table["mpi"] == program.mpi) & table["problem"].isin(plan.classes) & (table["run"] < plan.runs)
    wanted = table["ranks"].isin(plan.measured_ranks) & table["exchange"].isin(exchanges)
    return table[chosen & wanted].reset_index(drop=True)


def _no_runs() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=list(_RUNS))


def _compare(plan: Plan, runs: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    if not len(runs) or plan.machine is None:
        return pd.DataFrame()
    return measured.comparison(runs, plan.machine)


def _table(file: Path, columns: Sequence[str]) -> pd.DataFrame:
    """The table of an earlier study, or one without rows. Raises InputError."""
    import pandas as pd

    if not file.exists():
        return pd.DataFrame(columns=list(columns))
    try:
        table = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: expected a table of `idlewave study ft`: {error}") from None
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise InputError(f"{file}: expected a table of `idlewave study ft`, found no column {lacking[0]}")
    return table


def _with_row(table: pd.DataFrame, row: dict[str, object]) -> pd.DataFrame:
    import pandas as pd

    added = pd.DataFrame([row])
    return added if not len(table) else pd.concat([table, added], ignore_index=True)
