"""All that is found in a table of contention, each part computed when it is first needed.

>>> found = read_analysis("impact", remedy="remedy")
>>> found.impact[["victim", "slowdown", "low", "high"]]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..digests import digest_of_file
from ..errors import InputError, LibraryError
from ..escaping import name_of
from ..provenance import Provenance
from .columns import counts_of_victim
from .evaluation import Evaluation, learn, suffering
from .features import complete
from .impact_statistics import correlation_table, impact_table, rate_notes, sampled_columns
from .remedies import Remedies, remedies_of
from .table import complete_pairs, pairs_of, victims_of
from .table_folder import read_contention, read_settings

if TYPE_CHECKING:
    from .forest import Detector, ForestSettings

NO_COUNTERS = "The processor's counters could not be read: latency and bandwidth of memory were sampled in their place."
NOTHING_SAMPLED = "Neither the processor's counters nor latency and bandwidth of memory were sampled."


@dataclass(frozen=True)
class KnownDetector:
    """A model that `idlewave contention learn` wrote, the name of its file, and its provenance."""

    name: str
    detector: Detector
    provenance: Provenance


@dataclass(frozen=True, eq=False)
class ContentionAnalysis:
    """What a table of contention says.

    `environment` says where it was measured. `remedy` is a table for the comparison of remedies; without it the table
    itself is, if it has traffic on the victim's core and on another. `evaluation` is of forests that were trained on
    the table, `known` a model that was trained before. `missing` says why there is neither.
    """

    name: str
    table: pd.DataFrame
    environment: Mapping[str, Any] = field(default_factory=dict)
    remedy: ContentionAnalysis | None = None
    evaluation: Evaluation | None = None
    known: KnownDetector | None = None
    missing: str = ""

    @cached_property
    def impact(self) -> pd.DataFrame:
        """See `impact_statistics.impact_table`."""
        return impact_table(self.table)

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """See `impact_statistics.correlation_table`; without rows where neither counters nor probes have values."""
        if not sampled_columns(complete_pairs(self.table)):
            return pd.DataFrame(columns=["traffic", "metric", "column", "correlation", "low", "high", "rows"])
        return correlation_table(self.table)

    @cached_property
    def suffering(self) -> pd.DataFrame:
        """See `evaluation.suffering`."""
        return suffering(complete_pairs(self.table))

    @cached_property
    def remedies(self) -> list[Remedies]:
        """The remedies for each victim with traffic on its own core and on one other."""
        source = self.remedy or self
        whole = complete_pairs(source.table)
        found = []
        for victim in victims_of(whole):
            cores = source.node_cores
            if cores >= 2 and {0, 1} <= set(whole.loc[whole["victim"] == victim, "cores"]):
                found.append(remedies_of(source.table, victim, node_cores=cores))
        return found

    @property
    def node_cores(self) -> int:
        """The cores that the measurement could use; 0 where that is not known."""
        usable = self.environment.get("affinity")
        return len(usable) if isinstance(usable, list) else 0

    @property
    def notes(self) -> list[str]:
        """Sentences on what was not reached, measured or trained."""
        notes = rate_notes(self.table)
        sampled = sampled_columns(self.table)
        if not any(counts_of_victim(name) for name in sampled):
            notes.append(NO_COUNTERS if sampled else NOTHING_SAMPLED)
        source = self.remedy or self
        if self.remedy is not None:
            notes += [f"{self.remedy.name}: {note}" for note in rate_notes(self.remedy.table)]
        if not self.remedies and (self.remedy is not None or 0 in set(self.table["cores"])):
            notes.append(_no_remedies(source))
        if self.evaluation is not None:
            notes += [f"{note[:1].upper()}{note[1:]}." for note in self.evaluation.notes]
        return notes


def _no_remedies(source: ContentionAnalysis) -> str:
    why = (
        "no victim has traffic both on its own core (--cores 0) and on one other (--cores 1)"
        if source.node_cores >= 2
        else f"of {source.name} is not known that the node has two usable cores, of which one could be reserved"
    )
    return f"Remedies are not compared: {why}."


def read_analysis(
    folder: str | Path,
    *,
    remedy: str | Path | None = None,
    detector: str | Path | None = None,
    train: bool = True,
    settings: ForestSettings | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ContentionAnalysis:
    """Read the table in the folder of `idlewave contention measure`, and that of `idlewave contention remedy`.

    `detector` is the file of a model; without one forests of these `settings` are trained on the table, if `train`:
    `progress` is called with what is done next. Where scikit-learn is not installed, or the table is too short, the
    analysis says so and has no detector. Raises InputError.
    """
    found = _read(folder)
    if remedy is not None:
        found = replace(found, remedy=_read(remedy))
    if detector is None:
        return with_forests(found, settings, progress) if train else found
    try:
        return replace(found, known=_known(Path(detector)))
    except LibraryError as error:
        return replace(found, missing=str(error))


def _known(file: Path) -> KnownDetector:
    """Raises LibraryError, InputError."""
    from .forest import Detector

    model = Detector.load(file)
    provenance = Provenance("recording", name_of(file), {"content": digest_of_file(file)})
    return KnownDetector(name_of(file), model, provenance)


def with_forests(
    found: ContentionAnalysis,
    settings: ForestSettings | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ContentionAnalysis:
    """The same with forests that are trained on the table, or with the reason why there are none."""
    try:
        _, evaluation = learn(found.table, settings, progress=progress)
    except (InputError, LibraryError) as error:
        return replace(found, missing=str(error))
    return replace(found, evaluation=evaluation)


def _read(folder: str | Path) -> ContentionAnalysis:
    name = name_of(folder)
    table = read_contention(folder)
    if complete_pairs(table).empty:
        raise InputError(f"{name}: expected at least one pair of runs, without and with traffic, found none")
    environment = read_settings(folder).said.get("environment")
    return ContentionAnalysis(name, table, environment if isinstance(environment, dict) else {})


def same_table(found: ContentionAnalysis, known: Detector) -> bool:
    """Whether a model may have been trained on this table: the same victims, as many pairs and iterations."""
    columns = known.all_columns
    if not set(columns) <= set(found.table.columns):
        return False
    whole = complete(found.table, columns)
    own = (victims_of(whole), len(set(pairs_of(whole).tolist())), len(whole))
    return own == tuple(known.trained_on.get(name) for name in ("victims", "pairs", "iterations"))
