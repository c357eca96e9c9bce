"""What a machine.toml says below its tables of the measurement: the notes, and the self-test by pattern and size."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pandas as pd

from ..fitting.pattern_assessment import variants_of
from .network_recording import NetworkMeasurement

COLUMNS = 118
"""The longest line of a remark, without its mark."""
SELF_TEST = (
    "Self-test: the simulation with these parameters was held against the patterns of messages that were measured. For "
    "each pattern and window, or computation before it, size in bytes and error: simulated over measured time, less 1."
)


def remarks_of(network: NetworkMeasurement, node: NetworkMeasurement | None = None) -> str:
    """Comments for the end of a machine.toml, by table; empty if there is nothing to say."""
    parts = [("network", network)] if node is None else [("network", network), ("network.node", node)]
    lines: list[str] = []
    for table, found in parts:
        said = [*found.notes, *(_self_test(found.patterns.table) if found.patterns is not None else ())]
        if said:
            lines += ["", f"# Notes on [{table}]"]
            lines += [f"# {line}" for sentence in said for line in _wrapped(sentence)]
    return "".join(f"{line}\n" for line in lines)


def _self_test(table: pd.DataFrame) -> Iterator[str]:
    """A row a pattern and window, or length of the computation before an exchange."""
    yield SELF_TEST
    for (pattern, variant), part in table.groupby([table["pattern"], variants_of(table)], sort=False):
        errors = ", ".join(f"{size}:{error:+.0%}" for size, error in zip(part["size"], part["error"], strict=True))
        yield f"{pattern} {variant}  {errors}"


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, COLUMNS, subsequent_indent="    ", break_on_hyphens=False)
