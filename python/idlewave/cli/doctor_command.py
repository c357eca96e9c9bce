"""``idlewave doctor``: check this machine, and say how to repair what is missing."""

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
    """Check what this machine can do for Idlewave, and say how to repair what is missing.

    The exit status is 1 if something is missing that a step from measuring to the report needs.
    """
    found = examine()
    if as_json:
        print_json({"findings": [asdict(finding) | {"state": finding.state.value} for finding in found]})
    else:
        for finding in found:
            say(f"{finding.state.value:<8} {finding.name}: {finding.found}")
            if finding.remedy:
                say(f"{'':<8} to repair it: {finding.remedy}")
    if any(finding.state is State.MISSING for finding in found):
        sys.exit(1)
