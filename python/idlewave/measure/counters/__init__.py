"""Counters of the network's hardware and protocols, and the sources of which they are read."""

from .growth import growth, growths
from .registry import CounterReader, find_sources, source_names
from .source import Counter, CounterSource

__all__ = ["Counter", "CounterReader", "CounterSource", "find_sources", "growth", "growths", "source_names"]
