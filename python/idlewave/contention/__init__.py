"""Contention in memory: made, measured and remedied."""
