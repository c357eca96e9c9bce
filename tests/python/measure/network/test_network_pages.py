"""A step that a page of memory makes is told from a change of protocol."""

from __future__ import annotations

import pytest
from emulated_samples import TRAIN, emulate, parameters
from idlewave.measure import Network, estimate
from idlewave.measure.network import Pages

PAGES = Pages(4096, 1088)
BEYOND = (3009, 7105, 11_201)
"""The first sizes that reach another page, of a message that begins 1088 bytes behind a page's begin."""
STEP_NS = 300.0
BASE = parameters(2.0, 0.5, 0.6, 0.9, 0.0004, 0.0002)
SLOWER = parameters(2.0, 0.9, 0.6, 1.9, 0.0004, 0.0002)


def network(*ranges):
    """The ranges, and the sizes on both sides of the pages' ends among those that are measured."""
    within = [(first, next(p for begin, p in reversed(ranges) if begin <= first)) for first in BEYOND]
    return Network(tuple(sorted({*ranges, *within}, key=lambda r: r[0])), None)


def with_steps(truth, step_ns=STEP_NS):
    """Samples of a network on which a receiver pays for each page that a message reaches."""
    samples = emulate(truth, seed=1, new_series=True)
    paid = step_ns * sum((samples["size"] >= first).astype(float) for first in BEYOND)
    times = {"rtt": 2, "train": TRAIN + 1, "paced": 2, "wait": 1}
    samples["value_ns"] += paid * samples["series"].map(times).fillna(0)
    return samples


def jumps(fit):
    return [r.first for r in fit.ranges if r.cause == "jump"]


def told(fit):
    return [note for note in fit.notes if "page" in note]


def test_steps_at_pages_are_told_and_are_no_changes_of_protocol():
    samples = with_steps(network((1, BASE)))
    assert set(jumps(estimate(samples))) & set(BEYOND)  # who does not know of pages must take them for changes
    fit = estimate(samples, pages=PAGES)
    assert jumps(fit) == []
    (note,) = told(fit)
    assert "From 3009, 7105 and 11201 B on a message reaches one more page" in note


@pytest.mark.parametrize("change", [4097, 5000, 8193])
def test_a_change_of_protocol_between_two_pages_is_found_to_the_byte(change):
    fit = estimate(with_steps(network((1, BASE), (change, SLOWER))), pages=PAGES)
    assert jumps(fit) == [change]


def test_a_change_of_protocol_at_another_size_than_a_page_s_end_is_no_page():
    fit = estimate(emulate(network((1, BASE), (4097, SLOWER)), seed=1, new_series=True), pages=PAGES)
    assert jumps(fit) == [4097]
    assert told(fit) == []


def test_what_becomes_quicker_at_a_page_s_end_is_a_change_of_protocol():
    fit = estimate(emulate(network((1, SLOWER), (BEYOND[0], BASE)), seed=1, new_series=True), pages=PAGES)
    assert jumps(fit) == [BEYOND[0]]
    assert told(fit) == []


def test_the_height_of_the_steps_is_told_in_ns_one_way():
    (note,) = told(estimate(with_steps(network((1, BASE)), step_ns=500.0), pages=PAGES))
    low, _, high = note.partition(" takes ")[2].partition(" longer")[0].partition(" to ")
    for height in filter(None, (low, high)):
        assert height.endswith("\u202fns")
        assert float(height.removesuffix("\u202fns")) == pytest.approx(500.0, rel=0.1)
