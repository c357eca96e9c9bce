"""``idlewave about``: the provenance of a file or folder."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from ..escaping import name_of, printable
from ..provenance import Provenance
from .option_types import as_json, print_json
from .terminal import say


@click.command()
@click.argument("artefact", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@as_json
def about(artefact: Path, as_json: bool) -> None:
    """Show the provenance of a file or folder: what it was made from, and by which command.

    These carry provenance: traces, schedules in GOAL text, timelines, studies, machines, measurements, signatures,
    pictures and reports. Changes of GOAL text, of CSV files and of the rows of a study are noticed; `idlewave report`
    checks which parts belong together.
    """
    found = Provenance.read(artefact)
    if found is None:
        raise InputError(f"{name_of(artefact)}: it has no provenance")
    if as_json:
        print_json(found.as_json())
        return
    for line in lines_about(found):
        say(line)


def lines_about(found: Provenance, indent: str = "") -> list[str]:
    """The lines of a provenance, and below them, indented, the lines of its sources."""
    made = [f"on {found.host}" if found.host else "", f"at {found.time}" if found.time else ""]
    said = {
        "made": " ".join(text for text in made if text),
        "by": found.made_by,
        "version": found.version,
        **{name: str(value) for name, value in found.options.items()},
        **{f"digest, {part}" if part != "content" else "digest": digest for part, digest in found.digests.items()},
    }
    lines = [f"{found.kind} {found.name}".strip(), *(f"  {name}: {value}" for name, value in said.items() if value)]
    below = [line for source in found.sources for line in lines_about(source, "  ")]
    return [indent + printable(line, keep="") for line in [*lines, *below]]
