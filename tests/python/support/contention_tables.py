"""Tables of contention with known slowdowns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from idlewave.contention.columns import COLUMNS, LEVELS, NO_TRAFFIC
from idlewave.contention.table import typed


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
