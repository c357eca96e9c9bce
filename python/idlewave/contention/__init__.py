"""Contention in memory: made, measured, remedied, detected and scaled.

>>> table = contention_impact(["cg"], rates=[1e9], folder="impact")
>>> impact_table(table)[["victim", "achieved_rate_Bps", "slowdown", "low", "high"]]

The modules are loaded at the first use of what they have: the statistics take a second to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from .analysis import read_analysis
    from .correlations import correlation_table
    from .evaluation import learn
    from .forest import Detector
    from .impact import contention_impact
    from .impact_statistics import impact_table
    from .pair_statistics import suffering
    from .remedies import Remedies, contention_remedies, remedies_of
    from .sampling import sample_probes
    from .scaling import Bursts, memory_noise, scale_contention
    from .table_folder import read_contention
    from .traffic import Traffic, make_traffic
    from .watch import Watch

__all__ = [
    "Bursts",
    "Detector",
    "Remedies",
    "Traffic",
    "Watch",
    "contention_impact",
    "contention_remedies",
    "correlation_table",
    "impact_table",
    "learn",
    "make_traffic",
    "memory_noise",
    "read_analysis",
    "read_contention",
    "remedies_of",
    "sample_probes",
    "scale_contention",
    "suffering",
]

if not TYPE_CHECKING:  # a type checker would otherwise accept every name
    _LATER = {
        "Bursts": "scaling",
        "Detector": "forest",
        "Remedies": "remedies",
        "Traffic": "traffic",
        "Watch": "watch",
        "contention_impact": "impact",
        "contention_remedies": "remedies",
        "correlation_table": "correlations",
        "impact_table": "impact_statistics",
        "learn": "evaluation",
        "make_traffic": "traffic",
        "memory_noise": "scaling",
        "read_analysis": "analysis",
        "read_contention": "table_folder",
        "remedies_of": "remedies",
        "sample_probes": "sampling",
        "scale_contention": "scaling",
        "suffering": "pair_statistics",
    }

    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
