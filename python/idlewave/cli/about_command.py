"""``idlewave about``: what an artefact was made from."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from ..provenance import Provenance
from .terminal import output


@click.command()
@click.argument("artefact", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def about(artefact: Path, as_json: bool) -> None:
    """Say what a file or folder was made from: its provenance, as it carries it.

    Of traces, schedules in GOAL text, timelines in all forms, studies, machines, measurements, signatures, pictures and
    reports. Nothing is checked but that GOAL text is as it was written; `idlewave report` checks what belongs together.
    """
    found = Provenance.read(artefact)
    if found is None:
        raise InputError(f"{artefact}: it does not say what it was made from")
    if as_json:
        click.echo(found.to_json())
        return
    _show(found, 0)


def _show(found: Provenance, depth: int) -> None:
    """Its lines, and below them, indented, those of what it was made from."""
    title = f"[bold]{found.kind}[/]" + (f" {_plain(found.name)}" if found.name else "")
    _print(title, depth)
    made = [f"on {found.host}" if found.host else "", f"at {found.time}" if found.time else ""]
    lines = {
        "made": " ".join(text for text in made if text),
        "by": found.made_by,
        "version": found.version,
        **{str(name): str(value) for name, value in found.options.items()},
        **{f"digest, {part}" if part != "content" else "digest": digest for part, digest in found.digests.items()},
    }
    for name, value in lines.items():
        if value:
            _print(f"{name}: {_plain(value)}", depth + 1)
    for source in found.sources:
        _show(source, depth + 1)


def _print(text: str, depth: int) -> None:
    output.print("  " * depth + text, soft_wrap=True)


def _plain(text: str) -> str:
    """As it stands: without markup, and with control characters escaped."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown.replace("[", "\\[")
