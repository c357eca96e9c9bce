"""The table of contention as a data frame: how its columns are checked, and which rows and pairs of runs it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from ..digests import digest_of_table
from ..errors import InputError, UsageError
from ..formatting import join_words, unknown_name
from ..input.tables import Column as ColumnSchema
from ..input.tables import Schema
from .columns import COLUMNS, NO_TRAFFIC, SAMPLED, Column

if TYPE_CHECKING:
    import numpy.typing as npt

_KINDS: Mapping[str, Literal["whole", "number", "flag", "text"]] = {
    "int32": "whole",
    "int64": "whole",
    "float64": "number",
    "bool": "flag",
    "string": "text",
}


LEAST_SECONDS = 1e-12
"""A picosecond: an iteration takes some time."""


def schema_of(columns: Sequence[Column] = COLUMNS) -> Schema:
    """How columns of the table are checked when they are read."""
    return {
        column.name: ColumnSchema(
            _KINDS[column.type],
            LEAST_SECONDS if column.name == "seconds" else None,
            optional=column in SAMPLED,
            nullable=column in SAMPLED,
        )
        for column in columns
    }


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """The table with all columns in their order and of their types; those that it may lack are NaN."""
    types = {column.name: np.dtype(column.type) for column in COLUMNS if column.type != "string"}
    lacking = {column.name: np.nan for column in SAMPLED if column.name not in table}
    whole: pd.DataFrame = table.assign(**lacking)[[column.name for column in COLUMNS]].astype(types)
    return whole


def digest_of_measured(table: pd.DataFrame) -> str:
    """The digest of the columns of the table that have values."""
    return digest_of_table(table.dropna(axis=1, how="all"))


def has_traffic(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """For each row whether there was traffic: what a detector is to find out."""
    return np.asarray(table["traffic"] != NO_TRAFFIC)


def pairs_of(table: pd.DataFrame) -> npt.NDArray[np.int64]:
    """A number for the pair of runs that each row belongs to.

    Iterations of a pair are neighbours in time and resemble each other, so pairs are what is left out, drawn and
    permuted, not iterations.
    """
    return np.asarray(table.groupby(["run", "pair", "victim"], sort=False).ngroup(), dtype=np.int64)


def complete_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of pairs that have both runs, from one start of the measurement. Raises InputError for a time that is
    none."""
    check_seconds(table)
    both = pd.Series(has_traffic(table)).groupby(pairs_of(table)).transform("nunique")
    whole: pd.DataFrame = table[both.to_numpy() == 2]
    return whole


def check_seconds(table: pd.DataFrame) -> None:
    """Raise InputError unless each iteration took some time, and it is known which."""
    seconds = table["seconds"].to_numpy(dtype=np.float64)
    wrong = seconds[~((seconds >= LEAST_SECONDS) & np.isfinite(seconds))]
    if len(wrong):
        raise InputError(f"the table of contention: seconds: expected times above 0, found {wrong[0]}")


def victims_of(table: pd.DataFrame) -> list[str]:
    """The victims in the order of the table."""
    return [str(victim) for victim in table["victim"].unique()]


def chosen_victim(table: pd.DataFrame, victim: str | None) -> str:
    """A victim of the table; without a name the only one. Raises UsageError that lists those that are there."""
    victims = victims_of(table)
    if victim is None and len(victims) == 1:
        return victims[0]
    if victim is None:
        raise UsageError(f"expected a victim to be chosen of {join_words(victims)}")
    if victim not in victims:
        raise UsageError(unknown_name("victim of this table", victim, victims))
    return victim
