"""The digest of the rows of a study. Its provenance has it, so that rows which were edited since are noticed."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from ..provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd

KEY_COLUMNS = ("ranks", "noise", "seed")
"""What tells one run of a study from another."""
DIGESTED = (*KEY_COLUMNS, "finish_ps", "messages")
"""What the digest is of: not of `seconds`, which are others whenever the same is computed again."""
ROWS = "rows"
"""The part of a study whose digest it is."""
EDITED = "edited"


def digest_of_rows(runs: pd.DataFrame) -> str:
    """Of a study's runs, in whatever order and form they are (docs/provenance.md)."""
    ordered = runs.sort_values(list(KEY_COLUMNS))
    digest = hashlib.sha256()
    for name in DIGESTED:
        digest.update(f"{name}\n".encode())
        digest.update(ordered[name].to_numpy(dtype="<u8").tobytes())
    return f"sha256:{digest.hexdigest()}"


def attach_with_rows(provenance: Provenance, runs: pd.DataFrame) -> pd.DataFrame:
    """`runs`, which carry `provenance` from now on, and in it the digest of their rows."""
    return replace(provenance, digests={**provenance.digests, ROWS: digest_of_rows(runs)}).attach(runs)


def compared_with_rows(provenance: Provenance, runs: pd.DataFrame, name: str) -> Provenance:
    """`provenance`, which says that it is of an edited study if `runs` are not the rows that it has the digest of.

    `name` is what an edited one is called that has no name."""
    if provenance.digests.get(ROWS) in (None, digest_of_rows(runs)):
        return provenance
    return edited(provenance, name)


def edited(provenance: Provenance, name: str) -> Provenance:
    """`provenance`, of what somebody has edited since."""
    return replace(provenance, name=provenance.name or name, options={**provenance.options, EDITED: True})


def is_of_rows(provenance: Provenance | None) -> bool:
    """Whether it is of the very rows that it was held against: they are what Idlewave simulated."""
    return provenance is not None and ROWS in provenance.digests and not provenance.options.get(EDITED)
