"""What is said of sends in another mode than the standard one."""

from __future__ import annotations

from .formatting import plural


def synchronous_text(sends: int) -> str:
    """How so many synchronous sends are simulated; "" if there are none."""
    if not sends:
        return ""
    what = "is simulated as a standard one, which" if sends == 1 else "are simulated as standard ones, which"
    return f"{plural(sends, 'synchronous send')} (MPI_Ssend) {what} may end before the receive is posted"
