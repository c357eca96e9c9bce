"""Write the reference of all commands in docs/command-line.md: ``python scripts/command_reference.py [PAGE]``.

The part of the page above the line MARK does not change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from idlewave.cli import cli
from idlewave.cli.named_studies import NAMED, named_study
from idlewave.cli.trace_command import build_tracer

PAGE = Path(__file__).resolve().parents[1] / "docs/command-line.md"
MARK = "<!-- From here on the page is made by scripts/command_reference.py; tests compare. -->\n"
BY_ARGUMENTS = {"trace": [build_tracer], "study": [named_study(name) for name in NAMED]}
"""Commands that the arguments of another one name: beside groups, whose commands are all listed."""


def page(text: str) -> str:
    """The text of the page with the reference of the current commands."""
    head, mark, _ = text.partition(MARK)
    if not mark:
        sys.exit(f"expected the line {MARK.strip()}")
    return f"{head}{MARK}\n## Reference\n\n{''.join(_sections(cli, click.Context(cli, info_name='idlewave')))}"


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """The section of a command, and those of its commands."""
    if context.parent is not None:
        arguments = [] if isinstance(command, click.Group) else command.collect_usage_pieces(context)[1:]
        usage = " ".join([context.command_path, *arguments])
        yield f"### `{usage}`\n\n{_paragraphs(command.help or '')}\n\n{_options(command, context)}"
        for named in BY_ARGUMENTS.get(command.name or "", []):
            name = f"{context.info_name} {named.name}"
            yield from _sections(named, click.Context(named, info_name=name, parent=context.parent))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _sections(child, click.Context(child, info_name=name, parent=context))


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _options(command: click.Command, context: click.Context) -> str:
    """A table of the options without --help."""
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [record for record in records if record is not None and not record[0].startswith(("-h", "--help"))]
    if not rows:
        return ""
    lines = [f"| `{_cell(names)}` | {_cell(text)} |" for names, text in rows]
    return "\n".join(["| option | meaning |", "|---|---|", *lines]) + "\n\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.write_text(page(PAGE.read_text(encoding="utf-8")).rstrip("\n") + "\n", encoding="utf-8")
