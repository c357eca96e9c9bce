"""PHOLD as the tests of the kernel run it."""

from __future__ import annotations

import subprocess
from typing import Any

import command_runs
from idlewave import pdes

SMALL: dict[str, Any] = {"lps": 300, "end": 8.0, "remote": 0.3}
"""Parameters of a PHOLD that takes no time."""
LONG = ["phold", "--lps", "3e3", "--remote", "0.3", "--json"]
"""Words of the command for one that takes as long as `--end` says."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `idlewave pdes`."""
    return command_runs.run("pdes", *arguments)


def outcome(found: pdes.EventRun) -> tuple[int, int]:
    """What does not depend on how it is run."""
    return found.digest, found.committed
