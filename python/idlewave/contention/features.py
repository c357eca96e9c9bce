"""What a detector of traffic sees of an iteration: three feature sets, one for each level of caches.

An iteration is a row of the table of contention (`columns`). Of each column there is the value itself and its ratio to
the quiet baseline: the median of that column in iterations of the same victim without traffic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from ..errors import InputError
from ..escaping import quote
from ..formatting import join_words
from .columns import MEMORY_BYTES
from .table import has_traffic

if TYPE_CHECKING:
    import numpy.typing as npt

Source = Literal["counter", "probe"]

LEVELS_OF_SETS: dict[str, tuple[str, ...]] = {"l1": ("l1",), "l2": ("l2",), "l3": ("l3", "dram")}
"""The levels of memory that each feature set looks at."""
SETS = tuple(LEVELS_OF_SETS)
CYCLES = "counter.cycles"
RATIO = " / quiet"
PER_CYCLE = " per cycle"


@dataclass(frozen=True)
class FeatureSets:
    """The columns of each feature set, and whether they are counters or probes.

    A set has counters of its level if most iterations have misses of it; else the probes of its level. The last one has
    the bytes that the memory controllers moved beside the misses, where they are known.
    """

    columns: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, Source]

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The columns of all sets, each once."""
        return tuple(dict.fromkeys(column for columns in self.columns.values() for column in columns))


def feature_sets(table: pd.DataFrame, by: Source | None = None) -> FeatureSets:
    """The feature sets that the table has values for: of counters where there are some, else of probes; or `by` one of
    them alone. Raises InputError if a level has none."""
    columns: dict[str, tuple[str, ...]] = {}
    sources: dict[str, Source] = {}
    for name, levels in LEVELS_OF_SETS.items():
        for source, wanted in _candidates(levels):
            found = _measured(table, wanted)
            if set(found) - {MEMORY_BYTES} and by in (None, source):
                columns[name], sources[name] = found, source
                break
        else:
            raise InputError(
                f"features: expected {'counters or probes' if by is None else f'{by}s'} of "
                f"{join_words(list(levels), ' or ')} in the table, found no values"
            )
    return FeatureSets(columns, sources)


def _candidates(levels: Sequence[str]) -> Iterable[tuple[Source, tuple[str, ...]]]:
    yield "counter", tuple(MEMORY_BYTES if level == "dram" else f"counter.{level}_misses" for level in levels)
    yield (
        "probe",
        tuple(f"probe.{kind.format(level)}" for level in levels for kind in ("latency_{}_s", "bandwidth_{}_Bps")),
    )


def _measured(table: pd.DataFrame, wanted: Iterable[str]) -> tuple[str, ...]:
    """Those of the columns that have a value in most iterations."""
    return tuple(name for name in wanted if name in table and np.isfinite(table[name]).mean() > 0.5)


def complete(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The iterations that have a value in each of these columns."""
    used = [*columns, CYCLES] if _per_cycle(table, columns) else [*columns]
    whole: npt.NDArray[np.bool_] = np.isfinite(table[used].to_numpy(dtype=float)).all(axis=1)
    return table.loc[whole]


Baselines = Mapping[str, Mapping[str, float]]
"""By victim the median of each column in its quiet iterations; under "" that of all of them together."""


def quiet_baselines(table: pd.DataFrame, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """The baselines of all victims, and under "" that of all quiet iterations. Raises InputError if there are none."""
    quiet = table[~has_traffic(table)]
    if quiet.empty:
        raise InputError("expected iterations without traffic, whose median is the quiet baseline, found none")
    found = {"": _medians(quiet, columns)}
    for victim, own in quiet.groupby("victim", sort=False):
        found[str(victim)] = _medians(own, columns)
    return found


def _medians(quiet: pd.DataFrame, columns: Sequence[str]) -> dict[str, float]:
    return {column: float(np.nanmedian(quiet[column])) for column in columns}


def features(
    table: pd.DataFrame, columns: Sequence[str], baseline: Mapping[str, float], *, values: bool = True
) -> pd.DataFrame:
    """The features of each iteration, against a baseline of all of them.

    `values`: with the values themselves, which differ from victim to victim; else their ratios alone. Counters grow
    with the length of an iteration, so that there are also misses per cycle where the table has cycles.
    """
    found: dict[str, npt.NDArray[np.float64]] = {}
    for column in columns:
        own = table[column].to_numpy(dtype=np.float64)
        if values:
            found[column] = own
        found[column + RATIO] = _ratio(own, baseline[column])
        if values and column.startswith("counter.") and _per_cycle(table, columns):
            found[column + PER_CYCLE] = own / np.maximum(table[CYCLES].to_numpy(dtype=np.float64), 1.0)
    return pd.DataFrame(found, index=table.index)


def features_by_victim(table: pd.DataFrame, columns: Sequence[str], baselines: Baselines) -> pd.DataFrame:
    """The ratios of each iteration to the quiet baseline of its own victim."""
    tables = [
        features(own, columns, baselines[str(victim)], values=False)
        for victim, own in table.groupby("victim", sort=False)
    ]
    return pd.concat(tables).loc[table.index]


def column_of(feature: str) -> str:
    """The column that a feature is made of."""
    return feature.removesuffix(RATIO).removesuffix(PER_CYCLE)


def _ratio(values: npt.NDArray[np.float64], baseline: float) -> npt.NDArray[np.float64]:
    """A counter that does not count without traffic has no ratio: 1 is added to both."""
    return values / baseline if baseline > 0 else values + 1.0


def _per_cycle(table: pd.DataFrame, columns: Sequence[str]) -> bool:
    return any(column.startswith("counter.") for column in columns) and bool(_measured(table, (CYCLES,)))


def check_labels(table: pd.DataFrame, name: str) -> None:
    """Raise InputError unless there are iterations with traffic and without."""
    traffic = has_traffic(table)
    for wanted, words in ((traffic, "with traffic"), (~traffic, "without traffic")):
        if not wanted.any():
            raise InputError(f"{quote(name)}: expected iterations with traffic and without, found none {words}")
