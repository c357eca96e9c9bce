"""The remedies follow from planted slowdowns as the model says, and where none is better, that is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from contention_tables import contention_table
from idlewave.contention.remedies import (
    BOTH,
    REMEDIES,
    RESERVED,
    THROTTLED,
    UNTREATED,
    Remedies,
    completion,
    remedies_of,
)
from idlewave.errors import InputError, UsageError

RATES = (1e9, 2e9, 4e9)


def on_own_core(_victim: str, rate: float, cores: int) -> float:
    """The victim's core spends a share of its time on traffic; another core's traffic does nothing."""
    return 1 / (1 - rate / 8e9) if cores == 0 else 1.0


def found(slowdown: object = on_own_core, **given: object) -> Remedies:
    table = contention_table(slowdown, rates=RATES, cores=(0, 1), scatter=0.001)  # type: ignore[arg-type]
    return remedies_of(table, draws=200, **given)  # type: ignore[arg-type]


def overheads(remedies: Remedies, remedy: str) -> pd.Series:
    return remedies.table[remedies.table["remedy"] == remedy].set_index("demand_Bps")["overhead"]


def test_a_computation_is_slowed_while_the_transfer_goes_on() -> None:
    twice = np.array([2.0])
    assert completion(1e9, 2e9, twice, 1.0) == pytest.approx(1.25)  # half a second of which a quarter is lost
    assert completion(4e9, 1e9, twice, 1.0) == pytest.approx(4)  # the transfer outlasts the computation
    assert completion(1e9, 1e12, twice, 1.0) == pytest.approx(1, abs=0.001)
    assert completion(2e9, 1e9, twice, 1.0) == pytest.approx(2)  # both end at once


def test_scatter_does_not_make_traffic_speed_up_a_computation() -> None:
    assert completion(1e9, 1e10, np.array([0.5, 1.0]), 1.0).tolist() == [1.0, 1.0]


def test_a_large_node_reserves_from_the_demand_at_which_a_core_is_worth_it() -> None:
    """At 16 cores a core is 1/15 of the time; the victim's core needs 1/8 s for each GB, whatever the rate is."""
    remedies = found(node_cores=16)
    assert remedies.threshold is not None
    assert remedies.threshold == pytest.approx(8e9 / 15, rel=0.15)  # as fine as the demands are
    assert remedies.threshold_low <= remedies.threshold <= remedies.threshold_high
    assert remedies.found_share == 1
    assert "beats throttling from a demand of" in remedies.sentence


def test_where_a_core_is_half_of_the_node_none_is_found_and_that_is_said() -> None:
    remedies = found(node_cores=2)
    assert remedies.threshold is None
    assert np.isinf(remedies.threshold_low)
    assert remedies.found_share == 0
    assert "none found" in remedies.sentence


def test_a_spare_core_is_better_at_every_demand() -> None:
    remedies = found(node_cores=2, spare=True)
    assert remedies.threshold == pytest.approx(remedies.highest / 100)
    assert overheads(remedies, RESERVED).max() == pytest.approx(0, abs=0.01)


def test_throttling_pays_where_a_low_rate_does_no_harm() -> None:
    def harmless_below(_victim: str, rate: float, cores: int) -> float:
        return 1.0 if rate < 1.5e9 or cores == 1 else 3.0

    remedies = found(harmless_below, node_cores=2)
    untreated, throttled = overheads(remedies, UNTREATED), overheads(remedies, THROTTLED)
    below = untreated.index[(untreated.index > 5e8) & (untreated.index < 0.99e9)]
    assert (untreated[below] > 0.08).all()
    assert throttled[below].to_numpy() == pytest.approx(0, abs=0.01)
    rates = remedies.table[remedies.table["remedy"] == THROTTLED].set_index("demand_Bps")["rate_Bps"]
    assert set(rates[below]) == {1e9}


def test_more_remedies_are_never_worse() -> None:
    remedies = found(node_cores=4)
    assert (overheads(remedies, THROTTLED) <= overheads(remedies, UNTREATED) + 1e-9).all()
    assert (overheads(remedies, BOTH) <= overheads(remedies, RESERVED) + 1e-9).all()
    assert set(remedies.table["remedy"]) == set(REMEDIES)


def test_a_table_without_traffic_on_the_victims_core_is_refused() -> None:
    table = contention_table(on_own_core, rates=RATES, cores=(1,))
    with pytest.raises(InputError, match="no pair of runs with traffic on the victim's own core"):
        remedies_of(table, node_cores=4)


def test_a_node_of_one_core_has_none_to_reserve() -> None:
    table = contention_table(on_own_core, rates=RATES, cores=(0, 1))
    with pytest.raises(UsageError, match="at least two cores"):
        remedies_of(table, node_cores=1)
    with pytest.raises(UsageError, match="no victim of this table is called 'lj'"):
        remedies_of(table, "lj", node_cores=4)
