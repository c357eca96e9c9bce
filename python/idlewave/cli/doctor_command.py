"""``idlewave doctor``: what this machine can and cannot do, and how to mend it."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from ..doctor import State, examine
from .option_types import as_json, print_json
from .terminal import say


@click.command()
@as_json
def doctor(as_json: bool) -> None:
    """Say what this machine can and cannot do for Idlewave, and how to mend it.

    Exit status 1 if something is missing without which a step of the story cannot be done.
    """
    found = examine()
    if as_json:
        print_json({"findings": [asdict(finding) | {"state": finding.state.value} for finding in found]})
    else:
        for finding in found:
            say(f"{finding.state.value:<8} {finding.name}: {finding.found}")
            if finding.remedy:
                say(f"{'':<8} to mend it: {finding.remedy}")
    if any(finding.state is State.MISSING for finding in found):
        sys.exit(1)
