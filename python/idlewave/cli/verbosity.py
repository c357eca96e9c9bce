"""What ``idlewave -v`` shows: the package's own log, on the error stream."""

from __future__ import annotations

import logging


def say_what_is_done(*, more: bool) -> None:
    """From now on the modules of the package say what they do; with `more` in detail."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    log = logging.getLogger("idlewave")
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if more else logging.INFO)
