"""The digest of the rows of a study. Its provenance has it, so that rows which were edited since are noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

KEY_COLUMNS = ("ranks", "noise", "seed")
"""The columns that identify a run of a study."""
DIGESTED = (*KEY_COLUMNS, "finish_ps", "messages")
"""The columns that the digest covers. `seconds` is left out, because it differs when the same study runs again."""
ROWS = "rows"
"""The name of the digest in a provenance."""
CASE_ROWS = "case_rows"
"""The name of the digest in the provenance of a study of cases."""
EDITED = "edited"


def digest_of_rows(runs: pd.DataFrame) -> str:
    """The digest of the runs of a study, in any order and file format (docs/provenance.md)."""
    import hashlib

    ordered = runs.sort_values(list(KEY_COLUMNS))
    digest = hashlib.sha256()
    for name in DIGESTED:
        digest.update(f"{name}\n".encode())
        digest.update(ordered[name].to_numpy(dtype="<u8").tobytes())
    return f"sha256:{digest.hexdigest()}"


def digest_of_case_rows(table: pa.Table) -> str:
    """The digest of the rows of a study of cases, in any order: of all columns but `simulation_s`
    (docs/provenance.md)."""
    import hashlib
    import json

    rows = table.drop_columns([name for name in ("simulation_s",) if name in table.column_names]).to_pylist()
    lines = sorted(json.dumps(row, sort_keys=True, separators=(",", ":"), default=str) + "\n" for row in rows)
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def attach_with_rows(provenance: Provenance, runs: pd.DataFrame) -> pd.DataFrame:
    """Attach `provenance` with the digest of the rows to `runs`, and return them."""
    return replace(provenance, digests={**provenance.digests, ROWS: digest_of_rows(runs)}).attach(runs)


def compared_with_rows(provenance: Provenance, runs: pd.DataFrame, name: str) -> Provenance:
    """`provenance`, marked as edited if `runs` do not have the digest in it.

    A study without a name gets the name `name` if it was edited.
    """
    if provenance.digests.get(ROWS) in (None, digest_of_rows(runs)):
        return provenance
    return edited(provenance, name)


def edited(provenance: Provenance, name: str) -> Provenance:
    """`provenance`, marked as edited."""
    return replace(provenance, name=provenance.name or name, options={**provenance.options, EDITED: True})


def is_of_rows(provenance: Provenance | None) -> bool:
    """Whether a provenance from `compared_with_rows` is of exactly these rows, which Idlewave has simulated then."""
    return provenance is not None and ROWS in provenance.digests and not provenance.options.get(EDITED)
