"""Tables of contention that were never measured: probes or counters of which it is known what traffic does to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from idlewave.contention.columns import COLUMNS, COUNTERS, LEVELS, MEMORY_BYTES

QUIET = {
    **{f"probe.latency_{level}_s": 1e-9 * 4**place for place, level in enumerate(LEVELS)},
    **{f"probe.bandwidth_{level}_Bps": 4e10 / 2**place for place, level in enumerate(LEVELS)},
    **{f"counter.{name}": 1e6 / 2**place for place, name in enumerate(COUNTERS)},
    MEMORY_BYTES: 64e6,
}
"""What each column has without traffic, in the mean."""
PROBES = tuple(name for name in QUIET if name.startswith("probe."))
DRAM = {"probe.latency_dram_s": 4.0, "probe.bandwidth_dram_Bps": -2.0, "probe.latency_l3_s": 1.0}
"""Effects of traffic that reaches the last level of caches, in standard deviations."""


def contention_table(
    effects: Mapping[str, Mapping[str, float]],
    *,
    slowdown: Mapping[str, float] | None = None,
    pairs: int = 12,
    iterations: int = 10,
    seed: int = 1,
    scatter: float = 0.05,
    run_scatter: float = 0.0,
    measured: tuple[str, ...] = PROBES,
    rate: float = 1e9,
) -> pd.DataFrame:
    """A table with `pairs` pairs of runs of each victim.

    `effects`: by victim and column by how many standard deviations traffic shifts it. `slowdown`: by victim the share
    by which its time grows. `scatter`: the standard deviation of every value, relative; `run_scatter`: that of what all
    intervals of a run share.
    """
    random = np.random.default_rng(seed)
    tables = []
    number = 0
    for place, (victim, shifts) in enumerate(effects.items()):
        for _ in range(pairs):
            order = random.permutation([False, True])
            for second, traffic in enumerate(order):
                rows = _run(random, shifts, traffic, iterations, scatter, measured, scale=1 + place)
                slow = 1 + (slowdown or {}).get(victim, 0.0) * traffic
                common = 1 + run_scatter * random.standard_normal()
                rows["seconds"] = 1e-3 * slow * common * (1 + scatter * random.standard_normal(iterations).clip(-3, 3))
                tables.append(
                    rows.assign(
                        run=0,
                        pair=number,
                        second=bool(second),
                        victim=victim,
                        traffic="writer" if traffic else "none",
                        pair_rate_Bps=rate,
                        asked_rate_Bps=rate * traffic,
                        achieved_rate_Bps=rate * traffic,
                        pattern="sequential",
                        stores="cached",
                        cores=1,
                        buffer_bytes=1 << 26,
                        iteration=np.arange(iterations),
                        start_ns=10**18 + 10**9 * (2 * number + second) + 10**6 * np.arange(iterations),
                        traffic_bytes=1e6 * traffic,
                    )
                )
            number += 1
    return pd.concat(tables, ignore_index=True)[[column.name for column in COLUMNS]]


def _run(
    random: np.random.Generator,
    shifts: Mapping[str, float],
    traffic: bool,
    iterations: int,
    scatter: float,
    measured: tuple[str, ...],
    scale: float,
) -> pd.DataFrame:
    """The columns of a run of `iterations` intervals, `scale` times as large as `QUIET`."""
    columns = {}
    of_the_machine = random.spawn(1)[0]  # so that the other columns have the same draws as without it
    for name, quiet in QUIET.items():
        draws = of_the_machine if name == MEMORY_BYTES else random
        shift = shifts.get(name, 0.0) * traffic
        values = scale * quiet * (1 + scatter * (shift + draws.standard_normal(iterations)))
        columns[name] = values if name in measured else np.full(iterations, np.nan)
    return pd.DataFrame(columns)
