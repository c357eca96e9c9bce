"""How far simulated run times of real programs are from measured ones."""

from .page import page_of
from .rows import COLUMNS, Row, table_of
from .suite import LoopRun, Network, Program, Suite, example_suite, read_suite
from .validate import steps, validate

__all__ = [
    "COLUMNS",
    "LoopRun",
    "Network",
    "Program",
    "Row",
    "Suite",
    "example_suite",
    "page_of",
    "read_suite",
    "steps",
    "table_of",
    "validate",
]
