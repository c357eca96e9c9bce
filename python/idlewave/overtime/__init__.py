"""Performance over time: what a recording of `idlewave measure overtime` says of a network's variability.

>>> found = Analysis(read_overtime("overtime"))
>>> found.levels[["test", "start_ns", "seconds", "level"]]
>>> check_allocation("latency<3us", measure_allocation("latency<3us"), [found.recording]).fit

The modules are loaded at the first use of what they have: the statistics take a second to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from ..measure.overtime import OvertimeRecording, read_overtime
    from .allocation import Verdict, check_allocation
    from .analysis import Analysis
    from .brief_measurement import measure_allocation
    from .changes import change_points, drift, levels, stability, summary
    from .correlation import correlations
    from .findings import overtime_findings
    from .needs import Need, parse_needs
    from .prediction import errors, predictions
    from .series import Series, series_of

__all__ = [
    "Analysis",
    "Need",
    "OvertimeRecording",
    "Series",
    "Verdict",
    "change_points",
    "check_allocation",
    "correlations",
    "drift",
    "errors",
    "levels",
    "measure_allocation",
    "overtime_findings",
    "parse_needs",
    "predictions",
    "read_overtime",
    "series_of",
    "stability",
    "summary",
]

if not TYPE_CHECKING:  # a type checker would otherwise accept every name
    _LATER = {
        "Analysis": "analysis",
        "Need": "needs",
        "OvertimeRecording": "..measure.overtime",
        "Series": "series",
        "Verdict": "allocation",
        "change_points": "changes",
        "check_allocation": "allocation",
        "correlations": "correlation",
        "drift": "changes",
        "errors": "prediction",
        "levels": "changes",
        "measure_allocation": "brief_measurement",
        "overtime_findings": "findings",
        "parse_needs": "needs",
        "predictions": "prediction",
        "read_overtime": "..measure.overtime",
        "series_of": "series",
        "stability": "changes",
        "summary": "changes",
    }

    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
