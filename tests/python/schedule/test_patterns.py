"""What patterns are called with, and the page that lists the algorithms."""

from __future__ import annotations

import re
from typing import Any

import idlewave
import pytest
from idlewave import Schedule, UsageError
from idlewave.pattern_options import PatternOptions
from places import ROOT

PAGE = ROOT / "docs" / "algorithms.md"


def test_the_page_lists_every_algorithm_under_its_collective_and_the_default_first() -> None:
    listed: dict[str, list[str]] = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        names = re.findall(r"^\| (\w+) \|", body, re.MULTILINE)
        for collective in title.split(", "):
            listed[collective] = [name for name in names if name != "algorithm"]
    for collective, rows in idlewave.algorithms().groupby("collective"):
        assert set(listed[collective]) == set(rows["name"])
        assert listed[collective][0] == rows["name"].iloc[0]


def test_options_that_have_a_meaning_are_taken() -> None:
    PatternOptions(root=3, send_counts=(5, 0), dims=(0, 2), face_bytes=(1, 2, 3), sweeps=8).check(ranks=4)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"root": 4}, "root from 0 to 3"),
        ({"root": "first"}, "root to be a whole number, found 'first'"),
        ({"segment": -1}, "segment from 0"),
        ({"ways": 0}, "ways from 1"),
        ({"sweeps": 9}, "sweeps from 1 to 8"),
        ({"blocks": 0}, "blocks from 1"),
        ({"compute_ns": -1}, "compute_ns from 0"),
        ({"dims": [2, 2, 1, 1]}, "at most 3 dims, found 4"),
        ({"dims": [5]}, "dims from 0 to 4, found 5"),
        ({"send_counts": [1, 2, 3, 4, 5]}, "at most 4 send_counts, found 5"),
        ({"recv_counts": [-1]}, "recv_counts from 0"),
        ({"face_bytes": [2**50 + 1]}, "face_bytes from 0"),
    ],
)
def test_an_option_without_meaning_is_named(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError, match=re.escape(expected)):
        Schedule.pattern("bcast", ranks=4, **options)
