"""PHOLD, the benchmark of the field."""

from __future__ import annotations

from typing import Unpack

from ..errors import UsageError
from ..kernel import EventRun, RunOptions, checked_seed
from .running import MOST_LPS, run_model, whole

UNIT = 1e-6
"""A tick of the kernel, in units of PHOLD's time."""
LONGEST = 2**62 * UNIT


def phold(
    *,
    lps: int = 1024,
    start_events: int = 16,
    remote: float = 0.1,
    mean: float = 0.9,
    lookahead: float = 0.1,
    end: float = 10.0,
    conservative: float = 0.0,
    seed: int = 1,
    **options: Unpack[RunOptions],
) -> EventRun:
    """PHOLD: events that are passed on, each to a random LP with probability `remote`, else to the same one.

    An event takes `lookahead` and an exponential time of that `mean` more, in units of simulated time, of which the
    run lasts `end`; `start_events` are begun by each of `lps` LPs. Under Time Warp a share `conservative` of the LPs
    does nothing before it is certain. `options`: the run configuration, as `kernel.RunConfiguration` says.

    Raises UsageError for what makes no sense, InputError if yawns has no lookahead, MpiError if processes cannot be
    started or one of them dies.
    """
    whole("LPs", lps, MOST_LPS, least=1)
    whole("events at the start of each LP", start_events, 2**20)
    whole("a remote share", remote, 1)
    whole("a conservative share", conservative, 1)
    parameters = {
        "lps": lps,
        "start_events": start_events,
        "remote": remote,
        "conservative": conservative,
        "mean": whole("a mean delay", mean, LONGEST, UNIT),
        "lookahead": whole("a lookahead", lookahead, LONGEST, UNIT),
        "end": whole("an end", end, LONGEST, UNIT),
        "seed": checked_seed(seed),
    }
    if parameters["mean"] == parameters["lookahead"] == 0:
        raise UsageError(f"expected a mean delay or a lookahead of {UNIT:g} or more: else time never passes")
    return EventRun(**run_model("phold", parameters, options, int(parameters["end"]))["run"])
