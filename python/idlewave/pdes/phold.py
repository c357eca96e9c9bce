"""PHOLD, the benchmark of the field."""

from __future__ import annotations

from typing import Annotated, TypedDict, Unpack

from .. import _core
from ..errors import UsageError
from ..event_run import EventRun
from ..kernel import RunOptions
from ..parameters import Parameter, takes, ticks
from .running import MOST_LPS, SEED, ModelRun, Progress, run_model

TICK = 1e-6
"""A tick of the kernel, in units of PHOLD's time."""
LONGEST = 2**62 * TICK
UNIT = "units of simulated time"


class PholdParameters(TypedDict, total=False):
    """The parameters of PHOLD; the core's struct is in core/models/phold.hpp."""

    lps: Annotated[int, Parameter(1024, "Number of logical processes (LPs)", least=1, most=MOST_LPS)]
    start_events: Annotated[int, Parameter(16, "Events that each LP starts", least=0, most=2**20)]
    remote: Annotated[float, Parameter(0.1, "Share of events that are sent to a random LP", least=0, most=1)]
    mean: Annotated[
        float, Parameter(0.9, "Mean of the exponential delay", UNIT, least=0, most=LONGEST, to_core=ticks(TICK))
    ]
    lookahead: Annotated[
        float, Parameter(0.1, "Delay that is added to it", UNIT, least=0, most=LONGEST, to_core=ticks(TICK))
    ]
    end: Annotated[float, Parameter(10.0, "Length of the run", UNIT, least=0, most=LONGEST, to_core=ticks(TICK))]
    conservative: Annotated[
        float, Parameter(0.0, "Share of LPs that stay conservative under timewarp", least=0, most=1)
    ]
    seed: Annotated[int, SEED]


class PholdOptions(PholdParameters, RunOptions, total=False):
    """The parameters of PHOLD and the run configuration."""


@takes(PholdOptions)
def phold(*, progress: Progress = None, **given: Unpack[PholdOptions]) -> EventRun:
    """PHOLD: LPs pass events on, each to a random LP with probability `remote`, else to themselves.

    Raises UsageError for values out of range, InputError if yawns has no lookahead, MpiError if processes cannot be
    started or one of them dies.
    """
    to_ticks = ticks(TICK)
    if to_ticks(given["mean"]) == to_ticks(given["lookahead"]) == 0:
        raise UsageError(f"expected a mean delay or a lookahead of {TICK:g} or more: else time never passes")
    return run_model("phold", _run, PholdParameters, given, to_ticks(given["end"]), progress)


def _run(run: ModelRun, progress: object | None, transport: _core.Transport | None) -> EventRun:
    return EventRun.of(_core.phold(*run.core(_core.PholdParameters()), progress, transport))
