"""The table of the algorithms that an MPI library uses."""

from __future__ import annotations

import pandas as pd

from ..formatting import plain_time, size_text
from ..measure.network.fitting.collective_rules import CollectiveFit
from .terminal import show_table


def show_rules(fitted: CollectiveFit, machine: str) -> None:
    """Print a row for each rule of the ranks that were measured, with the error of the simulation on `machine`."""
    of_rule = fitted.table.copy()
    rows = []
    measured = [rule for rule in fitted.rules if not rule.of_library]
    for rule in measured:
        later = [r.bytes for r in measured if r.collective == rule.collective and r.bytes > rule.bytes]
        own = of_rule[(of_rule["collective"] == rule.collective) & (of_rule["size"] >= rule.bytes)]
        own = own[own["size"] < min(later)] if later else own
        rows.append(
            {
                "collective": rule.collective,
                "from": size_text(rule.bytes) if rule.collective != "barrier" else "",
                "algorithm": rule.algorithm,
                "call": plain_time(rule.call_ns * 1000, 3),
                "for each KiB": plain_time(rule.call_ns_per_byte * 1024 * 1000, 3),
                "reduction of a KiB": plain_time(rule.reduction_cost * 1024 * 1000, 3),
                "median error": f"{own['error'].median():+.0%}",
                "largest": f"{max(own['error'], key=abs):+.0%}",
            }
        )
    show_table(pd.DataFrame(rows), f"Algorithms of {fitted.ranks} ranks, as simulated on {machine}")
