"""A network over time: latency, bandwidth and allreduce in turn, with idle phases and counters between."""

from .measuring import measure_overtime
from .recording import OvertimeRecording, read_overtime

__all__ = ["OvertimeRecording", "measure_overtime", "read_overtime"]
