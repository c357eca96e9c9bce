"""On what the time of an exchange goes: its critical path and its wait states, from a recorded simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...simulation import simulate
from ...timeline import SPANS
from .rows import KEY, schedule_of
from .settings import Case

if TYPE_CHECKING:
    import pandas as pd

MOST_RANKS = 256
"""Of a recorded simulation: beyond, the rows of all messages take gigabytes."""
WAITS = ("late sender", "late receiver", "wait at collective", "cpu", "nic")


def loss_of(case: Case) -> dict[str, object]:
    """A row of what an exchange loses in an iteration, in the mean: how the critical path divides, s (`SPANS` with _s),
    its steps, of them control messages; and of each wait state how many ops of a rank wait so (`WAITS` with _ops), and
    how long in the mean (with _s). Nonblocking ops wait beside each other and beside computations: their waits do not
    add up.

    All ranks and the whole time are recorded, which the critical path needs.
    """
    machine = case.machine.with_noise(None)
    timeline = simulate(schedule_of(case), machine, record=True)
    path = timeline.critical_path()
    division = {f"{name}_s": ps / 1e12 / case.iterations for name, ps in timeline.path_division().items()}
    waits = timeline.wait_states(("kind",)).groupby("wait_state", observed=True)[["ops", "wait_ps"]].sum()
    control = path["message"].isin(("request to send", "clear to send"))
    return {
        **dict(zip(KEY, case.key, strict=True)),
        "seconds": timeline.max_finish / 1e12 / case.iterations,
        **division,
        "path_steps": len(path) / case.iterations,
        "control_steps": int(control.sum()) / case.iterations,
        "control_s": float((path["to_ps"] - path["from_ps"])[control].sum()) / 1e12 / case.iterations,
        **{f"{name}_ops": float(waits["ops"].get(name, 0)) / case.ranks / case.iterations for name in WAITS},
        **{f"{name}_s": _mean_wait(waits, name) for name in WAITS},
    }


def _mean_wait(waits: pd.DataFrame, name: str) -> float:
    """The wait of an op that waits so, in the mean, s; 0 if none does."""
    ops = waits["ops"].get(name, 0)
    return float(waits["wait_ps"][name]) / 1e12 / ops if ops else 0.0


LOSS_COLUMNS = (
    *KEY,
    "seconds",
    *(f"{name}_s" for name in SPANS),
    "path_steps",
    "control_steps",
    "control_s",
    *(f"{name}_ops" for name in WAITS),
    *(f"{name}_s" for name in WAITS),
)


def losses_table(rows: list[dict[str, object]]) -> pd.DataFrame:
    """The rows as a table, which may have none."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(LOSS_COLUMNS))
