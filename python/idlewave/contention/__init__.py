"""Contention in memory: made, measured, remedied, detected and scaled.

>>> table = contention_impact(["cg"], rates=[1e9], folder="impact")
>>> impact_table(table)[["victim", "achieved_rate_Bps", "slowdown", "low", "high"]]

The modules are loaded at the first use of what they have: the statistics take a second to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .correlations import correlation_table
    from .impact import contention_impact
    from .impact_statistics import impact_table
    from .remedies import Remedies, contention_remedies, remedies_of
    from .sampling import sample_probes
    from .table_folder import read_contention
    from .traffic import Traffic, make_traffic

__all__ = [
    "Remedies",
    "Traffic",
    "contention_impact",
    "contention_remedies",
    "correlation_table",
    "impact_table",
    "make_traffic",
    "read_contention",
    "remedies_of",
    "sample_probes",
]

if not TYPE_CHECKING:  # a type checker would otherwise accept every name
    _LATER = {
        "Remedies": "remedies",
        "Traffic": "traffic",
        "contention_impact": "impact",
        "contention_remedies": "remedies",
        "correlation_table": "correlations",
        "impact_table": "impact_statistics",
        "make_traffic": "traffic",
        "read_contention": "table_folder",
        "remedies_of": "remedies",
        "sample_probes": "sampling",
    }

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
