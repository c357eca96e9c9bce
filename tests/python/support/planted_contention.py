"""Tables of contention that were never measured: probes or counters of which it is known what traffic does to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from idlewave.contention.columns import COLUMNS, COUNTERS, LEVELS

QUIET = {
    **{f"probe.latency_{level}_s": 1e-9 * 4**place for place, level in enumerate(LEVELS)},
    **{f"probe.bandwidth_{level}_Bps": 4e10 / 2**place for place, level in enumerate(LEVELS)},
    **{f"counter.{name}": 1e6 / 2**place for place, name in enumerate(COUNTERS)},
}
"""What each column has without traffic, in the mean."""
PROBES = tuple(name for name in QUIET if name.startswith("probe."))
DRAM = {"probe.latency_dram_s": 4.0, "probe.bandwidth_dram_Bps": -2.0, "probe.latency_l3_s": 1.0}
"""Effects of traffic that reaches the last level of caches, in standard deviations."""


def planted_contention(
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
    for name, quiet in QUIET.items():
        shift = shifts.get(name, 0.0) * traffic
        values = scale * quiet * (1 + scatter * (shift + random.standard_normal(iterations)))
        columns[name] = values if name in measured else np.full(iterations, np.nan)
    return pd.DataFrame(columns)
"""Tables of contention with known slowdowns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from idlewave.contention.columns import COLUMNS, LEVELS, NO_TRAFFIC
from idlewave.contention.victim_run import typed


def contention_table(
    slowdown: Callable[[str, float, int], float],
    *,
    victims: Sequence[str] = ("cg",),
    rates: Sequence[float] = (1e9, 2e9),
    cores: Sequence[int] = (1,),
    pairs: int = 6,
    iterations: int = 20,
    scatter: float = 0.01,
    between_pairs: float = 0.0,
    reached: float = 1.0,
    seed: int = 1,
) -> pd.DataFrame:
    """`slowdown` by victim, rate and cores. `scatter` of an iteration and `between_pairs` are of logarithms. The
    latency of DRAM grows with the time of an iteration under traffic; without traffic it has nothing to do with it."""
    random = np.random.default_rng(seed)
    tables = []
    settings = [
        (victim, rate, number) for victim in victims for rate in rates for number in cores for _ in range(pairs)
    ]
    for pair, (victim, rate, number) in enumerate(settings):
        factor = slowdown(victim, rate, number) * np.exp(random.normal(0, between_pairs))
        for with_traffic in (False, True):
            slowed = factor if with_traffic else 1.0
            seconds = 0.01 * slowed * np.exp(random.normal(0, scatter, iterations))
            linked = seconds / 0.01 if with_traffic else np.exp(random.normal(0, scatter, iterations))
            values = {column.name: np.nan for column in COLUMNS} | {
                "run": 0,
                "pair": pair,
                "second": with_traffic,
                "victim": victim,
                "traffic": "writer" if with_traffic else NO_TRAFFIC,
                "pair_rate_Bps": rate,
                "asked_rate_Bps": rate if with_traffic else 0.0,
                "achieved_rate_Bps": reached * rate if with_traffic else 0.0,
                "pattern": "sequential",
                "stores": "cached",
                "cores": number,
                "buffer_bytes": 1 << 26,
                "iteration": np.arange(iterations),
                "start_ns": 10**9 * (2 * pair + with_traffic) + np.arange(iterations),
                "seconds": seconds,
                "traffic_bytes": reached * rate * seconds if with_traffic else 0.0,
                **{f"probe.latency_{level}_s": 1e-9 * np.exp(random.normal(0, 0.01, iterations)) for level in LEVELS},
                **{f"probe.bandwidth_{level}_Bps": 1e10 + random.normal(0, 1e7, iterations) for level in LEVELS},
                "probe.latency_dram_s": 1e-7 * linked,
            }
            tables.append(pd.DataFrame(values))
    return typed(pd.concat(tables, ignore_index=True))
