"""The latency tolerance as ``idlewave explain`` prints it."""

from __future__ import annotations

from statistics import median

from ..formatting import plain_percent, plain_time
from ..tolerance import LatencyBracket, LatencyTolerance

DIGITS = 4


def tolerance_as_json(found: LatencyTolerance) -> dict[str, object]:
    """The latency tolerance as JSON; the keys are the columns of its data frames."""
    return {
        "brackets": [{"growth": growth} | bracket.columns() for growth, bracket in found.tolerance.items()],
        "curve": {
            "added_ps": found.breakpoints,
            "time_ps": found.times,
            "error_ps": found.errors,
            "error_kind": found.error_kind,
            "held_out_ps": found.held_out,
        },
        "convex": found.convex,
        "simulations": found.simulations,
    }


def tolerance_in_words(found: LatencyTolerance, *, one_sided: bool = False) -> list[str]:
    """Lines of text: by how much the latency may grow, and how exactly that and the curve are known.

    `one_sided`: the machine has a latency of one-sided operations, which stays.
    """
    lines = ["Latency tolerance, where L of one-sided operations stays:" if one_sided else "Latency tolerance:"]
    lines += [f"  {_bears(bracket)} before it takes {100 * g:g} % longer" for g, bracket in found.tolerance.items()]
    return [*lines, f"{found.simulations} simulations. {_curve_in_words(found)}"]


def _bears(bracket: LatencyBracket) -> str:
    if bracket.unlimited:
        return "any latency"
    if bracket.high is None or bracket.estimate is None:
        return f"at least L + {_rounded(bracket.low)}"
    low, high = _rounded(bracket.low), _rounded(bracket.high, up=True)
    if bracket.high == bracket.low + 1 or low == high:
        return f"L + {low}"
    return f"L + {plain_time(bracket.estimate, DIGITS)} (between {low} and {high})"


def _rounded(time: int, *, up: bool = False) -> str:
    """The time with few digits, rounded down, or with `up` rounded up."""
    scale = 10 ** max(0, len(str(time)) - DIGITS)
    return plain_time((time + scale - 1 if up else time) // scale * scale, DIGITS)


def _curve_in_words(found: LatencyTolerance) -> str:
    """How exactly the time is known as a function of the latency."""
    if not found.errors:
        return "They are too few for the time as a function of L."
    curve = f"A curve of {len(found.errors)} {'piece' if len(found.errors) == 1 else 'pieces'} gives the time"
    most = _share(max(found.errors), found.time)
    if found.error_kind == "bound":
        known = f"with an error of at most {most}" if any(found.errors) else "exactly"
        return f"{curve} {known}, as long as nothing happens in another order."
    shape = "may jump as L grows" if found.convex else "is not convex in L"
    warning = f"The time {shape}, and may exceed a limit at some lower L, too."
    half = _share(median(found.errors), found.time)
    n = len(found.held_out)
    if n == 0:
        return f"{warning} {curve}; they are too few to say with which error."
    return (
        f"{warning} {curve} with an error of at most {most}, "
        f"in half of its pieces {half}: an estimate, which holds at {n} of {n + 1} latencies."
    )


def _share(error: float, time: int) -> str:
    return plain_percent(error / time) if time else plain_time(error, 2)
