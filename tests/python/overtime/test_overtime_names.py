"""What `idlewave.overtime` has by name."""

from __future__ import annotations

import idlewave.overtime as overtime
import pytest
from idlewave.measure import OvertimeRecording


def test_all_names_are_there_and_no_others() -> None:
    assert sorted(overtime.__all__) == overtime.__all__
    assert all(getattr(overtime, name).__name__ == name for name in overtime.__all__)
    assert overtime.OvertimeRecording is OvertimeRecording
    with pytest.raises(AttributeError, match="no attribute 'forecast'"):
        _ = overtime.forecast
