"""The study: what is missing in its folder is simulated and measured, a row at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError
from ...ft_pattern import EXCHANGES, FtCosts
from ...machine import Machine
from ...output import make_folder, write_table
from ...provenance import Provenance
from . import measured
from .losses import LOSS_COLUMNS, MOST_RANKS, loss_of, losses_table
from .rows import COLUMNS, KEY, simulated_row
from .settings import LINKS, PRESET, PRESET_COSTS, PROBLEM, RANKS, Case, Setting, cases
from .transfers import Beside, beside_published

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]
"""Called with what is done next, the number of steps done, and of all."""
TABLE, LOSSES, MEASURED = "study.parquet", "losses.parquet", "measured.parquet"
EXPLAINED = ("two-sided", "put")


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


def ft_study(plan: Plan, folder: str | Path, progress: Progress = lambda *_: None) -> FtStudy:
    """Do what `plan` asks for and the tables in `folder` lack, and return what they then have of it.

    Each row is written when it is there, so that an interrupted study goes on where it was. Rows of other machines,
    problems and costs stay in the tables. Raises UsageError for a problem that so many ranks cannot share, MpiError and
    ProgramError if FT cannot be built or fails, OutputError, and InputError for a table of something else.
    """
    target = make_folder(folder)
    runs = _measure(plan, target, progress)
    costs = None if not len(runs) else measured.costs_of(runs, runs["problem"].iloc[-1], int(runs["ranks"].iloc[-1]))
    settings = plan.settings(costs)
    wanted = cases(settings, plan.problem, list(plan.ranks), list(plan.exchanges), plan.iterations)
    rows = _simulate(wanted, target, progress)
    losses = _explain(plan, settings, target, progress)
    beside = beside_published(plan.preset.machine, max(plan.links))
    return FtStudy(settings, rows, losses, _compare(plan, runs), runs, beside)


def _simulate(wanted: list[Case], folder: Path, progress: Progress) -> pd.DataFrame:
    table = _table(folder / TABLE, COLUMNS)
    missing = _missing(wanted, table)
    for number, case in enumerate(missing):
        progress(f"{case.setting.name}, {case.ranks} ranks, {case.exchange}", number, len(missing))
        table = _with_row(table, simulated_row(case))
        _write(folder / TABLE, table, case)
    return _of_cases(table, wanted)


def _explain(plan: Plan, settings: list[Setting], folder: Path, progress: Progress) -> pd.DataFrame:
    """The losses of two exchanges on every machine with all its links, on as many ranks as can be recorded."""
    ranks = min(*plan.ranks, MOST_RANKS)
    wanted = [
        Case(setting, plan.problem, ranks, exchange, max(setting.links), plan.iterations)
        for setting in settings
        for exchange in EXPLAINED
        if exchange in plan.exchanges
    ]
    table = _table(folder / LOSSES, LOSS_COLUMNS)
    missing = _missing(wanted, table)
    for number, case in enumerate(missing):
        progress(f"{case.setting.name}, critical path of {case.exchange}", number, len(missing))
        table = _with_row(table, loss_of(case))
        _write(folder / LOSSES, table, case)
    return _of_cases(table, wanted) if wanted else losses_table([])


def _measure(plan: Plan, folder: Path, progress: Progress) -> pd.DataFrame:
    """The runs of the program that are asked for."""
    columns = (*measured.MEASURED_KEY, "load", "seconds", *measured.PHASES)
    table = _table(folder / MEASURED, columns)
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


def _keys(table: pd.DataFrame) -> list[tuple[object, ...]]:
    return [tuple(row) for row in table[list(KEY)].itertuples(index=False)]


def _missing(wanted: list[Case], table: pd.DataFrame) -> list[Case]:
    known = set(_keys(table))
    return [case for case in wanted if case.key not in known]


def _of_cases(table: pd.DataFrame, wanted: list[Case]) -> pd.DataFrame:
    """The rows of the cases, in their order."""
    by_key = {key: index for index, key in enumerate(_keys(table))}
    return table.iloc[[by_key[case.key] for case in wanted]].reset_index(drop=True)


def _with_row(table: pd.DataFrame, row: dict[str, object]) -> pd.DataFrame:
    import pandas as pd

    added = pd.DataFrame([row])
    return added if not len(table) else pd.concat([table, added], ignore_index=True)


def _write(file: Path, table: pd.DataFrame, case: Case) -> None:
    made = Provenance.made("study", "ft", by="idlewave.studies.ft", sources=(case.setting.machine.provenance,))
    write_table(file, made.attach(table.copy()))
