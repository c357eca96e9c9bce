"""``idlewave-python NAME ARGUMENTS``: the entry point that the programs `idlewave` and `idlewave-probe` start
(python/programs/launch.cpp).

No large module is loaded before signals are handled.
"""

from __future__ import annotations

import sys
from typing import NoReturn

from .errors import UsageError
from .exit_status import run


def main() -> NoReturn:
    """Run the program that the first argument names."""
    run(_program)


def _program() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in ("idlewave", "idlewave-probe"):
        raise UsageError("idlewave-python is started by idlewave and idlewave-probe: call one of these")
    sys.argv[:2] = [name]
    if name == "idlewave":
        from .cli import commands

        commands()
    else:
        from .probe import become

        become(sys.argv[1:])
