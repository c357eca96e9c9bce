"""The figures of a validation show what is usual as a whole, and mark what lies beyond."""

from __future__ import annotations

import pandas as pd
import pytest
from idlewave.plot_limits import cut_count
from idlewave.validation.plots import plot_loops, plot_validation
from validation_rows import row


def with_runs(program: str, error: float, spread: float) -> dict[str, object]:
    """A replay whose runs lie `spread` around their median."""
    return row(
        program=program,
        error=error,
        measured_s=1.0,
        measured_least_s=1 - spread,
        measured_most_s=1 + spread,
        simulated_s=1 + error,
    )


def test_a_large_error_among_few_is_shown_and_not_cut_off_because_runs_differ_less() -> None:
    rows = [with_runs("a", 0.02, 0.01), with_runs("b", 0.3, 0.01)]
    figure = plot_validation(pd.DataFrame(rows))
    assert cut_count(figure) == 0
    assert figure.axes[0].get_xlim()[1] > 0.3


def test_a_range_of_runs_is_shown_as_a_whole_beside_small_errors() -> None:
    rows = [with_runs("a", 0.01, 0.25), with_runs("b", 0.01, 0.02)]
    figure = plot_validation(pd.DataFrame(rows))
    assert cut_count(figure) == 0
    low, high = figure.axes[0].get_xlim()
    assert low < -0.25
    assert high > 0.25


@pytest.mark.parametrize(("error", "marks"), [(0.05, 0), (0.5, 1)])
def test_only_what_lies_beyond_the_axis_is_marked(error: float, marks: int) -> None:
    rows = [with_runs(f"p{i}", 0.001, 0.001) for i in range(60)]
    rows[10] = with_runs("p10", error, 0.001)
    loops = [row(program="latency", traced_on="", size=2**i, error=0.001) for i in range(60)]
    loops[10]["error"] = error
    programs, sizes = plot_validation(pd.DataFrame(rows)), plot_loops(pd.DataFrame(loops))
    assert 0.05 < programs.axes[0].get_xlim()[1] < 0.5
    assert 0.05 < sizes.axes[0].get_ylim()[1] < 0.5
    assert cut_count(programs) == cut_count(sizes) == marks


def test_a_range_of_runs_that_is_far_longer_than_others_is_marked_at_the_edge() -> None:
    rows = [with_runs(f"p{i}", 0.001, 0.02) for i in range(60)]
    rows[10] = with_runs("p10", 0.001, 0.9)
    figure = plot_validation(pd.DataFrame(rows))
    assert cut_count(figure) == 2, "both of its ends"
    assert figure.axes[0].get_xlim()[1] < 0.5
