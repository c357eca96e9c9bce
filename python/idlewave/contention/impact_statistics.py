"""What a table of contention says of slowdowns, with confidence intervals."""

from __future__ import annotations

import pandas as pd

from ..errors import InputError
from ..formatting import plural
from .defaults import SEED
from .slowdowns import DRAWS, slowdown_of
from .table import complete_pairs, has_traffic
from .traffic import rate_note, reached

KEYS = ["victim", "traffic", "pair_rate_Bps", "pattern", "stores", "cores"]
"""The columns of an impact that say what it is of."""
NO_PAIR = "the table of contention has no pair of runs, without and with traffic"


def impact_table(table: pd.DataFrame, draws: int = DRAWS, seed: int = SEED) -> pd.DataFrame:
    """The slowdown of each setting (`slowdown_of`): KEYS, achieved_rate_Bps, reached, pairs, iterations, quiet_s and
    traffic_s (medians of an iteration), slowdown, and its 95 % confidence interval (low, high).

    Raises InputError if no pair is complete.
    """
    rows = []
    for keys, own in _settings(table):
        traffic = has_traffic(own)
        found = slowdown_of(own, draws, seed)
        achieved = float(own.loc[traffic, "achieved_rate_Bps"].median())
        rows.append(
            {
                **dict(zip(KEYS, keys, strict=True)),
                "achieved_rate_Bps": achieved,
                "reached": reached(float(own["pair_rate_Bps"].iloc[0]), achieved),
                "pairs": len(found.logarithms),
                "iterations": len(own),
                "quiet_s": float(own.loc[~traffic, "seconds"].median()),
                "traffic_s": float(own.loc[traffic, "seconds"].median()),
                "slowdown": found.value,
                "low": found.low,
                "high": found.high,
            }
        )
    if not rows:
        raise InputError(NO_PAIR)
    return pd.DataFrame(rows)


def _settings(table: pd.DataFrame) -> list[tuple[tuple[object, ...], pd.DataFrame]]:
    """The rows of each setting with the values of KEYS, where both runs of a pair have the kind of its traffic."""
    whole = complete_pairs(table)
    kinds = whole[has_traffic(whole)].groupby(["run", "pair"])["traffic"].first().rename("kind")
    joined = whole.join(kinds, on=["run", "pair"])
    keys = ["victim", "kind", *KEYS[2:]]
    return [(tuple(values), own) for values, own in joined.groupby(keys, sort=True)]


def rate_notes(table: pd.DataFrame) -> list[str]:
    """Sentences about rates that were not reached, the lowest of each asked rate."""
    busy = table[has_traffic(table)]
    notes = []
    for (kind, cores, rate), own in busy.groupby(["traffic", "cores", "asked_rate_Bps"]):
        asked = float(str(rate))
        lowest = float(own["achieved_rate_Bps"].min())
        if not reached(asked, lowest):
            where = "on the victim's core" if cores == 0 else f"from {plural(int(str(cores)), 'core')}"
            notes.append(f"Traffic '{kind}' {where}: {rate_note(asked, lowest)}")
    return notes
