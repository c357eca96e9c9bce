"""The table of the provenance of a report."""

from __future__ import annotations

from dataclasses import dataclass

from idlewave.provenance import Provenance

SHOWN = 12
"""How many digits of a digest are shown; the metadata of the page have all."""


@dataclass(frozen=True)
class ProvenanceRow:
    """A row: the part (indented below what was made from it), its name, when and where it was made, by which command or
    function, and the beginnings of its digests."""

    part: str
    name: str
    made: str
    by: str
    content: str


def provenance_rows(report: Provenance | None) -> list[ProvenanceRow]:
    """A row for the report and for each of its sources, each below what was made from it."""
    return [] if report is None else _rows(report, 0)


def _rows(found: Provenance, depth: int) -> list[ProvenanceRow]:
    digests = found.digests.items()
    row = ProvenanceRow(
        "\u2007" * 2 * depth + found.kind,
        found.name,
        " on ".join(text for text in (found.time.replace("T", " ").removesuffix("+00:00"), found.host) if text),
        found.made_by,
        ", ".join(f"{part} {digest.removeprefix('sha256:')[:SHOWN]}" for part, digest in digests),
    )
    return [row, *(row for source in found.sources for row in _rows(source, depth + 1))]
