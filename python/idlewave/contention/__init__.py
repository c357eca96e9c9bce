"""Contention in memory: made, measured and remedied."""

from .impact import contention_impact
from .impact_statistics import correlation_table, impact_table
from .table_folder import read_contention
from .traffic import Traffic, make_traffic

__all__ = ["Traffic", "contention_impact", "correlation_table", "impact_table", "make_traffic", "read_contention"]
