"""The derivatives along a descent are simulated seldom, and updated where the steps were as they said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from idlewave.measure.network.fitting.updated_slopes import MOST_UPDATES, UpdatedSlopes

Array = npt.NDArray[np.float64]
LINE = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])


def nearly_linear(x: Array) -> Array:
    return np.asarray(LINE @ x + 0.01 * np.sin(x).sum())


def counted(simulations: list[Array]) -> Callable[[Array], Array]:
    """The derivatives of `nearly_linear`; each call is noted."""

    def slopes(x: Array) -> Array:
        simulations.append(x)
        return np.asarray(LINE + 0.01 * np.cos(x))

    return slopes


def test_what_a_step_changed_is_what_the_updated_derivatives_say_of_it() -> None:
    simulations: list[Array] = []
    slopes = UpdatedSlopes(counted(simulations))
    here, there = np.array([0.1, 0.2]), np.array([0.4, -0.3])
    first = slopes.at(here, nearly_linear(here))
    second = slopes.at(there, nearly_linear(there))
    assert len(simulations) == 1
    assert second @ (there - here) == pytest.approx(nearly_linear(there) - nearly_linear(here), rel=1e-12)
    aside = np.array([0.5, 0.3])  # at right angles to the step nothing is known anew
    assert second @ aside == pytest.approx(first @ aside, rel=1e-12)


def test_after_a_few_updates_they_are_simulated_again() -> None:
    simulations: list[Array] = []
    slopes = UpdatedSlopes(counted(simulations))
    for i in range(2 * (MOST_UPDATES + 1)):
        x = np.array([0.1 * i, -0.05 * i])
        slopes.at(x, nearly_linear(x))
    assert [float(x[0]) for x in simulations] == pytest.approx([0, 0.1 * (MOST_UPDATES + 1)])


def test_behind_a_bend_they_are_simulated_again() -> None:
    simulations: list[Array] = []
    slopes = UpdatedSlopes(counted(simulations))
    here, there = np.array([0.1, 0.2]), np.array([0.4, -0.3])
    slopes.at(here, nearly_linear(here))
    found = slopes.at(there, nearly_linear(there) + np.array([0.0, 5.0, 0.0]))
    assert len(simulations) == 2
    assert found == pytest.approx(LINE + 0.01 * np.cos(there))


def test_the_caller_may_change_what_it_was_given() -> None:
    simulations: list[Array] = []
    slopes = UpdatedSlopes(counted(simulations))
    here, there = np.array([0.1, 0.2]), np.array([0.4, -0.3])
    first = slopes.at(here, nearly_linear(here))
    first *= 7
    here_before = here.copy()
    here += 1
    second = slopes.at(there, nearly_linear(there))
    assert len(simulations) == 1
    assert second @ (there - here_before) == pytest.approx(nearly_linear(there) - nearly_linear(here_before))
    assert second == pytest.approx(LINE, abs=0.02)


def test_at_the_same_place_they_are_simulated_again() -> None:
    simulations: list[Array] = []
    slopes = UpdatedSlopes(counted(simulations))
    here = np.array([0.1, 0.2])
    for _ in range(2):
        assert slopes.at(here, nearly_linear(here)) == pytest.approx(LINE + 0.01 * np.cos(here))
    assert len(simulations) == 2
